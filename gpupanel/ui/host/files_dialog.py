"""Choosing files of the host, whose folders are listed; files of here can be copied there."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from gpupanel.domain.number_text import byte_size
from gpupanel.domain.problem import Problem
from gpupanel.domain.problem_text import problem_sentences
from gpupanel.domain.visible_text import visible_line
from gpupanel.hosts.operations.machine import FolderEntry, FolderListing
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import ProseLabel
from gpupanel.ui.widgets.screen_fit import resize_within_screen
from gpupanel.ui.widgets.tips import wrapped
from gpupanel.ui.workers.host_folders import HostFolders

_ENTRY = Qt.ItemDataRole.UserRole
_Mode = QFileDialog.FileMode


class HostFilesDialog(QDialog):
    """A folder, what is in it, and a line with its path, which can be typed.

    Args:
        parent: What it stands before.
        title: Of the dialog.
        start: The path that stands there now; empty: the person's home there.
        mode: Whether one file, several, or a folder is chosen.
        file_filter: Qt's filter of file names; empty: all.
    """

    fileSelected = Signal(str)
    """A person chose this path."""
    filesSelected = Signal(list)
    """A person chose these paths."""
    copyRequested = Signal(list)
    """These paths of this machine are to be copied to the host, and chosen then."""

    def __init__(
        self, parent: QWidget | None, title: str, start: str, mode: _Mode, file_filter: str = ""
    ) -> None:
        super().__init__(parent)
        self.setObjectName("host_files")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._mode, self._filter = mode, file_filter
        self._suffixes = tuple(re.findall(r"\*(\.[\w.]+)", file_filter.lower()))
        self._folders = HostFolders(self)
        self.setWindowTitle(f"{title} on {self._folders.host}")
        self._path = QLineEdit(start, self)
        self._path.setObjectName("host_files_path")
        self._path.setToolTip(wrapped("A folder of the host; Enter lists it"))
        self._path.returnPressed.connect(self._go_to_typed)
        self._up = QPushButton("&Up", self)
        self._up.setToolTip(wrapped("Lists the folder above"))
        self._up.setAutoDefault(False)
        self._up.clicked.connect(self._go_up)
        self._list = QTreeWidget(self)
        self._list.setObjectName("host_files_list")
        self._list.setHeaderLabels(["Name", "Size"])
        self._list.setRootIsDecorated(False)
        self._list.setAccessibleName("Files of the host")
        several = mode is _Mode.ExistingFiles
        selection = QTreeWidget.SelectionMode
        self._list.setSelectionMode(
            selection.ExtendedSelection if several else selection.SingleSelection
        )
        self._list.itemActivated.connect(self._open_or_take)
        self._list.itemSelectionChanged.connect(self._show_choice)
        self._note = ProseLabel()
        self._note.setObjectName("host_files_note")
        self._buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self._choose = QPushButton("&Choose", self)
        self._choose.setObjectName("host_files_choose")
        self._choose.setDefault(True)
        self._choose.clicked.connect(self._take_chosen)
        self._buttons.addButton(self._choose, QDialogButtonBox.ButtonRole.AcceptRole)
        self._copy = QPushButton("Copy from &this machine…", self)
        self._copy.setObjectName("host_files_copy")
        self._copy.setToolTip(wrapped("Copies files of this machine to the host, and chooses them"))
        self._copy.setAutoDefault(False)
        self._copy.clicked.connect(self._choose_here)
        self._buttons.addButton(self._copy, QDialogButtonBox.ButtonRole.ResetRole)
        self._buttons.rejected.connect(self.reject)
        self._compose()
        self._folder = ""
        self._folders.listed.connect(self._show)
        self._folders.refused.connect(self._show_refusal)
        self.finished.connect(self._folders.stop)
        self._go(start)

    def _compose(self) -> None:
        above = QHBoxLayout()
        above.setSpacing(GRID)
        above.addWidget(self._path, 1)
        above.addWidget(self._up)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(GRID)
        layout.addLayout(above)
        layout.addWidget(self._list, 1)
        layout.addWidget(self._note)
        layout.addWidget(self._buttons)
        resize_within_screen(self, 80 * GRID, 60 * GRID)

    def _go(self, path: str) -> None:
        self._note.setProse("Reading…")
        self._folders.list(path)

    @Slot()
    def _go_to_typed(self) -> None:
        self._go(self._path.text())

    @Slot()
    def _go_up(self) -> None:
        self._go(str(PurePosixPath(self._folder).parent))

    @Slot(object)
    def _show(self, listing: FolderListing) -> None:
        self._folder = listing.path
        self._path.setText(listing.path)
        self._list.clear()
        items = []
        for entry in listing.entries:
            if not entry.is_folder and not self._is_wanted(entry.name):
                continue
            size = "" if entry.is_folder else byte_size(entry.size_bytes)
            mark = "/" if entry.is_folder else ""
            item = QTreeWidgetItem([f"{visible_line(entry.name)}{mark}", size])
            item.setData(0, _ENTRY, entry)
            items.append(item)
        self._list.addTopLevelItems(items)
        self._list.setColumnWidth(0, 52 * GRID)
        words = "" if items else "Nothing to choose is in this folder."
        self._note.setProse(words if listing.is_whole else "Not all of this folder is listed.")
        self._show_choice()

    def _is_wanted(self, name: str) -> bool:
        if self._mode is _Mode.Directory:
            return False
        return not self._suffixes or name.lower().endswith(self._suffixes)

    @Slot(object)
    def _show_refusal(self, problems: tuple[Problem, ...]) -> None:
        self._note.setProse(" ".join(map(problem_sentences, problems)))

    def _chosen(self) -> list[FolderEntry]:
        found = (item.data(0, _ENTRY) for item in self._list.selectedItems())
        return [each for each in found if isinstance(each, FolderEntry)]

    @Slot()
    def _show_choice(self) -> None:
        chosen = self._chosen()
        folders = self._mode is _Mode.Directory
        fits = chosen and all(each.is_folder is folders for each in chosen)
        self._choose.setEnabled(bool(fits) or (folders and not chosen and bool(self._folder)))

    @Slot(QTreeWidgetItem)
    def _open_or_take(self, item: QTreeWidgetItem) -> None:
        entry = item.data(0, _ENTRY)
        if isinstance(entry, FolderEntry) and entry.is_folder:
            self._go(self._path_of(entry))
        else:
            self._take_chosen()

    @Slot()
    def _take_chosen(self) -> None:
        paths = [self._path_of(each) for each in self._chosen()]
        if not paths and self._mode is _Mode.Directory:
            paths = [self._folder]
        if not paths:
            return
        self.take(paths)

    @Slot(object)
    def take(self, paths: Sequence[str]) -> None:
        """Choose these."""
        self.accept()
        if self._mode is _Mode.ExistingFiles:
            self.filesSelected.emit([*paths])
        else:
            self.fileSelected.emit(paths[0])

    @Slot()
    def _choose_here(self) -> None:
        dialog = QFileDialog(self, "Copy from this machine", "", self._filter)
        dialog.setFileMode(self._mode)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly, self._mode is _Mode.Directory)
        dialog.filesSelected.connect(self._request_copy)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    @Slot(list)
    def _request_copy(self, paths: list[str]) -> None:
        self.copyRequested.emit(paths)

    def _path_of(self, entry: FolderEntry) -> str:
        return str(PurePosixPath(self._folder) / entry.name)
