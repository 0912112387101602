"""Downloads a data set, by a process of its own, and reports how far it is."""

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from gpupanel.domain.data_download import DownloadEnd, DownloadRequest
from gpupanel.runs.data_download import DOWNLOAD_COMMAND, download_data
from gpupanel.ui.workers.single_request import SingleRequestFacade


class DataDownloader(SingleRequestFacade):
    """One download at a time; whatever becomes of the process, ``ended`` says it."""

    ended = Signal(object)
    """A :class:`DownloadEnd`; not of a download that was cancelled."""
    progressed = Signal(object)
    """How far it is: a :class:`DownloadProgress`."""

    def __init__(
        self, command: Sequence[str] = DOWNLOAD_COMMAND, parent: QObject | None = None
    ) -> None:
        super().__init__("download", parent)
        self._command = command

    def begin(self, request: DownloadRequest) -> None:
        """Download that, unless a download goes on."""
        if not self.is_busy():
            command = self._command
            self.carry_out(
                lambda dropped, report: download_data(request, dropped, report, command),
                self._take_end,
                report=self.progressed.emit,
            )

    def _take_end(self, end: DownloadEnd | None) -> None:
        if end is not None:
            self.ended.emit(end)
