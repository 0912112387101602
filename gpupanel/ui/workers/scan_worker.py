"""Looks through data, by a process of its own, and says how far it is."""

from collections.abc import Callable, Sequence
from functools import partial
from threading import Event

from PySide6.QtCore import QObject, Signal, Slot
from typing_extensions import override

from gpupanel.domain.problem import Problem
from gpupanel.domain.scan import DataScan, ScanProgress, ScanRequest
from gpupanel.runs.data_scan import SCAN_COMMAND, scan_data
from gpupanel.ui.workers.facade import WorkerFacade


class DataScanner(WorkerFacade):
    """One scan at a time; a new request ends the one before.

    Whatever becomes of the process, the answer is a :class:`DataScan`: a death or an answer that
    cannot be read is a problem in it.
    """

    scanned = Signal(object)
    """The :class:`DataScan` of the last request, when all of it was looked through."""
    looked = Signal(object)
    """What a first look shows: a :class:`DataScan` that is not complete."""
    progressed = Signal(object)
    """How far it is: a :class:`ScanProgress`."""
    busyChanged = Signal(bool)
    """Whether a scan goes on."""
    _heard = Signal(object, object)
    """In the worker's thread: which scan, by its event, and what it says."""

    def __init__(
        self, command: Sequence[str] = SCAN_COMMAND, parent: QObject | None = None
    ) -> None:
        super().__init__("scan", parent)
        self._command = command
        self._heard.connect(self._report)

    def begin(self, request: ScanRequest) -> None:
        """Scan that; ends the scan before, whose answer will not come."""
        was_busy = self.is_busy()
        self.drop()
        dropped = self.dropped
        hear = partial(self._heard.emit, dropped)
        self.submit(partial(_scan, request, dropped, hear, self._command), self._take_scan)
        if not was_busy:
            self.busyChanged.emit(True)

    @Slot()
    def cancel(self) -> None:
        """End the scan that goes on, if any; nothing comes of it."""
        if self.is_busy():
            self.drop()
            self.busyChanged.emit(False)

    @override
    def stop(self) -> None:
        """End the scan that goes on, if any, and leave no process behind."""
        self.cancel()
        super().stop()

    @Slot(object, object)
    def _report(self, dropped: Event, news: ScanProgress | DataScan) -> None:
        if dropped is not self.dropped or not self.is_busy():
            return  # of a scan that nobody wants any more
        if isinstance(news, ScanProgress):
            self.progressed.emit(news)
        else:
            self.looked.emit(news)

    def _take_scan(self, scan: DataScan) -> None:
        self.busyChanged.emit(False)
        self.scanned.emit(scan)

    @Slot(object)
    @override
    def _on_failed(self, problems: tuple[Problem, ...]) -> None:
        self._take_scan(DataScan(problems=problems))
        super()._on_failed(problems)


def _scan(
    request: ScanRequest,
    dropped: Event,
    hear: Callable[[ScanProgress | DataScan], None],
    command: Sequence[str],
) -> DataScan:
    return scan_data(request, dropped, hear, hear, command)
