"""What stands in the place of a cluster's devices while there are none."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QPushButton, QVBoxLayout, QWidget

from gpupanel.domain.problem import Problem
from gpupanel.ui.panels.device_panel.problem_note import ProblemNote
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.command_line import CommandLine
from gpupanel.ui.widgets.labels import Note
from gpupanel.ui.widgets.tips import wrapped


class ClusterNote(QFrame):
    """That the cluster is being asked; or why it cannot be, what to do, and a button for it."""

    fixRequested = Signal(object)
    """The button of the problem's fix was pressed: the :class:`Fix`."""
    askedAgain = Signal()
    """A person wants the cluster to be asked again."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", True)
        self._waiting = Note()
        self._problem: ProblemNote | None = None
        self._hint = Note()
        self._command = CommandLine("")
        self._again = QPushButton("Ask again")
        self._again.setObjectName("ask_cluster_again")
        self._again.setToolTip(wrapped("Asks the cluster now; this is also done automatically."))
        self._again.clicked.connect(self.askedAgain)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(12, 12, 12, 12)
        self._layout.setSpacing(GRID)
        for part in (self._waiting, self._hint, self._command):
            self._layout.addWidget(part)
        self._layout.addWidget(self._again, 0, Qt.AlignmentFlag.AlignLeft)
        self.setWaiting("")

    def setWaiting(self, words: str) -> None:
        """Say that; empty: nothing is shown."""
        self._waiting.setText(words)
        self._waiting.show()
        for part in (self._hint, self._command, self._again, self._problem):
            if part is not None:
                part.hide()
        self.setVisible(bool(words))

    def setProblem(self, problem: Problem) -> None:
        """Say why the cluster cannot be asked."""
        if self._problem is None:
            self._problem = ProblemNote(problem)
            self._problem.fixRequested.connect(self.fixRequested)
            self._layout.insertWidget(0, self._problem)
        self._problem.setProblem(problem)
        self._hint.setText(problem.hint)
        self._hint.setToolTip(wrapped(problem.detail))
        self._command.setCommand(problem.command)
        self._waiting.hide()
        for part in (self._problem, self._hint, self._again):
            part.show()
        self._command.setVisible(bool(problem.command))
        self.show()
