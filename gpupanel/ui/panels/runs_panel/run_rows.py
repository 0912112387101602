"""What stands in the rows of the table of runs: runs, and titles of groups of them."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication
from typing_extensions import override

from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.ui import formatting
from gpupanel.ui.panels.runs_panel.columns import run_tip
from gpupanel.ui.widgets.labels import Tone
from gpupanel.ui.widgets.table_model import Column, Index, TableModel

_NAME = "name"


class Figure(StrEnum):
    """Which figure of its runs the title of a group shows in each column of numbers."""

    MEAN = "mean"
    LOWEST = "lowest"
    HIGHEST = "highest"

    def of(self, numbers: Sequence[float]) -> float:
        """The figure of these numbers, at least one."""
        match self:
            case Figure.MEAN:
                return sum(numbers) / len(numbers)
            case Figure.LOWEST:
                return min(numbers)
        return max(numbers)


@dataclass(frozen=True, slots=True)
class RunGroup:
    """Runs that have the same text in a column.

    Attributes:
        value: That text.
        runs: As they are sorted.
        is_folded: Its runs are not shown.
        figure: What its title shows of them.
    """

    value: str
    runs: tuple[RunSummary, ...]
    is_folded: bool
    figure: Figure

    @property
    def title(self) -> str:
        """Its value, how many runs it has, and what the figures are."""
        count = "1 run" if len(self.runs) == 1 else f"{formatting.count(len(self.runs))} runs"
        return f"{'▸' if self.is_folded else '▾'} {self.value}: {count}, {self.figure.value}"


RunRow = RunSummary | RunGroup


@dataclass(frozen=True, slots=True)
class Arrangement:
    """How the rows stand.

    Attributes:
        group_of: What runs are grouped by; ``None``: they are not.
        folded: The groups whose runs are not shown, by their values.
        figure: What titles of groups show.
        baseline: The name of the run that stands first; empty: none.
    """

    group_of: Column[RunSummary] | None = None
    folded: frozenset[str] = frozenset()
    figure: Figure = Figure.MEAN
    baseline: str = ""

    def arranged(self, rows: list[RunRow]) -> list[RunRow]:
        """The sorted runs, the baseline first, then the groups in the order of their first runs."""
        runs = [row for row in rows if isinstance(row, RunSummary)]
        first: list[RunRow] = [run for run in runs if run.name == self.baseline]
        others = [run for run in runs if run.name != self.baseline]
        if self.group_of is None:
            return [*first, *others]
        groups: dict[str, list[RunSummary]] = {}
        for run in others:
            groups.setdefault(self.group_of.text(run) or formatting.DASH, []).append(run)
        for value, members in groups.items():
            group = RunGroup(value, tuple(members), value in self.folded, self.figure)
            first.append(group)
            if not group.is_folded:
                first += members
        return first


def row_key(row: RunRow) -> str:
    """What distinguishes a row; no directory's name has a slash in it."""
    return f"/{row.value}" if isinstance(row, RunGroup) else row.name


def row_tip(row: RunRow) -> str:
    """All that the row has no room for."""
    return row.title if isinstance(row, RunGroup) else run_tip(row)


def row_column(
    column: Column[RunSummary], baseline: Callable[[], RunSummary | None]
) -> Column[RunRow]:
    """The column for rows of both kinds.

    Args:
        column: What it shows of a run.
        baseline: The run that others are compared with.
    """

    def text(row: RunRow) -> str:
        if isinstance(row, RunGroup):
            return row.title if column.key == _NAME else _figure(column, row.runs, row.figure)
        is_baseline = column.key == _NAME and row == baseline()
        return f"{column.text(row)} (baseline)" if is_baseline else column.text(row)

    def order(row: RunRow) -> str | float | None:
        return column.order(row) if column.order and isinstance(row, RunSummary) else None

    def tone(row: RunRow) -> Tone:
        return column.tone(row) if column.tone and isinstance(row, RunSummary) else Tone.PLAIN

    def tip(row: RunRow) -> str:
        if isinstance(row, RunGroup):
            return _figures(column, row) or row.title
        compared = _compared(column, row, baseline())
        return f"{compared}\n\n{run_tip(row)}" if compared else run_tip(row)

    return Column(
        column.title,
        column.tip,
        text,
        None if column.order is None else order,
        is_number=column.is_number,
        cell_tip=tip,
        key=column.key,
        is_shown=column.is_shown,
        tone=None if column.tone is None else tone,
    )


def _numbers(column: Column[RunSummary], runs: Collection[RunSummary]) -> list[float]:
    order = column.order
    if order is None or column.number_text is None:
        return []
    return [value for run in runs if isinstance(value := order(run), int | float)]


def _figure(column: Column[RunSummary], runs: Collection[RunSummary], figure: Figure) -> str:
    numbers = _numbers(column, runs)
    return column.number_text(figure.of(numbers)) if numbers and column.number_text else ""


def _figures(column: Column[RunSummary], group: RunGroup) -> str:
    numbers = _numbers(column, group.runs)
    if not numbers or column.number_text is None:
        return ""
    texts = [f"{figure.value} {column.number_text(figure.of(numbers))}" for figure in Figure]
    return f"{column.title} of {len(numbers):,} runs: {', '.join(texts)}"


def _compared(column: Column[RunSummary], run: RunSummary, baseline: RunSummary | None) -> str:
    """How much the run differs from the baseline."""
    if baseline is None or run == baseline or column.number_text is None:
        return ""
    numbers = [*_numbers(column, (baseline,)), *_numbers(column, (run,))]
    if len(numbers) < 2:
        return ""
    before, after = numbers
    words = column.number_text
    sign = "−" if after < before else "+"  # noqa: RUF001 - the minus sign
    return f"{column.title}: {sign}{words(abs(after - before))} to the baseline ({words(before)})"


def title_font() -> QFont:
    """The font of the titles of groups."""
    font = QApplication.font()
    font.setBold(True)
    return font


class RunRowsModel(TableModel[RunRow]):
    """Titles of groups are bold and not chosen; runs are."""

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.FontRole:
            is_title = self.columns[index.column()].key == _NAME
            is_bold = is_title and isinstance(self.row(index.row()), RunGroup)
            return title_font() if is_bold else None
        return super().data(index, role)

    @override
    def flags(self, index: Index) -> Qt.ItemFlag:
        if index.isValid() and isinstance(self.row(index.row()), RunGroup):
            return Qt.ItemFlag.ItemIsEnabled
        return super().flags(index)


def toggled(arrangement: Arrangement, value: str) -> Arrangement:
    """The arrangement with that group folded, or unfolded where it was."""
    return replace(arrangement, folded=arrangement.folded ^ {value})
