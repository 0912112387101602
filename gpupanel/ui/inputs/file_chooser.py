"""The dialog in which a person chooses files: of this machine, or of the host that is worked on."""

from functools import partial
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import SignalInstance
from PySide6.QtWidgets import QFileDialog, QWidget

from gpupanel.ui.workers.workplace import workplace

if TYPE_CHECKING:
    from gpupanel.ui.host.files_dialog import HostFilesDialog


class FileChooser(Protocol):
    """A dialog as :class:`QFileDialog` is; it goes when it is closed."""

    fileSelected: SignalInstance
    """A person chose this path."""
    filesSelected: SignalInstance
    """A person chose these paths: a list."""

    def open(self) -> None:
        """Show it; nothing waits for it."""
        ...

    def exec(self) -> int:
        """Show it, and wait until it is closed."""
        ...


def file_chooser(
    parent: QWidget, title: str, start: str, mode: QFileDialog.FileMode, file_filter: str = ""
) -> FileChooser:
    """A dialog that is not shown yet.

    Args:
        parent: What it stands before.
        title: Of the dialog.
        start: The path that stands there now.
        mode: Whether one file, several, or a folder is chosen.
        file_filter: Qt's filter of file names; empty: all.
    """
    if workplace().host:
        # Here and not above: most windows work on this machine.
        from gpupanel.ui.host.files_dialog import HostFilesDialog

        there = HostFilesDialog(parent, title, start, mode, file_filter)
        there.copyRequested.connect(partial(_copy, there))
        return there
    dialog = QFileDialog(parent, title, start, file_filter)
    dialog.setFileMode(mode)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly, mode is QFileDialog.FileMode.Directory)
    dialog.finished.connect(dialog.deleteLater)
    return dialog


def _copy(chooser: "HostFilesDialog", paths: list[str]) -> None:
    """Copy files of this machine to the host, and choose them there."""
    from gpupanel.ui.host.copy_dialog import CopyDialog

    dialog = CopyDialog(paths, chooser)
    dialog.copied.connect(chooser.take)
    dialog.open()
