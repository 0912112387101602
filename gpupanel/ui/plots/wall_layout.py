"""Two columns of plots, the first of a column the highest; or one plot alone."""

from collections.abc import Iterable, Sequence

from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from gpupanel.ui.plots.time_plot import TimePlot
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.layouts import row_in

_ROWS, _LOW_ROWS = 5, 2
"""Rows of the grid that a plot takes, and a low one."""
_LEAST_HEIGHT, _LEAST_LOW = 96, 72
"""Of each plot, in pixels: with less, rings and triangles cover the curves; and of a low one."""
_LEAST_FIRST = 160
"""Of the first plot, which is looked at most: on a small screen the others are scrolled to."""


class WallLayout:
    """Gives plots their places.

    Args:
        wall: What they stand on.
        all_plots: Those there are, shown or not.
        low: Those that need little height.
    """

    def __init__(
        self, wall: QWidget, all_plots: Iterable[TimePlot], low: Iterable[TimePlot]
    ) -> None:
        self._wall, self._all, self._low = wall, [*all_plots], frozenset(low)
        self._columns = (QVBoxLayout(), QVBoxLayout())
        self._beside = row_in(wall, spacing=0)
        for column in self._columns:
            column.setSpacing(GRID)
            self._beside.addLayout(column, 1)

    def add(self, plot: TimePlot) -> None:
        """Have another plot, which gets a place when it is to be shown."""
        self._all.append(plot)

    def arrange(self, left: Sequence[TimePlot], right: Sequence[TimePlot]) -> None:
        """Show these, from top to bottom, and no others."""
        shown = {*left, *right}
        for plot in self._all:
            for column in self._columns:
                column.removeWidget(plot)
            plot.setParent(self._wall)
            plot.setVisible(plot in shown)
        self._beside.setSpacing(GRID if left and right else 0)
        for place, plots in enumerate((left, right)):
            self._beside.setStretch(place, 1 if plots else 0)
        rows = max(sum(map(self._rows_of, plots)) for plots in (left, right))
        for column, plots in zip(self._columns, (left, right), strict=True):
            more = rows - sum(map(self._rows_of, plots))
            for plot in plots:
                # The first is as high as two where there is room, the next where there is more.
                added = min(more, _ROWS)
                column.addWidget(plot, self._rows_of(plot) + added)
                more -= added
                # By their rows alone, not by how large a canvas would like to be.
                plot.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
                least = _LEAST_LOW if plot in self._low else _LEAST_HEIGHT
                plot.setMinimumHeight(_LEAST_FIRST if plot in left[:1] else least)

    def _rows_of(self, plot: TimePlot) -> int:
        return _LOW_ROWS if plot in self._low else _ROWS
