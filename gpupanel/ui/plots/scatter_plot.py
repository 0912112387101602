"""Points over two axes, each of which stands for something that can be chosen."""

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QHelpEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QToolTip, QWidget
from typing_extensions import override

from gpupanel.domain.visible_text import visible_line
from gpupanel.ui import theme
from gpupanel.ui.plots.plot_surface import SIDES, PlotSurface
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.scatter_axis import CategoryAxis, NumberAxis, ScatterAxis
from gpupanel.ui.widgets.tips import wrapped

_DOT, _CHOSEN_DOT = 8.0, 13.0
_REACH = 10.0
"""Pixels from a point at which it is still meant."""
_JITTER = 0.5
"""The part of a lane of texts over which its points are spread."""
_KEYS: dict[int, int] = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


@dataclass(frozen=True, slots=True)
class ScatterPoint:
    """One point.

    Attributes:
        key: What distinguishes it.
        x: A number, or a text where the axis is one of texts.
        y: A number.
        tip: What it is.
        color: Of a point that is chosen; ``None``: it is not.
    """

    key: str
    x: str | float
    y: float
    tip: str
    color: QColor | None = None


_Placed = tuple[ScatterPoint, float, float]
"""A point with its places on both axes, from 0 to 1."""


class _PlacedAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph has no types
    """Labels what an axis of places from 0 to 1 names."""

    def __init__(self, side: str) -> None:
        super().__init__(side)
        self._room = 0.0
        self._texts: dict[float, str] = {}

    def setPlaces(self, axis: ScatterAxis) -> None:
        """Name these places."""
        self._texts = {place: visible_line(text) for place, text in axis.ticks()}
        self.picture = None
        self.update()

    @override
    def tickValues(
        self, minVal: float, maxVal: float, size: float
    ) -> list[tuple[float, list[float]]]:
        """All places; from left to right each has as much room as there is for all."""
        self._room = size / max(1, len(self._texts)) - 4.0
        return [(1.0, list(self._texts))]

    @override
    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        """Their names, as much of them as has room."""
        if self.orientation == "left":
            return [self._texts[each] for each in values]
        metrics, mode = QFontMetricsF(self.style["tickFont"]), Qt.TextElideMode.ElideRight
        return [metrics.elidedText(self._texts[each], mode, self._room) for each in values]


