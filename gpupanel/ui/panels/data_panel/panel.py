"""The data's settings, and a look at the data."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import QFileInfo, QMimeData, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QCheckBox, QWidget
from typing_extensions import override

from gpupanel.domain.data import DataCache, DataSettings, DigitsData
from gpupanel.domain.preview import DataPreview
from gpupanel.ui.panels.data_panel.preview_view import PreviewView
from gpupanel.ui.panels.data_panel.python_fields import PythonFields
from gpupanel.ui.panels.data_panel.source_fields import ImagesFields, NpzFields
from gpupanel.ui.panels.data_panel.sources import (
    SOURCES,
    changed,
    may_have_test_set,
    new_settings,
)
from gpupanel.ui.panels.data_panel.validation_field import ValidationField
from gpupanel.ui.widgets.choice_box import Choice, ChoiceBox
from gpupanel.ui.widgets.settings_form import SettingsCard, SettingsForm, teach

_CACHES = (
    Choice(DataCache.MEMORY, "In memory", "Fastest; the decoded examples must fit."),
    Choice(DataCache.DISK, "On disk", "For decoded examples that do not fit in memory."),
    Choice(DataCache.NONE, "Nowhere", "Reads and decodes anew in each epoch."),
)

_SOURCE_TIP = (
    "What is learned from. You can also drop an .npz file, a folder of images or a Python file "
    "anywhere on this panel."
)
_VALIDATION_TIP = (
    "Examples that are never trained on tell after each epoch whether the model learned something "
    "or only remembers."
)
_CACHE_TIP = "Where decoded examples are kept between epochs."
_SHUFFLE_TIP = (
    "Draw a new order of the training examples in each epoch, from the seed alone. Without it "
    "every epoch sees the same batches."
)


class DataPanel(SettingsCard):
    """Edits :class:`DataSettings`; each source keeps what was typed for it."""

    valueChanged = Signal(object)
    """A person changed a setting: the new value."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Data", parent)
        self.setObjectName("data_panel")
        self.setAcceptDrops(True)
        self._value: DataSettings = DigitsData(validation_fraction=0.2)
        self._drafts: dict[str, DataSettings] = {}
        self._source = ChoiceBox(SOURCES)
        self._source.setObjectName("dataset_selector")
        self._npz = NpzFields()
        self._images = ImagesFields()
        self._python = PythonFields()
        self._validation = ValidationField()
        self._cache = ChoiceBox(_CACHES)
        self._shuffle = QCheckBox("Shuffle each epoch (&new order)")
        self._preview = PreviewView()
        self._lay_out()
        self._source.choiceMade.connect(self._change_source)
        self._npz.keyChanged.connect(self._change)
        self._images.keyChanged.connect(self._change)
        self._python.keyChanged.connect(self._change)
        self._validation.fractionChanged.connect(partial(self._change, "validation_fraction"))
        self._cache.choiceMade.connect(partial(self._change, "cache"))
        self._shuffle.toggled.connect(partial(self._change, "shuffle"))
        self.setValue(self._value)

    def value(self) -> DataSettings:
        """The settings as shown."""
        return self._value

    def setValue(self, value: DataSettings) -> None:
        """Shows other settings without telling anyone."""
        self._value = value
        self._drafts[value.source] = value
        self._source.setChoice(value.source)
        self._npz.setVisible(value.source == "npz")
        self._images.setVisible(value.source == "images")
        self._python.setVisible(value.source == "python")
        if value.source == "npz":
            self._npz.setSettings(value)
            self.set_editor("path", self._npz.path_field())
        elif value.source == "images":
            self._images.setSettings(value)
            self.set_editor("path", self._images.path_field())
        elif value.source == "python":
            self._python.setSettings(value)
            self.set_editor("path", self._python.path_field())
        self._validation.setFraction(
            value.validation_fraction, has_own=may_have_test_set(value.source)
        )
        self._cache.setChoice(value.cache)
        self._shuffle.setChecked(value.shuffle)

    def forget(self) -> None:
        """Forgets what was typed for other sources: it was for another profile."""
        self._drafts.clear()

    def setPreview(self, preview: DataPreview | None) -> None:
        """Shows a look at the data; ``None``: nothing is known of it."""
        self._preview.setPreview(preview)

    def setPreviewBusy(self, busy: bool) -> None:
        """Says that the data is being read."""
        self._preview.setBusy(busy)

    @override
    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if _dropped_source(event.mimeData()) is None:
            event.ignore()
        else:
            event.acceptProposedAction()

    @override
    def dropEvent(self, event: QDropEvent) -> None:
        dropped = _dropped_source(event.mimeData())
        if dropped is None:
            event.ignore()
            return
        source, path = dropped
        settings = self._drafts.get(source) or new_settings(source, self._value)
        self._take(changed(settings, path=path))
        event.acceptProposedAction()

    def _lay_out(self) -> None:
        form = SettingsForm(self)
        form.add_row("&Data set", self._source, _SOURCE_TIP)
        rest = SettingsForm(self)
        rest.add_row("&Validation", self._validation, _VALIDATION_TIP)
        rest.add_row("Ca&che", self._cache, _CACHE_TIP)
        teach(self._shuffle, "Shuffle in each epoch", _SHUFFLE_TIP)
        rest.add_wide(self._shuffle)
        self.set_editor("source", self._source)
        parts = (self._npz, self._images, self._python)
        for key, editor in (pair for part in parts for pair in part.editors()):
            self.set_editor(key, editor)
        for key, editor in (
            ("validation_fraction", self._validation),
            ("cache", self._cache),
            ("shuffle", self._shuffle),
        ):
            self.set_editor(key, editor)
        for part in (form, *parts, rest):
            self.body.addWidget(part)
        self.body.addSpacing(8)
        self.body.addWidget(self._preview)

    def _change_source(self, source: str) -> None:
        self._take(self._drafts.get(source) or new_settings(source, self._value))

    def _change(self, key: str, choice: object) -> None:
        self._take(changed(self._value, **{key: choice}))

    def _take(self, value: DataSettings) -> None:
        if value != self._value:
            self.setValue(value)
            self.valueChanged.emit(value)


def _dropped_source(dropped: QMimeData) -> tuple[str, str] | None:
    """The source and path that a drop means: one .npz or .py file, or one folder."""
    paths = [Path(url.toLocalFile()) for url in dropped.urls() if url.isLocalFile()]
    if len(paths) != 1:
        return None
    if paths[0].suffix.lower() == ".npz":
        return "npz", str(paths[0])
    if paths[0].suffix.lower() == ".py":
        return "python", str(paths[0])
    return ("images", str(paths[0])) if QFileInfo(str(paths[0])).isDir() else None
