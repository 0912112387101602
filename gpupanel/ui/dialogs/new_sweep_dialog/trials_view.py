"""The trials that would run: how many, how long they take, the first ones, or what is wrong."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QStackedLayout, QWidget

from gpupanel.domain.problem import Problem
from gpupanel.domain.sweep import SweptValue
from gpupanel.runs.sweeps.proposing import SweepProposal
from gpupanel.ui import formatting
from gpupanel.ui.dialogs.trial_columns import setting_column
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import EmptyState, ProseLabel
from gpupanel.ui.widgets.layouts import column_in, discard
from gpupanel.ui.widgets.problem_row import ProblemRow
from gpupanel.ui.widgets.table_model import Column, TableModel
from gpupanel.ui.widgets.table_view import TableView

_MOST_PROBLEMS = 3
_Row = tuple[int, Mapping[str, SweptValue]]
"""A trial's number, and its values."""


class TrialsView(QWidget):
    """Says what would run, and shows what keeps it from that."""

    fixRequested = Signal(object)
    """The button of a fix was pressed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._head = QLabel(self)
        self._head.setObjectName("new_sweep_count")
        self._head.setProperty("role", "title")
        self._head.setTextFormat(Qt.TextFormat.PlainText)
        self._words = ProseLabel(tone="muted")
        self._words.setObjectName("new_sweep_words")
        self._rows: list[QWidget] = []
        model = TableModel[_Row]((), lambda row: row[0])
        self._table = TableView(model, "new_sweep_trials", "Trials that would run", 3 * GRID)
        self._table.setMinimumHeight(14 * GRID)
        self._empty = EmptyState("", "")
        self._stack = QStackedLayout()
        self._stack.addWidget(self._table)
        self._stack.addWidget(self._empty)
        self._column = column_in(self)
        self._column.addWidget(self._head)
        self._column.addWidget(self._words)
        self._column.addLayout(self._stack, 1)

    def setProposal(
        self, proposal: SweepProposal | None, words: str, problems: Sequence[Problem]
    ) -> None:
        """Show another sweep.

        Args:
            proposal: What would run; ``None``: nothing is tried yet.
            words: About all trials together.
            problems: Those that stand beside no setting.
        """
        count = 0 if proposal is None else proposal.count
        self._head.setText(f"{count:,} {'trial' if count == 1 else 'trials'}" if count else "")
        self._head.setVisible(bool(count))
        self._words.setProse(words)
        self._words.setVisible(bool(words))
        self._show_problems(problems)
        if proposal is None:
            self._show_empty("No trials yet", "They are listed here once settings are added.")
        elif not count:
            self._show_empty("Not ready", "The trials are listed here once all values are right.")
        elif proposal.trials:
            self._show_trials(proposal.trials)
        else:
            self._show_empty(
                "Chosen one after the other",
                "The values of each trial follow from what those before it came to.",
            )

    def setChecking(self) -> None:
        """Say that the trials are being found out; what was shown stays."""
        self._head.setText("Checking the trials…")
        self._head.show()

    def problem_codes(self) -> list[str]:
        """The codes of the problems that are shown here, from top to bottom."""
        return [row.problem().code for row in self._rows if isinstance(row, ProblemRow)]

    def _show_empty(self, title: str, sentence: str) -> None:
        self._empty.setTexts(title, sentence)
        self._stack.setCurrentWidget(self._empty)

    def _show_trials(self, trials: Sequence[Mapping[str, SweptValue]]) -> None:
        rows = tuple(enumerate(trials, 1))
        number: Column[_Row] = Column(
            "Trial",
            "In the order in which they start",
            lambda row: formatting.count(row[0]),
            order=lambda row: row[0],
            is_number=True,
        )
        settings = [setting_column(key, _values, rows) for key in trials[0]]
        before = [each.title for each in self._table.content.columns]
        is_new = before != [each.title for each in (number, *settings)]
        self._table.content.set_columns([number, *settings], rows)
        self._table.fit_columns(anew=is_new)
        self._stack.setCurrentWidget(self._table)

    def _show_problems(self, problems: Sequence[Problem]) -> None:
        shown = [*problems[:_MOST_PROBLEMS]]
        if shown == [row.problem() for row in self._rows if isinstance(row, ProblemRow)]:
            return
        discard(self._column, self._rows)
        self._rows = []
        for place, problem in enumerate(shown):
            row = ProblemRow(problem)
            row.fixes.fixRequested.connect(self.fixRequested)
            self._column.insertWidget(2 + place, row)
            self._rows.append(row)


def _values(row: _Row) -> Mapping[str, SweptValue]:
    return row[1]
