"""A problem in short, where its setting is; the whole of it stands in what will happen."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from gpupanel.domain.problem import Problem
from gpupanel.domain.setting_keys import with_titles
from gpupanel.planning.rules.gpu_support_rules import DOCTOR_CODES
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.fix_buttons import FixButtons
from gpupanel.ui.widgets.labels import ElidedLabel, Note
from gpupanel.ui.widgets.layouts import discard, row_in
from gpupanel.ui.widgets.severity_icon import SeverityIcon
from gpupanel.ui.widgets.tips import wrapped

_MOST = 2
"""More of them would take the room that what they are about needs."""


class ProblemNote(QWidget):
    """Icon, message, fixes and the way to the doctor; the hint is its tooltip."""

    doctorRequested = Signal()
    """The doctor is to be opened, which knows more about the problem."""

    def __init__(self, problem: Problem, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._problem = problem
        self._icon = SeverityIcon(problem.severity)
        self._message = Note(tone="")
        self._line = ElidedLabel()
        self._line.setProperty("textSize", "small")
        self._line.hide()
        self.fixes = FixButtons()
        """Ask for what mends it."""
        self._doctor = QPushButton("Open Doctor")
        self._doctor.setProperty("role", "alternative")
        self._doctor.setToolTip(wrapped("Checks driver, libraries and TensorFlow."))
        self._doctor.clicked.connect(self.doctorRequested)
        buttons = QHBoxLayout()
        buttons.setSpacing(GRID)
        buttons.addWidget(self.fixes, 1)
        buttons.addWidget(self._doctor, 0, Qt.AlignmentFlag.AlignTop)
        buttons.addStretch(0)
        words = QVBoxLayout()
        words.setSpacing(GRID // 2)
        words.addWidget(self._message)
        words.addWidget(self._line)
        words.addLayout(buttons)
        layout = row_in(self)
        layout.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(words, 1)
        self.setProblem(problem)

    def problem(self) -> Problem:
        """The problem that is shown."""
        return self._problem

    def setProblem(self, problem: Problem) -> None:
        """Show another problem in the same place."""
        self._problem = problem
        self._icon.setSeverity(problem.severity)
        message, hint = with_titles(problem.message), with_titles(problem.hint)
        self._message.setText(message)
        self._line.setText(message)
        self.fixes.setProblem(problem)
        self._doctor.setVisible(problem.code in DOCTOR_CODES)
        self.setToolTip(wrapped(hint))
        self.setAccessibleName(message)
        self.setAccessibleDescription(hint)

    def setLow(self, *, is_low: bool) -> None:
        """Take a line and the first fix only, where there is little room; or all it asks for."""
        self._message.setHidden(is_low)
        self._line.setVisible(is_low)
        self.fixes.setMost(1 if is_low else None)


class ProblemNotes(QFrame):
    """Some problems below each other; nothing where there are none.

    Args:
        most: So many are shown; of the others only how many there are.
        margin: Pixels around all of them.
    """

    fixRequested = Signal(object)
    """The button of a fix was pressed: the :class:`Fix`."""
    doctorRequested = Signal()
    """The doctor is to be opened, which knows more about one of them."""

    def __init__(
        self, *, most: int = _MOST, margin: int = 0, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._most = most
        self._problems: tuple[Problem, ...] = ()
        self._notes: list[ProblemNote] = []
        self._is_low = False
        self._more = Note()
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(margin, margin, margin, margin)
        self._layout.setSpacing(GRID)
        self._layout.addWidget(self._more)
        self.hide()

    def problems(self) -> tuple[Problem, ...]:
        """All of them, also those that are only counted."""
        return self._problems

    def setLow(self, *, is_low: bool) -> None:
        """Be as low as can be: what a note leaves out stands in What will happen."""
        self._is_low = is_low
        for note in self._notes:
            note.setLow(is_low=is_low)

    def setProblems(self, problems: tuple[Problem, ...]) -> None:
        """Show these; notes that are there already stay, and the focus with them."""
        if problems == self._problems:
            return
        self._problems = problems
        self._show(problems[: self._most])
        more = len(problems) - self._most
        self._more.setText(f"{more} more: see What will happen.")
        self._more.setVisible(more > 0)
        self.setVisible(bool(problems))

    def _show(self, problems: tuple[Problem, ...]) -> None:
        while len(self._notes) > len(problems):
            note = self._notes.pop()
            discard(self._layout, [note])
        for note, problem in zip(self._notes, problems, strict=False):
            note.setProblem(problem)
        for problem in problems[len(self._notes) :]:
            note = ProblemNote(problem)
            note.setLow(is_low=self._is_low)
            note.fixes.fixRequested.connect(self.fixRequested)
            note.doctorRequested.connect(self.doctorRequested)
            self._layout.insertWidget(len(self._notes), note)
            self._notes.append(note)
