"""Lists folders of the host, off the GUI thread."""

from functools import partial

from PySide6.QtCore import QObject, Signal

from gpupanel.ui.workers.facade import WorkerFacade
from gpupanel.ui.workers.workplace import other_machine


class HostFolders(WorkerFacade):
    """One folder after the other; ``refused`` says why one cannot be listed."""

    listed = Signal(object)
    """What is in the folder that was asked for last: a :class:`FolderListing`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__("folders of the host", parent)
        self.host = other_machine().host

    def list(self, path: str) -> None:
        """List a folder; ``listed`` or ``refused`` follows."""
        self.drop()
        self.submit(partial(other_machine().files.folder, path), self.listed.emit)
