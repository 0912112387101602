"""The dialog itself: its head, its page, its buttons."""

from collections.abc import Iterator

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QLabel, QWidget
from typing_extensions import override

from gpupanel.devices.doctor.report import DoctorReport
from gpupanel.domain.problem import Severity
from gpupanel.ui.dialogs.doctor_dialog.report_view import FactGroupView, FindingRow, report_text
from gpupanel.ui.dialogs.report_dialog import ReportDialog
from gpupanel.ui.widgets.command_line import CommandLine

_BUSY = "Checking driver and TensorFlow…"
_BUSY_SENTENCE = "TensorFlow is started once for this; it takes a few seconds."


class DoctorDialog(ReportDialog):
    """Shows a report; what is wrong stands on top."""

    examinationRequested = Signal()
    """A person wants everything to be examined again."""
    selfTestRequested = Signal()
    """A person wants the session's devices to be tested."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("doctor", "Doctor", parent)
        self._report: DoctorReport | None = None
        self._again = self._add_button("&Run again", "again", "Checks everything again.")
        self._again.clicked.connect(self.examinationRequested)
        tip = "Tests the session's devices: sums, copies, memory and a training step."
        test = self._add_button("&Test this machine…", "self_test", tip)
        test.clicked.connect(self.selfTestRequested)
        self._show_empty(
            "Driver, GPUs, TensorFlow's build, the libraries that it loads, and packages."
        )
        self.setBusy(False)

    def report(self) -> DoctorReport | None:
        """What is shown; ``None`` before the first examination."""
        return self._report

    @override
    def text(self) -> str:
        return "" if self._report is None else report_text(self._report)

    @Slot(object)
    def setReport(self, report: DoctorReport) -> None:
        """Show another report."""
        self._report = report
        self._show_head()
        self._copy.setEnabled(True)
        self._show_page(*_parts(report))

    @Slot(bool)
    def setBusy(self, busy: bool) -> None:
        """Show whether an examination goes on; the last report stays until it is done."""
        self._progress.setVisible(busy)
        self._again.setEnabled(not busy)
        self._copy.setEnabled(not busy and self._report is not None)
        if busy:
            self._icon.setVisible(False)
            self._title.setText(_BUSY)
            self._sentence.setProse(_BUSY_SENTENCE)
        else:
            self._show_head()

    def _show_head(self) -> None:
        report = self._report
        self._icon.setVisible(report is not None)
        if report is None:
            self._title.setText("Not checked yet")
            self._sentence.setProse(
                "Run the check to see whether driver and TensorFlow work together."
            )
            return
        self._icon.setSeverity(None if report.is_well else report.problems[0].severity)
        title, sentence = _verdict(report)
        self._title.setText(title)
        self._sentence.setProse(sentence)


def _verdict(report: DoctorReport) -> tuple[str, str]:
    ills = [problem for problem in report.problems if problem.severity is not Severity.HINT]
    if not ills:
        where = "Every GPU can train." if report.gpus else "Training runs on the CPU."
        return "No problems found", where
    title = "1 problem found" if len(ills) == 1 else f"{len(ills)} problems found"
    if all(problem.command for problem in ills):
        return title, "Paste the command into a terminal, then run the check again."
    return title, "See below what to do, then run the check again."


def _parts(report: DoctorReport) -> Iterator[QWidget]:
    single = [problem.command for problem in report.problems if problem.command]
    if report.command and report.command not in single:
        heading = QLabel("ALL FIXES IN ONE COMMAND")
        heading.setProperty("role", "section")
        yield heading
        yield CommandLine(report.command)
    for problem in report.problems:
        yield FindingRow(problem)
    for group in report.groups():
        yield FactGroupView(group)
