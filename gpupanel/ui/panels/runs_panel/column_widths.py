"""How wide the columns of the table of runs are."""

from collections.abc import Mapping, Sequence

from PySide6.QtGui import QFontMetrics

from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.ui.panels.runs_panel.run_rows import RunRow
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.table_model import Column

_WIDEST = 34 * GRID
"""Of a column that fits its texts; a person may draw it wider."""
_LEAST_OF_FIRST, _SHORTEST_FIRST = 20 * GRID, 15 * GRID
"""Of the name: before others give way to it, and where nothing more can."""
_CELL_MARGINS = 3 * GRID
_MEASURED = 3
"""Texts of a column: the one with most letters is hardly ever narrower than all of these."""
_MOST_TEXTS = 8_000
"""Looked at in one go: those of a thousand runs, in a fiftieth of a second."""


class ColumnWidths:
    """Each column is as wide as its widest text ever was, unless it was drawn by hand.

    Long texts of the first one, the name, are cut before others are out of sight. Where that is not
    enough, columns give way as a whole.

    Attributes:
        drawn: In pixels, by key, of those that were drawn.
    """

    def __init__(self) -> None:
        self.drawn: dict[str, int] = {}
        self._fitting: dict[str, int] = {}
        self._known: dict[str, RunSummary] = {}
        # Of each column that is shown, the runs whose texts were not looked at yet.
        self._left: dict[str, list[RunSummary]] = {}

    @property
    def has_more(self) -> bool:
        """Whether texts are left that were not looked at: fit once more, in a while."""
        return any(self._left.values())

    def forget(self, key: str | None = None) -> None:
        """Measure all texts of that column the next time; ``None``: of every column."""
        if key is None:
            self._left.clear()
        else:
            self._left.pop(key, None)

    def fit(
        self,
        runs: Sequence[RunSummary],
        shown: Sequence[Column[RunRow]],
        texts: QFontMetrics,
        titles: QFontMetrics,
        least: Mapping[str, int],
        room: int,
        giving_way: Sequence[str] = (),
    ) -> dict[str, int]:
        """The width of each column that there is room for, in pixels, by its key.

        The first one has what the others leave, and no more than its texts need.

        Args:
            runs: All of them; those that were measured before are not measured again, and of very
                many only some at a time: see :attr:`has_more`.
            shown: The columns.
            texts: Measures texts of cells.
            titles: Measures titles of columns.
            least: Of some columns, what else has to fit, in pixels.
            room: Of all columns together, in pixels.
            giving_way: The keys of columns that are left out, in this order, as long as there is
                too little room.
        """
        self._see(runs, shown)
        most = _MOST_TEXTS // max(1, len(shown))
        widths = {}
        for column in shown:
            left = self._left[column.key]
            some = left[-most:]
            del left[-most:]
            longest = sorted({column.text(run) for run in some}, key=len, reverse=True)
            width = max(map(texts.horizontalAdvance, longest[:_MEASURED]), default=0)
            width = max(width, least.get(column.key, 0))
            title = titles.horizontalAdvance(column.title) + 2 * GRID
            widest = width if column is shown[0] else _WIDEST
            fitting = max(min(width, widest), title, self._fitting.get(column.key, 0))
            self._fitting[column.key] = fitting
            widths[column.key] = self.drawn.get(column.key, fitting + _CELL_MARGINS)
        first = shown[0].key
        least_of_first = min(widths[first], _LEAST_OF_FIRST)
        if first in self.drawn:
            least_of_first = widths[first]
        for key in giving_way:
            if sum(widths.values()) - widths[first] + least_of_first <= room:
                break
            widths.pop(key, None)
        if first not in self.drawn:
            spare = room - sum(widths.values()) + widths[first]
            widths[first] = min(widths[first], max(spare, _SHORTEST_FIRST))
        return widths

    def _see(self, runs: Sequence[RunSummary], shown: Sequence[Column[RunRow]]) -> None:
        """Find out whose texts have to be looked at: those on top are looked at first."""
        new = [run for run in reversed(runs) if self._known.get(run.name) is not run]
        self._known = {run.name: run for run in runs}
        keys = {column.key for column in shown}
        self._left = {key: left + new for key, left in self._left.items() if key in keys}
        for key in keys - self._left.keys():
            self._left[key] = list(reversed(runs))
