"""Scans data, by a process of its own, and reports how far it is."""

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from gpupanel.domain.scan import DataScan, ScanProgress, ScanRequest
from gpupanel.runs.data_scan import SCAN_COMMAND, scan_data
from gpupanel.ui.workers.single_request import SingleRequestFacade


class DataScanner(SingleRequestFacade):
    """One scan at a time; a new request ends the one before.

    Whatever becomes of the process, the answer is a :class:`DataScan`: a death or an answer that
    cannot be read is a problem in it.
    """

    scanned = Signal(object)
    """The :class:`DataScan` of the last request, when all of it was scanned."""
    partScanned = Signal(object)
    """What a first part of the data shows: a :class:`DataScan` that is not complete."""
    progressed = Signal(object)
    """How far it is: a :class:`ScanProgress`."""

    def __init__(
        self, command: Sequence[str] = SCAN_COMMAND, parent: QObject | None = None
    ) -> None:
        super().__init__("scan", parent)
        self._command = command

    def begin(self, request: ScanRequest) -> None:
        """Scan that; ends the scan before, whose answer will not come."""
        command = self._command
        self.carry_out(
            lambda dropped, report: scan_data(request, dropped, report, report, command),
            self.scanned.emit,
            failed=lambda problems: DataScan(problems=problems),
            report=self._take_report,
        )

    def _take_report(self, news: ScanProgress | DataScan) -> None:
        if isinstance(news, ScanProgress):
            self.progressed.emit(news)
        else:
            self.partScanned.emit(news)
