"""The dialog in which a person chooses files: of this machine, or of the host that is worked on."""

from typing import Protocol

from PySide6.QtCore import SignalInstance
from PySide6.QtWidgets import QFileDialog, QWidget

from gpupanel.ui.workers.workplace import workplace


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

        return HostFilesDialog(parent, title, start, mode, file_filter)
    dialog = QFileDialog(parent, title, start, file_filter)
    dialog.setFileMode(mode)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly, mode is QFileDialog.FileMode.Directory)
    dialog.finished.connect(dialog.deleteLater)
    return dialog
