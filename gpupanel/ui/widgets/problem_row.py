"""One problem: how bad, what happened and why, what to do, and the buttons that do it."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from gpupanel.domain.problem import Problem
from gpupanel.domain.problem_text import problem_text, problem_title
from gpupanel.domain.setting_keys import with_titles
from gpupanel.planning.rules.gpu_support_rules import DOCTOR_CODES
from gpupanel.ui.widgets.command_line import CommandLine
from gpupanel.ui.widgets.fix_buttons import FixButtons
from gpupanel.ui.widgets.labels import ProseLabel
from gpupanel.ui.widgets.severity_icon import SeverityIcon
from gpupanel.ui.widgets.tips import wrapped


class ProblemRow(QFrame):
    """Shows a problem; a click on it leads to its setting, its text can be copied."""

    fieldActivated = Signal(str)
    """The row was clicked, or Return pressed on it: the profile key that it is about."""
    doctorRequested = Signal()
    """The doctor is to be opened, which knows more about the problem."""

    def __init__(self, problem: Problem, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("problem", "true")
        self._problem = problem
        self._icon = SeverityIcon(problem.severity, self)
        self._message = ProseLabel()
        self._hint = ProseLabel(tone="muted")
        self._command = CommandLine("", self)
        self._doctor = QPushButton("Open Doctor", self)
        self.fixes = FixButtons(self, further=self._doctor)
        """Ask for what mends it."""
        self._doctor.setProperty("role", "alternative")
        self._doctor.setToolTip("Checks driver and TensorFlow, and shows what is wrong")
        self._copy = QToolButton(self)
        self._copy.setText("Copy")
        self._copy.setProperty("role", "quiet")
        self._copy.setToolTip("Copy the whole text, with its detail, to the clipboard.")
        self._doctor.clicked.connect(self.doctorRequested)
        self._copy.clicked.connect(self.copy)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._lay_out()
        self.setProblem(problem)

    def problem(self) -> Problem:
        """The problem that is shown."""
        return self._problem

    def setProblem(self, problem: Problem) -> None:
        """Shows another problem in the same place."""
        self._problem = problem
        self._icon.setSeverity(problem.severity)
        title, hint = with_titles(problem_title(problem)), with_titles(problem.hint)
        self._message.setProse(title)
        self._hint.setProse(hint)
        self._hint.setVisible(bool(problem.hint))
        self._command.setCommand(problem.command)
        self._command.setVisible(bool(problem.command))
        self._doctor.setVisible(problem.code in DOCTOR_CODES)
        self.fixes.setProblem(problem)
        self.setAccessibleName(title)
        self.setAccessibleDescription(hint)
        self.setCursor(
            Qt.CursorShape.PointingHandCursor if problem.field else Qt.CursorShape.ArrowCursor
        )
        self.setToolTip(
            wrapped(f"About {with_titles(problem.field)}. Click to go to the setting.")
            if problem.field
            else ""
        )

    def copy(self) -> None:
        """Puts the whole text on the clipboard."""
        QGuiApplication.clipboard().setText(problem_text(self._problem))

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        inside = self.rect().contains(event.position().toPoint())
        if event.button() is Qt.MouseButton.LeftButton and inside:
            self._activate()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._activate()
        else:
            super().keyPressEvent(event)

    def _lay_out(self) -> None:
        words = QVBoxLayout()
        words.setSpacing(4)
        words.addWidget(self._message)
        words.addWidget(self._hint)
        words.addWidget(self._command)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.fixes, 1)
        # Keeps the other button at its side where there is no fix.
        buttons.addStretch(0)
        buttons.addWidget(self._copy, 0, Qt.AlignmentFlag.AlignTop)
        words.addLayout(buttons)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 8, 8, 8)
        layout.setSpacing(8)
        layout.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(words, 1)

    def _activate(self) -> None:
        if self._problem.field:
            self.fieldActivated.emit(self._problem.field)
