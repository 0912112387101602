"""The data's settings, and a look at the data."""

from pathlib import Path

from PySide6.QtCore import QFileInfo, QMimeData, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.data import DataSettings, DigitsData
from gpupanel.domain.preview import DataPreview
from gpupanel.ui.forms.settings_card import SettingsCard
from gpupanel.ui.forms.settings_form import SettingsForm
from gpupanel.ui.forms.value_form import ValueForm
from gpupanel.ui.inputs.choice_box import ChoiceBox
from gpupanel.ui.panels.data_panel.preview_view import PreviewView
from gpupanel.ui.panels.data_panel.sources import (
    SOURCES,
    changed,
    may_have_test_set,
    new_settings,
)
from gpupanel.ui.panels.data_panel.validation_field import ValidationField

_SOURCE_TIP = (
    "What is learned from. You can also drop an .npz file, a folder of images or a Python file "
    "anywhere on this panel."
)
_ONE_OF_EACH = ("digits", "mnist", "npz", "images", "python")
"""A source of each type of settings."""


class DataPanel(SettingsCard):
    """Edits :class:`DataSettings`; each source keeps what was typed for it."""

    valueChanged = Signal(object)
    """A person changed a setting: the new value."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Data", parent, tables=("data",))
        self.setObjectName("data_panel")
        self.setAcceptDrops(True)
        self._value: DataSettings = DigitsData(validation_fraction=0.2)
        self._drafts: dict[str, DataSettings] = {}
        self._source = ChoiceBox(SOURCES)
        self._source.setObjectName("dataset_selector")
        self._kind_forms = {
            type(settings): ValueForm(settings, inputs=_inputs(settings), taken="d")
            for settings in (new_settings(source, self._value) for source in _ONE_OF_EACH)
        }
        self._preview = PreviewView()
        self._lay_out()
        self._source.valueChanged.connect(self._change_source)
        for form in self._kind_forms.values():
            form.valueChanged.connect(self._take)
        self.setValue(self._value)

    def value(self) -> DataSettings:
        """The settings as shown."""
        return self._value

    def setValue(self, value: DataSettings) -> None:
        """Shows other settings without telling anyone."""
        self._value = value
        self._drafts[value.source] = value
        self._source.setValue(value.source)
        for kind, form in self._kind_forms.items():
            form.setVisible(isinstance(value, kind))
            if isinstance(value, kind):
                form.setValue(value)

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
        form.add_row("&Data set", self._source, _SOURCE_TIP, key="source")
        for part in (form, *self._kind_forms.values()):
            self.add_form(part)
        self.body.addSpacing(8)
        self.body.addWidget(self._preview)

    def _change_source(self, source: str) -> None:
        self._take(self._drafts.get(source) or new_settings(source, self._value))

    def _take(self, value: DataSettings) -> None:
        if value != self._value:
            self.setValue(value)
            self.valueChanged.emit(value)


def _inputs(settings: DataSettings) -> dict[str, QWidget]:
    has_own = may_have_test_set(settings.source)
    return {"validation_fraction": ValidationField(has_own=has_own)}


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
