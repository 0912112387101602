"""The dialog itself: how far the scan is, what it found, and what mends it."""

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.problem import Severity
from gpupanel.domain.scan import DataScan, ScanProgress
from gpupanel.domain.scan_text import scan_summary, scan_text
from gpupanel.ui import formatting
from gpupanel.ui.tools.scan.report_view import section_views
from gpupanel.ui.tools.session_report_dialog import SessionReportDialog

_EMPTY = (
    "Classes, sizes and types; duplicates, examples in several sets, unreadable files and outliers."
)
_STEPS = 1000
_OUTDATED = "The settings have changed since. Scan again for current results."


class ScanDialog(SessionReportDialog[DataScan, ScanProgress | DataScan]):
    """Shows a scan while it goes on, and its report; what is wrong stands on top."""

    def __init__(self, parent: QWidget | None = None) -> None:
        again = ("&Scan again", "Scans the data again.")
        super().__init__("scan", "Scan of the data", again, parent)
        self._scan: DataScan | None = None
        self._add_cancel("S&top", "Ends the scan and discards its results.")
        self._show_empty(_EMPTY)
        self.setBusy(False)

    def scan(self) -> DataScan | None:
        """What is shown; ``None`` before anything is known."""
        return self._scan

    @override
    def text(self) -> str:
        return "" if self._scan is None else scan_text(self._scan)

    @Slot(object)
    @override
    def setAnswer(self, scan: DataScan) -> None:
        self._scan = scan
        self._is_outdated = False
        self._show_page(*map(self._row, scan.problems), *section_views(scan))
        self._show_state()

    @Slot(object)
    @override
    def setProgress(self, progress: ScanProgress | DataScan) -> None:
        if isinstance(progress, DataScan):
            self.setAnswer(progress)
            return
        if not self._is_busy:
            return
        total = max(0, progress.total)
        # A bar counts with 32 bits.
        self._progress.setRange(0, _STEPS if total else 0)
        self._progress.setValue(min(_STEPS, _STEPS * progress.done // total) if total else 0)
        words = progress.doing[:1].upper() + progress.doing[1:]
        if total:
            done, of = formatting.count(progress.done), formatting.count(total)
            words = f"{words}: {done} of {of}"
        self._sentence.setProse(f"{words}…")

    @override
    @Slot(bool)
    def setBusy(self, busy: bool) -> None:
        if busy:
            self._progress.setRange(0, 0)
            self._sentence.setProse("Listing the data…")
        super().setBusy(busy)

    def forget(self) -> None:
        """What is shown was of other data."""
        self._scan = None
        self._is_outdated = False
        self._show_empty(_EMPTY)
        self._show_state()

    @override
    def _show_state(self) -> None:
        scan, is_busy = self._scan, self._is_busy
        self._progress.setVisible(is_busy)
        self._cancel.setEnabled(is_busy)
        self._again.setEnabled(not is_busy)
        self._copy.setEnabled(not is_busy and scan is not None)
        self._icon.setVisible(scan is not None and scan.is_complete and not is_busy)
        if is_busy:
            self._title.setText("Scanning the data…")
            return
        if scan is None:
            self._title.setText("Not scanned yet")
            self._sentence.setProse("Scan the data to see what is in it.")
            return
        self._icon.setSeverity(scan.problems[0].severity if scan.problems else None)
        self._title.setText(_verdict(scan))
        self._sentence.setProse(_OUTDATED if self._is_outdated else scan_summary(scan))


def _verdict(scan: DataScan) -> str:
    if scan.needs_download or scan.needs_start:
        return "Nothing to scan yet"
    if not scan.is_complete:
        return "Scan not complete"
    serious = [each for each in scan.problems if each.severity is not Severity.HINT]
    if not serious:
        hints = len(scan.problems)
        said = f", {hints} {'hint' if hints == 1 else 'hints'}" if hints else ""
        return f"No problems found{said}"
    return "1 problem found" if len(serious) == 1 else f"{len(serious)} problems found"