class ScatterPlot(PlotSurface):
    """Shows which point is under the pointer; a click chooses it, a double click opens it.

    By keys: Left and Right go from point to point, Return opens.
    """

    chosen = Signal(str)
    """A person chose the point of that key."""
    opened = Signal(str)
    """What the point of that key stands for is to be opened."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self._placed: tuple[_Placed, ...] = ()
        self._titles = ("", "")
        self._current: str | None = None
        self._faint = pg.ScatterPlotItem(size=_DOT, pen=pg.mkPen(None))
        self._marked = pg.ScatterPlotItem()
        self._axes = {side: _PlacedAxis(side) for side in SIDES}
        super().__init__(self._axes["bottom"], self._axes["left"], parent=parent)
        self.setObjectName("scatter_plot")
        # What is chosen lies above all else.
        self.addItem(self._faint)
        self.addItem(self._marked)
        self._box.setRange(xRange=(0.0, 1.0), yRange=(0.0, 1.0), padding=0.0)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Scatter plot of runs")
        self.recolor()

    def setPoints(
        self,
        points: Sequence[ScatterPoint],
        x_axis: CategoryAxis | NumberAxis | None,
        y_axis: NumberAxis | None,
        titles: tuple[str, str],
    ) -> None:
        """Draw these points; those that stand nowhere on an axis are left out.

        Args:
            points: Their numbers and texts.
            x_axis: From left to right; ``None`` where there is no point.
            y_axis: From below.
            titles: Of both axes.
        """
        self._placed, self._titles = (), titles
        if x_axis is not None and y_axis is not None:
            self._placed = _placed(points, x_axis, y_axis)
            self._axes["bottom"].setPlaces(x_axis)
            self._axes["left"].setPlaces(y_axis)
            for side, title in zip(("bottom", "left"), titles, strict=True):
                self.setAxisTitle(side, title)
        self._draw()

    def points(self) -> tuple[ScatterPoint, ...]:
        """The points that are drawn."""
        return tuple(point for point, _, _ in self._placed)

    def place_of(self, key: str) -> QPointF | None:
        """Where the point of that key is drawn, in pixels."""
        return next((at for at, point in self._in_pixels() if point.key == key), None)

    def point_at(self, place: QPointF) -> ScatterPoint | None:
        """The nearest point within reach."""
        near = [
            (math.hypot(at.x() - place.x(), at.y() - place.y()), number)
            for number, (at, _) in enumerate(self._in_pixels())
        ]
        distance, number = min(near, default=(math.inf, -1))
        return self._placed[number][0] if distance <= _REACH else None

    @override
    def sizeHint(self) -> QSize:
        return QSize(80 * GRID, 52 * GRID)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(40 * GRID, 30 * GRID)

    @override
    def mousePressEvent(self, ev: QMouseEvent) -> None:
        point = self.point_at(ev.position())
        if point is not None and ev.button() is Qt.MouseButton.LeftButton:
            self._choose(point)

    @override
    def mouseDoubleClickEvent(self, ev: QMouseEvent) -> None:
        point = self.point_at(ev.position())
        if point is not None:
            self.opened.emit(point.key)

    @override
    def mouseMoveEvent(self, ev: QMouseEvent) -> None:
        point = self.point_at(ev.position())
        shape = Qt.CursorShape.ArrowCursor if point is None else Qt.CursorShape.PointingHandCursor
        self.viewport().setCursor(shape)

    @override
    def keyPressEvent(self, ev: QKeyEvent) -> None:
        ordered = [point for _, point in sorted(self._in_pixels(), key=_from_left)]
        if ordered and ev.key() in _KEYS:
            keys = [point.key for point in ordered]
            by = _KEYS[ev.key()]
            number = keys.index(self._current) + by if self._current in keys else 0
            self._choose(ordered[number % len(ordered)])
        elif ev.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._current is not None:
            self.opened.emit(self._current)
        else:
            super().keyPressEvent(ev)

    @override
    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            point = self.point_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), "" if point is None else wrapped(point.tip), self)
            return True
        return bool(super().viewportEvent(event))

    @override
    def recolor(self) -> None:
        super().recolor()
        self._draw()

    def _draw(self) -> None:
        faint, edge = theme.current().color("muted"), theme.current().color("text")
        faint.setAlpha(130)
        others = [each for each in self._placed if not self._is_marked(each[0])]
        placed = [each for each in self._placed if self._is_marked(each[0])]
        marked = [point for point, _, _ in placed]
        none, around = pg.mkPen(None), pg.mkPen(edge, width=1.5)
        self._faint.setData(*_places(others), brush=pg.mkBrush(faint))
        self._marked.setData(
            *_places(placed),
            size=[_DOT if point.color is None else _CHOSEN_DOT for point in marked],
            brush=[pg.mkBrush(point.color or faint) for point in marked],
            pen=[around if self._is_current(point) else none for point in marked],
        )
        current = next((point.tip for point in marked if self._is_current(point)), "")
        across, up = self._titles
        words = f"{len(self._placed):,} runs: {up} over {across}. {current}".rstrip()
        self.setAccessibleDescription(visible_line(words))

    def _is_current(self, point: ScatterPoint) -> bool:
        return point.key == self._current

    def _is_marked(self, point: ScatterPoint) -> bool:
        return point.color is not None or self._is_current(point)

    def _in_pixels(self) -> list[tuple[QPointF, ScatterPoint]]:
        area = self.curves_place()
        return [
            (QPointF(area.left() + x * area.width(), area.bottom() - y * area.height()), point)
            for point, x, y in self._placed
        ]

    def _choose(self, point: ScatterPoint) -> None:
        self._current = point.key
        self._draw()
        self.chosen.emit(point.key)


def _placed(
    points: Sequence[ScatterPoint], x_axis: CategoryAxis | NumberAxis, y_axis: NumberAxis
) -> tuple[_Placed, ...]:
    """Points with their places, from 0 to 1."""
    found = []
    for point in points:
        x, y = x_axis.place(point.x), y_axis.place(point.y)
        if x is None or y is None:
            continue
        if isinstance(x_axis, CategoryAxis):
            # By its key, so that a point stays where it is while others come.
            part = zlib.crc32(point.key.encode(errors="replace")) / 2.0**32 - 0.5
            x += _JITTER * part * x_axis.lane
        found.append((point, x, y))
    return tuple(found)


def _places(placed: Sequence[_Placed]) -> tuple[list[float], list[float]]:
    return [x for _, x, _ in placed], [y for _, _, y in placed]


def _from_left(placed: tuple[QPointF, ScatterPoint]) -> tuple[float, float]:
    return placed[0].x(), -placed[0].y()
