"""The data's settings, and a preview of the data."""

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.data import DEFAULT_DATA, DataSettings
from gpupanel.domain.data_download import DownloadProgress
from gpupanel.domain.kind import Kind, kinds_of
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.problem import Problem
from gpupanel.ui.dropped_files import kind_of_files, kind_of_path
from gpupanel.ui.forms.input_for import input_for
from gpupanel.ui.forms.kind_form import KindForm
from gpupanel.ui.forms.settings_card import SettingsCard
from gpupanel.ui.inputs.files_edit import FilesEdit
from gpupanel.ui.panels.data_panel.class_weights_field import ClassWeightsField
from gpupanel.ui.panels.data_panel.preview_view import PreviewView
from gpupanel.ui.panels.data_panel.validation_field import ValidationField
from gpupanel.ui.widgets.file_drops import TakesFiles

_SOURCE_TIP = (
    "The data to train on. You can also drop a table (.csv, .parquet), an .npz, .npy or .tfrecord "
    "file, a folder of images, images to predict on or a Python file anywhere on this panel."
)
_FIRST_FRACTION = DEFAULT_DATA.validation_fraction
"""Held out of a source without a test set of its own."""


class DataPanel(TakesFiles, SettingsCard):
    """Edits :class:`DataSettings`; each source keeps what was typed for it."""

    valueChanged = Signal(object)
    """A person changed a setting: the new value."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Data", parent, tables=("data",))
        self.setObjectName("data_panel")
        self.setAcceptDrops(True)
        self.preview = PreviewView()
        """Has the data scanned or downloaded, if a person asks for it."""
        self._form = KindForm(
            kinds_of(DataSettings),
            DEFAULT_DATA,
            title="Data set",
            tip=_SOURCE_TIP,
            new=self._new,
            inputs=self._inputs,
            below_path=self.preview,
        )
        self._form.chooser.setObjectName("dataset_selector")
        self.add_form(self._form)
        self._form.valueChanged.connect(self.valueChanged)
        self._form.valueChanged.connect(self._show_whether_chosen)
        self._show_whether_chosen()

    def value(self) -> DataSettings:
        """The settings as shown."""
        value: DataSettings = self._form.value()
        return value

    def setValue(self, value: DataSettings) -> None:
        """Shows other settings silently."""
        self._form.setValue(value)
        self._show_whether_chosen()

    @override
    def forget(self) -> None:
        """Forgets what was typed for other sources: it was for another profile."""
        self._form.forget()

    def choose_kind(self, source: str) -> None:
        """Take another source, and ask for its file or folder."""
        self._form.choose_kind(source)

    def setPreview(self, preview: DataPreview | None) -> None:
        """Shows a preview of the data; ``None``: nothing is known of it."""
        self.preview.setPreview(preview)
        self._form.setFound(preview.offers if preview else {}, preview.found if preview else {})
        for field in self._form.findChildren(ClassWeightsField):
            field.set_classes([name for name, _ in preview.class_counts] if preview else ())

    @Slot(bool)
    def setDownloading(self, downloading: bool) -> None:
        """Shows whether the data is being downloaded."""
        self.preview.download.setBusy(downloading)

    @Slot(object)
    def setDownloadProgress(self, progress: DownloadProgress) -> None:
        """Shows how far the download is."""
        self.preview.download.setProgress(progress)

    @override
    def setProblems(self, problems: Iterable[Problem]) -> None:
        """Shows problems beside the settings; the preview's other ones stand below them."""
        problems = tuple(problems)
        super().setProblems(problems)
        self.preview.setProblemsElsewhere(problems)

    def setPreviewBusy(self, busy: bool) -> None:
        """Says that the data is being read."""
        self.preview.setBusy(busy)

    @override
    def can_take(self, paths: tuple[str, ...]) -> bool:
        """Whether these files, or this folder, are data of some kind."""
        return kind_of_path(paths) is not None or kind_of_files(paths) is not None

    @override
    def take(self, paths: tuple[str, ...]) -> None:
        """Choose these files, or this folder, as data; nothing where they are none."""
        kind, of_files = kind_of_path(paths), kind_of_files(paths)
        if kind is not None:
            draft = self._form.draft(kind.source)
            none = {} if draft.files_setting is None else {draft.files_setting.name: ()}
            path = str(Path(paths[0]))
            self._form.change(draft.model_copy(update={"path": path, **none}))
        elif of_files is not None:
            self._take_files(of_files.source, paths)

    def _take_files(self, source: str, paths: tuple[str, ...]) -> None:
        self._form.change(self._form.draft(source).with_files(paths))

    def _show_whether_chosen(self) -> None:
        data = self.value()
        self.set_summary(self._form.summary())
        self.preview.setScannable(not data.lacks_path)
        self.preview.download.set_size(sum(file.size_bytes for file in data.downloads))

    def _new(self, kind: Kind) -> DataSettings:
        """Settings of a source that was never chosen; order and cache stay as they were."""
        before = self.value()
        settings: DataSettings = kind.new(shuffle=before.shuffle, cache=before.cache)
        fraction = None if settings.has_test_set else _FIRST_FRACTION
        return settings.model_copy(update={"validation_fraction": fraction})

    def _inputs(self, settings: DataSettings) -> Mapping[str, QWidget]:
        # Whether Python code loads a test set is not known before it ran.
        has_own = settings.has_test_set is not False
        inputs: dict[str, QWidget] = {
            "validation_fraction": ValidationField(has_own=has_own),
            "class_weights": ClassWeightsField(),
        }
        if settings.files_setting is not None:
            files = input_for(settings.files_setting)
            if isinstance(files, FilesEdit):
                # The folder changes with them.
                files.chosen.connect(partial(self._take_files, settings.source))
            inputs[settings.files_setting.name] = files
        return inputs
