"""What ended a run or what it complains about, with the fixes that can be tried."""

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.problem_text import problem_text
from gpupanel.domain.setting_keys import with_titles
from gpupanel.ui.run_page.banner.texts import sentences
from gpupanel.ui.widgets.fix_buttons import FixButtons
from gpupanel.ui.widgets.labels import Tone, set_tone
from gpupanel.ui.widgets.tips import wrapped

_LOOKS = {
    Severity.ERROR: ("✕ ", Tone.ERROR),
    Severity.WARNING: ("! ", Tone.WARNING),
    Severity.HINT: ("", Tone.PLAIN),
}

_AGAIN_TIP = (
    "Changes the run's profile as the button says. The run continues from its last checkpoint; "
    "without one it starts again."
)


class ProblemCard(QFrame):
    """Message, hint, *Copy details*, and a button for each fix; hidden without a problem."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", "true")
        self._detail = ""
        self._message = sentences(self, "run_problem", "error")
        self._hint = sentences(self)
        self.fixes = FixButtons(self)
        """Each tries the shown run again with a change."""
        self.fixes.setObjectName("ways_out")
        self._again = QLabel("Try again with", self)
        self._again.setProperty("tone", "muted")
        self._again.setContentsMargins(0, 8, 0, 0)
        self._again.setToolTip(wrapped(_AGAIN_TIP))
        self._copy = QPushButton("&Copy details", self)
        self._copy.setToolTip("Copies message, hint, detail and the end of the log")
        self._copy.clicked.connect(self._copy_details)
        self._lay_out()
        self.hide()
        self.setFixes(None)

    def setProblem(self, problem: Problem | None, log_tail: tuple[str, ...] = ()) -> None:
        """Say what ended the run, or what it complains about."""
        self.setVisible(problem is not None)
        if problem is None:
            return
        mark, tone = _LOOKS[problem.severity]
        self._message.setText(mark + with_titles(problem.message))
        set_tone(self._message, tone)
        self._hint.setText(with_titles(problem.hint))
        self._hint.setVisible(bool(problem.hint))
        parts = (problem_text(problem), "\n".join(log_tail))
        self._detail = "\n\n".join(part for part in parts if part)

    def setFixes(self, problem: Problem | None, *, can_try: bool = True) -> None:
        """Offer the changes that a problem proposes; nothing where it proposes none.

        Args:
            problem: What ended the run; ``None``: it goes on, or ended well.
            can_try: Whether no other run goes on now.
        """
        offers = problem is not None and problem.fix is not None
        self._again.setVisible(offers)
        self.fixes.setVisible(offers)
        self.fixes.setEnabled(can_try)
        if offers and problem is not None:
            self.fixes.setProblem(problem)

    def _lay_out(self) -> None:
        words = QVBoxLayout()
        words.setSpacing(4)
        words.addWidget(self._message)
        words.addWidget(self._hint)
        again = QHBoxLayout()
        again.setSpacing(8)
        again.addWidget(self._again, 0, Qt.AlignmentFlag.AlignTop)
        again.addWidget(self.fixes, 1)
        row = QHBoxLayout()
        row.addLayout(words, 1)
        row.addWidget(self._copy, 0, Qt.AlignmentFlag.AlignTop)
        card = QVBoxLayout(self)
        card.setContentsMargins(16, 8, 16, 8)
        card.setSpacing(8)
        card.addLayout(row)
        card.addLayout(again)

    @Slot()
    def _copy_details(self) -> None:
        QGuiApplication.clipboard().setText(self._detail)
