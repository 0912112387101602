"""Downloads a data set, by a process of its own, and reports how far it is."""

from collections.abc import Callable, Sequence
from functools import partial
from threading import Event

from PySide6.QtCore import QObject, Signal, Slot
from typing_extensions import override

from gpupanel.domain.data_download import DownloadEnd, DownloadProgress, DownloadRequest
from gpupanel.domain.problem import Problem
from gpupanel.runs.data_download import DOWNLOAD_COMMAND, download_data
from gpupanel.ui.workers.facade import WorkerFacade


class DataDownloader(WorkerFacade):
    """One download at a time; whatever becomes of the process, ``ended`` says it."""

    ended = Signal(object)
    """A :class:`DownloadEnd`; not of a download that was cancelled."""
    progressed = Signal(object)
    """How far it is: a :class:`DownloadProgress`."""
    busyChanged = Signal(bool)
    """Whether a download goes on."""
    _heard = Signal(object, object)
    """In the worker's thread: which download, by its event, and how far it is."""

    def __init__(
        self, command: Sequence[str] = DOWNLOAD_COMMAND, parent: QObject | None = None
    ) -> None:
        super().__init__("download", parent)
        self._command = command
        self._heard.connect(self._report)

    def begin(self, request: DownloadRequest) -> None:
        """Download that, unless a download goes on."""
        if self.is_busy():
            return
        self.drop()
        dropped = self.dropped
        hear = partial(self._heard.emit, dropped)
        self.submit(partial(_download, request, dropped, hear, self._command), self._take_end)
        self.busyChanged.emit(True)

    @Slot()
    def cancel(self) -> None:
        """End the download that goes on, if any; nothing of it is left."""
        if self.is_busy():
            self.drop()
            self.busyChanged.emit(False)

    @override
    def stop(self) -> None:
        """End the download that goes on, if any, and leave no process behind."""
        self.cancel()
        super().stop()

    @Slot(object, object)
    def _report(self, dropped: Event, progress: DownloadProgress) -> None:
        if dropped is self.dropped and self.is_busy():
            self.progressed.emit(progress)

    def _take_end(self, end: DownloadEnd | None) -> None:
        self.busyChanged.emit(False)
        if end is not None:
            self.ended.emit(end)

    @Slot(object)
    @override
    def _on_failed(self, problems: tuple[Problem, ...]) -> None:
        self.busyChanged.emit(False)
        super()._on_failed(problems)


def _download(
    request: DownloadRequest,
    dropped: Event,
    hear: Callable[[DownloadProgress], None],
    command: Sequence[str],
) -> DownloadEnd | None:
    return download_data(request, dropped, hear, command)
