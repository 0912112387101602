"""What stands in the place of a cluster's devices while there are none."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QPushButton, QVBoxLayout, QWidget

from gpupanel.domain.problem import Problem
from gpupanel.ui.panels.device_panel.problem_note import ProblemNotes
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.command_line import CommandLine
from gpupanel.ui.widgets.labels import Note
from gpupanel.ui.widgets.tips import wrapped


class ClusterNote(QFrame):
    """That the cluster is being asked; or why it cannot be, what to do, and a button for it."""

    askedAgain = Signal()
    """A person wants the cluster to be asked again."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", True)
        self._waiting = Note()
        self.problems = ProblemNotes()
        """Why it cannot be asked, with the buttons of fixes."""
        self._hint = Note()
        self._command = CommandLine("")
        self._again = QPushButton("Ask again")
        self._again.setObjectName("ask_cluster_again")
        self._again.setToolTip(wrapped("Asks the cluster now; this is also done automatically."))
        self._again.clicked.connect(self.askedAgain)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 12, 12, 12)
        layout.setSpacing(GRID)
        for part in (self.problems, self._waiting, self._hint, self._command):
            layout.addWidget(part)
        layout.addWidget(self._again, 0, Qt.AlignmentFlag.AlignLeft)
        self.setWaiting("")

    def setWaiting(self, words: str) -> None:
        """Say that; empty: nothing is shown."""
        self._waiting.setText(words)
        self._waiting.show()
        for part in (self.problems, self._hint, self._command, self._again):
            part.hide()
        self.setVisible(bool(words))

    def setProblem(self, problem: Problem) -> None:
        """Say why the cluster cannot be asked."""
        self.problems.setProblems((problem,))
        self._hint.setText(problem.hint)
        self._hint.setToolTip(wrapped(problem.detail))
        self._command.setCommand(problem.command)
        self._waiting.hide()
        for part in (self.problems, self._hint, self._again):
            part.show()
        self._command.setVisible(bool(problem.command))
        self.show()
