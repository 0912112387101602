"""The dialog itself: its head, its page, its buttons."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QHideEvent
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from gpupanel.devices.doctor import DoctorReport
from gpupanel.domain.problem import Severity
from gpupanel.ui.dialogs.doctor_dialog.report_view import FactGroupView, FindingRow, report_text
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.command_line import CommandLine
from gpupanel.ui.widgets.labels import EmptyState
from gpupanel.ui.widgets.severity_icon import SeverityIcon

_BUSY = "Checking driver and TensorFlow…"
_BUSY_SENTENCE = "TensorFlow is started once for this; it takes a few seconds."


class DoctorDialog(QDialog):
    """Shows a report; what is wrong stands on top."""

    examinationRequested = Signal()
    """A person wants everything to be examined again."""
    closed = Signal()
    """Nobody reads it any more."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("doctor_dialog")
        self.setWindowTitle("Doctor")
        self._report: DoctorReport | None = None
        self._icon = SeverityIcon(Severity.HINT)
        self._title = QLabel()
        self._title.setObjectName("doctor_verdict")
        self._title.setProperty("role", "title")
        self._sentence = QLabel()
        self._sentence.setProperty("tone", "muted")
        self._progress = QProgressBar()
        self._progress.setRange(0, 0)
        self._progress.setTextVisible(False)
        self._scroll = QScrollArea()
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setWidget(
            EmptyState(
                "The report appears here",
                "Driver, GPUs, TensorFlow's build, the libraries that it loads, and packages.",
            )
        )
        self._copy = QPushButton("&Copy all")
        self._copy.setObjectName("doctor_copy")
        self._copy.setToolTip("Copies problems and facts as text, for a message or a bug report.")
        self._again = QPushButton("&Run again")
        self._again.setObjectName("doctor_again")
        self._again.setToolTip("Checks everything again.")
        self._copy.clicked.connect(self.copy)
        self._again.clicked.connect(self.examinationRequested)
        for passing in (self._icon, self._progress):
            _keep_place(passing)
        self._arrange()
        self.setBusy(False)

    def report(self) -> DoctorReport | None:
        """What is shown; ``None`` before the first examination."""
        return self._report

    @Slot(object)
    def setReport(self, report: DoctorReport) -> None:
        """Show another report."""
        self._report = report
        self._show_head()
        self._copy.setEnabled(True)
        self._scroll.setWidget(_page(report))

    @Slot(bool)
    def setBusy(self, busy: bool) -> None:
        """Show whether an examination goes on; the last report stays until it is done."""
        self._progress.setVisible(busy)
        self._again.setEnabled(not busy)
        self._copy.setEnabled(not busy and self._report is not None)
        if busy:
            self._icon.setVisible(False)
            self._title.setText(_BUSY)
            self._sentence.setText(_BUSY_SENTENCE)
        else:
            self._show_head()

    def copy(self) -> None:
        """Puts the whole report on the clipboard."""
        if self._report is not None:
            QGuiApplication.clipboard().setText(report_text(self._report))

    @override
    def hideEvent(self, arg__1: QHideEvent) -> None:
        super().hideEvent(arg__1)
        self.closed.emit()

    def _arrange(self) -> None:
        words = QVBoxLayout()
        words.setSpacing(GRID // 2)
        words.addWidget(self._title)
        words.addWidget(self._sentence)
        head = QHBoxLayout()
        head.setSpacing(GRID)
        head.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        head.addLayout(words, 1)
        close = QPushButton("Close")
        close.clicked.connect(self.reject)
        buttons = QHBoxLayout()
        buttons.setSpacing(GRID)
        buttons.addWidget(self._copy)
        buttons.addWidget(self._again)
        buttons.addStretch(1)
        buttons.addWidget(close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(GRID)
        layout.addLayout(head)
        layout.addWidget(self._progress)
        layout.addWidget(self._scroll, 1)
        layout.addLayout(buttons)
        self.resize(880, 680)

    def _show_head(self) -> None:
        report = self._report
        self._icon.setVisible(report is not None)
        if report is None:
            self._title.setText("Not checked yet")
            self._sentence.setText(
                "Run the check to see whether driver and TensorFlow work together."
            )
            return
        self._icon.setSeverity(None if report.is_well else report.problems[0].severity)
        title, sentence = _verdict(report)
        self._title.setText(title)
        self._sentence.setText(sentence)


def _keep_place(widget: QWidget) -> None:
    """Let nothing move when it is hidden."""
    policy = widget.sizePolicy()
    policy.setRetainSizeWhenHidden(True)
    widget.setSizePolicy(policy)


def _verdict(report: DoctorReport) -> tuple[str, str]:
    ills = [problem for problem in report.problems if problem.severity is not Severity.HINT]
    if not ills:
        where = "Every GPU can train." if report.gpus else "Training runs on the CPU."
        return "No problems found", where
    title = "1 problem found" if len(ills) == 1 else f"{len(ills)} problems found"
    if all(problem.command for problem in ills):
        return title, "Paste the command into a terminal, then run the check again."
    return title, "See below what to do, then run the check again."


def _page(report: DoctorReport) -> QWidget:
    page = QWidget()
    page.setProperty("page", True)
    column = QVBoxLayout(page)
    column.setContentsMargins(0, 0, GRID, 0)
    column.setSpacing(GRID)
    single = [problem.command for problem in report.problems if problem.command]
    if report.command and report.command not in single:
        heading = QLabel("ALL FIXES IN ONE COMMAND")
        heading.setProperty("role", "section")
        column.addWidget(heading)
        column.addWidget(CommandLine(report.command))
    for problem in report.problems:
        column.addWidget(FindingRow(problem))
    for group in report.groups():
        column.addWidget(FactGroupView(group))
    column.addStretch(1)
    return page
