"""The loss over the learning rate, of which one is chosen by a click or by keys."""

import math
from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.rate_range import RatePoint
from gpupanel.ui import theme
from gpupanel.ui.plots.axes import ValueAxis
from gpupanel.ui.plots.plot_surface import PlotSurface
from gpupanel.ui.theme import GRID

_DOT = 8.0
_STEPS: dict[int, float] = {Qt.Key.Key_Left: -0.05, Qt.Key.Key_Right: 0.05}
"""Of keys, in decades: two digits of a rate are another number then."""
_ROUNDING = 1e-9
"""The rounding of logarithms."""
_GREATEST = 1e250
"""The greatest loss that is drawn: ranges and margins stay numbers."""
_FARTHEST = 1_000.0
"""What a curve leaves the plot by, in heights of it: drawn farther away, numbers would overflow."""


class RateRangePlot(PlotSurface):
    """A curve over powers of ten, with a line at the rate that is chosen.

    Click or drag it; Left and Right move it.
    """

    rateChosen = Signal(float)
    """A person chose that rate."""

    def __init__(self, parent: QWidget | None = None) -> None:
        rates = ValueAxis("bottom")
        rates.setLogarithmic(True)
        self._points: tuple[RatePoint, ...] = ()
        self._chosen: float | None = None
        super().__init__(rates, ValueAxis("left"), parent=parent)
        self.setObjectName("rate_range_plot")
        # So far, in pixels, may a label reach beyond its axis.
        rates.setStyle(hideOverlappingLabels=30)
        self.setAxisTitle("bottom", "Learning rate")
        self.setAxisTitle("left", "Loss")
        self._raw, self._smoothed = pg.PlotCurveItem(), pg.PlotCurveItem(antialias=True)
        self._line = pg.InfiniteLine(angle=90, movable=False)
        self._dot = pg.ScatterPlotItem(size=_DOT)
        for item in (self._raw, self._smoothed, self._line, self._dot):
            self.addItem(item)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Loss over the learning rate")
        self.viewport().setCursor(Qt.CursorShape.CrossCursor)
        self.recolor()
        self.setPoints((), None)

    def setPoints(self, points: Sequence[RatePoint], chosen: float | None) -> None:
        """Draw other points, with a line at that rate."""
        self._points, self._chosen = tuple(points), chosen
        if points:
            least, most = _losses(points)
            low, high = (math.log10(points[place].rate) for place in (0, -1))
            # A label at the very end stands on the axis, however its logarithm was rounded.
            low, high = low - _ROUNDING, max(high, low + 1.0) + _ROUNDING
            self._box.setRange(xRange=(low, high), yRange=(least, most), padding=0.0)
            room = _FARTHEST * (most - least)
            places = np.log10([point.rate for point in points])
            for curve, losses in (
                (self._raw, [point.loss for point in points]),
                (self._smoothed, [point.smoothed for point in points]),
            ):
                curve.setData(places, np.clip(losses, least - room, most + room))
        self._show_chosen()

    def chosen(self) -> float | None:
        """The rate at the line; ``None``: there is none."""
        return self._chosen

    @override
    def sizeHint(self) -> QSize:
        return QSize(80 * GRID, 52 * GRID)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(40 * GRID, 40 * GRID)

    @override
    def mousePressEvent(self, ev: QMouseEvent) -> None:
        self._choose_at(ev)

    @override
    def mouseMoveEvent(self, ev: QMouseEvent) -> None:
        if ev.buttons():
            self._choose_at(ev)

    @override
    def mouseReleaseEvent(self, ev: QMouseEvent) -> None:
        ev.accept()

    @override
    def keyPressEvent(self, ev: QKeyEvent) -> None:
        if ev.key() in _STEPS and self._points:
            start = self._points[0].rate if self._chosen is None else self._chosen
            self._choose(math.log10(start) + _STEPS[ev.key()])
        else:
            super().keyPressEvent(ev)

    @override
    def recolor(self) -> None:
        super().recolor()
        colors = theme.current()
        self._raw.setPen(pg.mkPen(colors.color("strong_border"), width=1))
        self._smoothed.setPen(pg.mkPen(colors.color("accent"), width=2))
        dashed = Qt.PenStyle.DashLine
        self._line.setPen(pg.mkPen(colors.color("good"), width=1.5, style=dashed))
        self._dot.setPen(pg.mkPen(None))
        self._dot.setBrush(pg.mkBrush(colors.color("good")))

    def _choose_at(self, ev: QMouseEvent) -> None:
        self._choose(float(self._box.mapSceneToView(self.mapToScene(ev.position().toPoint())).x()))

    def _choose(self, place: float) -> None:
        if not self._points:
            return
        low, high = self._box.viewRange()[0]
        self._chosen = float(f"{10.0 ** min(high, max(low, place)):.1e}")
        self._show_chosen()
        self.rateChosen.emit(self._chosen)

    def _show_chosen(self) -> None:
        chosen, points = self._chosen, self._points
        words = f"{len(points)} steps" + ("" if chosen is None else f", {chosen:g} is chosen")
        self.setAccessibleDescription(words)
        has_line = chosen is not None and bool(points)
        self._line.setVisible(has_line)
        self._dot.setVisible(has_line)
        if chosen is not None and points:
            place = math.log10(chosen)
            nearest = min(points, key=lambda point: abs(math.log10(point.rate) - place))
            self._line.setValue(place)
            self._dot.setData([place], [_drawable(nearest.smoothed)])


def _losses(points: Sequence[RatePoint]) -> tuple[float, float]:
    """What is drawn; the end, where the loss leaves its range, may lie above."""
    smoothed = [_drawable(point.smoothed) for point in points]
    least = min(*smoothed, *(_drawable(point.loss) for point in points))
    most = min(max(smoothed), 1.5 * max(smoothed[0], least) - 0.5 * least)
    margin = 0.04 * (most - least) if most > least else 0.5
    return least - margin, most + margin


def _drawable(loss: float) -> float:
    return max(-_GREATEST, min(_GREATEST, loss))
