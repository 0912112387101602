"""The plots of a comparison, all on one linked axis."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QGridLayout, QWidget
from typing_extensions import override

from gpupanel.domain.metric import Metric
from gpupanel.domain.steps_line import STEP_METRICS
from gpupanel.runs.history.metrics import METRICS, VALIDATED
from gpupanel.ui import theme
from gpupanel.ui.panels.comparison_panel.comparison_curves import ComparisonCurves
from gpupanel.ui.plots.picture import PicturePlot
from gpupanel.ui.plots.time_plot import TimePlot
from gpupanel.ui.plots.unit_text import plot_title, unit_text
from gpupanel.ui.theme import GRID

if TYPE_CHECKING:
    from gpupanel.ui.plots.curve import Curve

_SOON_MS = 40
"""What changes together is drawn together; quick enough for the line to follow the pointer."""
_LEAST_HEIGHT = 18 * GRID
_FIRST = (
    ("loss", "val_loss"),
    ("accuracy", "val_accuracy"),
    ("mean_absolute_error", "val_mean_absolute_error"),
    ("examples_per_second", "waiting_for_data"),
)
_FURTHER = tuple(name for name in STEP_METRICS if not any(name in row for row in _FIRST))
_ROWS = (*_FIRST, *(_FURTHER[first : first + 2] for first in range(0, len(_FURTHER), 2)))

_IN_ROWS = frozenset(name for row in _ROWS for name in row)


class CurveGrid(QWidget):
    """A plot for each metric that any of the runs has; training left, validation right.

    Draws only when something changed, and only while it is shown.

    Args:
        curves: What is drawn; whoever changes it calls :meth:`refresh`.
    """

    wholeChanged = Signal(bool)
    """Whether the runs are shown whole, after a person changed that."""
    runToggled = Signal(str)
    """The run of that title is to be hidden, or shown again."""

    def __init__(self, curves: ComparisonCurves, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._curves = curves
        self._is_whole = True
        self._range = (0.0, 0.0)
        self._pointer: float | None = None
        self._metrics: tuple[Metric, ...] = ()
        self._drawn: dict[str, tuple[Curve, ...]] = {}
        self.plots: dict[str, TimePlot] = {}
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(GRID)
        self._soon = QTimer(self, singleShot=True, interval=_SOON_MS)
        self._soon.timeout.connect(self.redraw)
        # The colours in legends are those of the moment at which they were drawn.
        theme.changes.changed.connect(self._draw_soon)
        for metric in METRICS.values():
            self._add_plot(metric)

    @property
    def shown(self) -> tuple[TimePlot, ...]:
        """The plots there is anything for."""
        return tuple(self.plots[metric.name] for metric in self._metrics)

    def span(self) -> tuple[float, float]:
        """The part of the axis that is shown."""
        return self._curves.axis.whole(self._curves.end()) if self._is_whole else self._range

    def picture_plots(self) -> tuple[PicturePlot, ...]:
        """The plots that have a curve, for a picture."""
        drawn = (each for each in self._curves.metrics() if self._curves.curves(each))
        span = self.span()
        return tuple(self.plots[each.name].picture_plot(span, has_legend=False) for each in drawn)

    @Slot()
    def refresh(self) -> None:
        """Draw the curves as they are now, soon."""
        self._arrange()
        for metric in self._metrics:
            plot = self.plots[metric.name]
            extra = " (smoothed)" if self._curves.is_smoothed(metric) else ""
            plot.setTitle(f"{plot_title(metric)}{extra}")
            plot.setAxis(self._curves.axis)
            plot.setLogarithmic(self._curves.is_log)
            drawn = self._curves.curves(metric)
            if drawn != self._drawn.get(metric.name):
                self._drawn[metric.name] = drawn
                plot.setCurves(drawn)
        self._draw_soon()

    @Slot()
    def show_whole(self) -> None:
        """Show the runs whole again."""
        self._set_whole(is_whole=True)
        self._set_range(*self.span())
        for plot in self.shown:
            plot.fitValues()
        self._draw_soon()

    @Slot()
    def redraw(self) -> None:
        """Bring every plot up to date, if anybody can see them."""
        if not self.isVisible():
            return
        if self._is_whole and self._pointer is None:
            self._set_range(*self.span())
        for plot in self.shown:
            plot.redraw(self._pointer)

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._draw_soon()

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        self._soon.stop()
        self._pointer = None
        super().hideEvent(event)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._draw_soon()

    @Slot()
    def _draw_soon(self) -> None:
        if self.isVisible() and not self._soon.isActive():
            self._soon.start()

    def _arrange(self) -> None:
        metrics = self._curves.metrics()
        if metrics == self._metrics:
            return
        self._metrics = metrics
        others = [metric.name for metric in metrics if metric.name not in _IN_ROWS]
        for metric in metrics:
            if metric.name not in self.plots:
                self._add_plot(metric)
        for plot in self.plots.values():
            self._grid.removeWidget(plot)
            plot.setVisible(False)
        # The training of a figure stands beside its validation.
        figures = dict.fromkeys(name.removeprefix(VALIDATED) for name in others)
        rows = (*_ROWS, *((name, f"{VALIDATED}{name}") for name in figures))
        for row in range(len(rows), self._grid.rowCount()):
            self._grid.setRowStretch(row, 0)
        for row, pair in enumerate(rows):
            there = [metric.name for metric in metrics if metric.name in pair]
            there.sort(key=pair.index)
            for column, name in enumerate(there):
                self._grid.addWidget(self.plots[name], row, column, 1, 3 - len(there))
                self.plots[name].setVisible(True)
            self._grid.setRowStretch(row, 1 if there else 0)

    def _add_plot(self, metric: Metric) -> None:
        self.plots[metric.name] = plot = _plot(metric)
        plot.setParent(self)
        plot.hide()
        plot.timeRangeChosen.connect(self.show_span)
        plot.timeRangeReset.connect(self.show_whole)
        plot.pointed.connect(self._take_pointer)
        plot.curveToggled.connect(self.runToggled)

    @Slot(float, float)
    def show_span(self, start: float, end: float) -> None:
        """Show that part of the axis until the whole is asked for."""
        self._set_whole(is_whole=False)
        self._set_range(*self._curves.axis.at_least(start, end))
        self._draw_soon()

    @Slot(object)
    def _take_pointer(self, position: float | None) -> None:
        self._pointer = position
        self._draw_soon()

    def _set_whole(self, *, is_whole: bool) -> None:
        if is_whole != self._is_whole:
            self._is_whole = is_whole
            self.wholeChanged.emit(is_whole)

    def _set_range(self, start: float, end: float) -> None:
        self._range = (start, end)
        for plot in self.shown:
            plot.setTimeRange(start, end)


def _plot(metric: Metric) -> TimePlot:
    unit = unit_text(metric)
    plot = TimePlot(
        f"compared_{metric.name}_plot",
        plot_title(metric),
        metric.tip,
        bounds=unit.bounds,
        empty_note="All runs with these values are hidden",
        has_readout=True,
        can_be_log=unit.can_be_log,
    )
    plot.setMinimumHeight(_LEAST_HEIGHT)
    return plot
