"""Problems below each other, each with what to do and the buttons that do it."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from gpupanel.domain.problem import Problem
from gpupanel.ui.widgets.labels import Note
from gpupanel.ui.widgets.layouts import MOST_ROWS, column_in, discard
from gpupanel.ui.widgets.problem_row import ProblemRow


class ProblemList(QWidget):
    """Rows that are kept while problems change, so that focus and place stay."""

    fixRequested = Signal(object)
    """A fix's button was pressed: the :class:`Fix`."""
    fieldActivated = Signal(str)
    """A row was clicked: the profile key that it is about."""
    doctorRequested = Signal()
    """The doctor is to be opened, which knows more about a problem."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Problems")
        self._rows: list[ProblemRow] = []
        self._more = Note()
        self._more.hide()
        self._column = column_in(self)
        self._column.addWidget(self._more)

    def problems(self) -> tuple[Problem, ...]:
        """The problems that are shown."""
        return tuple(row.problem() for row in self._rows)

    def setProblems(self, problems: Sequence[Problem]) -> None:
        """Shows other problems; of very many the first ones, errors before all others."""
        few = problems
        if len(problems) > MOST_ROWS:
            errors_first = sorted(problems, key=lambda problem: not problem.is_error)
            few = errors_first[: MOST_ROWS - 1]
        more = len(problems) - len(few)
        self._more.setText(f"and {more:,} more: `gpupanel check` lists them" if more else "")
        self._more.setVisible(more > 0)
        self._show(few)

    def _show(self, problems: Sequence[Problem]) -> None:
        while len(self._rows) > len(problems):
            row = self._rows.pop()
            discard(self._column, [row])
        for row, problem in zip(self._rows, problems, strict=False):
            if row.problem() != problem:
                row.setProblem(problem)
        for problem in problems[len(self._rows) :]:
            row = ProblemRow(problem, self)
            row.fixes.fixRequested.connect(self.fixRequested)
            row.fieldActivated.connect(self.fieldActivated)
            row.doctorRequested.connect(self.doctorRequested)
            self._rows.append(row)
            self._column.insertWidget(self._column.count() - 1, row)
