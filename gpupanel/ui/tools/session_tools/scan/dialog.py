"""The dialog itself: how far the scan is, what it found, and what mends it."""

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.problem import Severity
from gpupanel.domain.scan import DataScan, ScanProgress
from gpupanel.domain.scan_text import scan_summary, scan_text
from gpupanel.ui import formatting
from gpupanel.ui.tools.session_report_dialog import ReportWords, SessionReportDialog
from gpupanel.ui.tools.session_tools.scan.report_view import section_views

_WORDS = ReportWords(
    name="scan",
    title="Scan of the data",
    again=("&Scan again", "Scans the data again."),
    cancel=("S&top", "Ends the scan and discards its results."),
    empty="Classes, sizes and types; duplicates, examples in several sets, unreadable files and "
    "outliers.",
    unknown=("Not scanned yet", "Scan the data to see what is in it."),
    busy=("Scanning the data…", "Listing the data…"),
    outdated="The settings have changed since. Scan again for current results.",
)
_STEPS = 1000


class ScanDialog(SessionReportDialog[DataScan, ScanProgress | DataScan]):
    """Shows a scan while it goes on, and its report; what is wrong stands on top."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(_WORDS, parent)

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
        self._doing = f"{words}…"
        self._show_state()

    @override
    def _text_of(self, found: DataScan) -> str:
        return scan_text(found)

    @override
    def _title_of(self, found: DataScan) -> str:
        return _verdict(found)

    @override
    def _sentence_of(self, found: DataScan) -> str:
        return scan_summary(found)

    @override
    def _severity_of(self, found: DataScan) -> Severity | None:
        return found.problems[0].severity if found.problems else None

    @override
    def _parts_of(self, found: DataScan) -> list[QWidget]:
        return [*super()._parts_of(found), *section_views(found)]

    @override
    @Slot()
    def _show_state(self) -> None:
        super()._show_state()
        if self._found is not None and not self._found.is_complete:
            self._icon.setVisible(False)


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
