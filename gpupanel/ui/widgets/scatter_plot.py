"""Points over two axes, each of which stands for something that can be chosen."""

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.domain.visible_text import visible_line
from gpupanel.ui import theme
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.painted_widget import PaintedWidget
from gpupanel.ui.widgets.scatter_axis import CategoryAxis, NumberAxis, ScatterAxis
from gpupanel.ui.widgets.tips import wrapped

_DOT, _CHOSEN_DOT = 4.0, 6.5
_REACH = 10.0
"""Pixels from a point at which it is still meant."""
_JITTER = 0.5
"""Of a lane of texts, over which its points are spread."""
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


class ScatterPlot(PaintedWidget):
    """Shows which point is under the pointer; a click chooses it, a double click opens it.

    By keys: Left and Right go from point to point, Return opens.
    """

    chosen = Signal(str)
    """A person chose the point of that key."""
    opened = Signal(str)
    """What the point of that key stands for is to be opened."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("scatter_plot")
        self._points: tuple[ScatterPoint, ...] = ()
        self._axes: tuple[ScatterAxis, ScatterAxis] | None = None
        self._titles = ("", "")
        self._current: str | None = None
        self.setFont(theme.small_font(self.font()))
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Scatter plot of runs")

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
        self._axes = None if x_axis is None or y_axis is None else (x_axis, y_axis)
        self._points, self._titles = tuple(points), titles
        self._describe()
        self.update()

    def place_of(self, key: str) -> QPointF | None:
        """Where the point of that key is drawn, in pixels."""
        point = next((each for each in self._points if each.key == key), None)
        return None if point is None else self._place(point)

    def point_at(self, place: QPointF) -> ScatterPoint | None:
        """The nearest point within reach."""
        near = [
            (math.hypot(at.x() - place.x(), at.y() - place.y()), number)
            for number, point in enumerate(self._points)
            if (at := self._place(point)) is not None
        ]
        distance, number = min(near, default=(math.inf, -1))
        return self._points[number] if distance <= _REACH else None

    @override
    def sizeHint(self) -> QSize:
        return QSize(80 * GRID, 52 * GRID)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(40 * GRID, 30 * GRID)

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        point = self.point_at(event.position())
        if point is not None and event.button() is Qt.MouseButton.LeftButton:
            self._choose(point)

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        point = self.point_at(event.position())
        if point is not None:
            self.opened.emit(point.key)

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        point = self.point_at(event.position())
        shape = Qt.CursorShape.ArrowCursor if point is None else Qt.CursorShape.PointingHandCursor
        self.setCursor(shape)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        placed = [(at, each) for each in self._points if (at := self._place(each)) is not None]
        if not placed:
            super().keyPressEvent(event)
        elif event.key() in _KEYS:
            ordered = sorted(placed, key=lambda each: (each[0].x(), -each[0].y()))
            keys = [point.key for _, point in ordered]
            by = _KEYS[event.key()]
            number = keys.index(self._current) + by if self._current in keys else 0
            self._choose(ordered[number % len(ordered)][1])
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._current is not None:
            self.opened.emit(self._current)
        else:
            super().keyPressEvent(event)

    @override
    def tip_at(self, position: QPointF) -> str:
        point = self.point_at(position)
        return "" if point is None else wrapped(point.tip)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if self._axes is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_axes(painter, self._axes)
        faint = theme.current().color("muted")
        faint.setAlpha(130)
        edge = theme.current().color("text")
        # What is chosen lies above all else.
        for point in sorted(self._points, key=lambda each: each.color is not None):
            place = self._place(point)
            if place is None:
                continue
            is_current = point.key == self._current
            painter.setPen(QPen(edge, 1.5) if is_current else Qt.PenStyle.NoPen)
            painter.setBrush(point.color or faint)
            size = _DOT if point.color is None else _CHOSEN_DOT
            painter.drawEllipse(place, size, size)

    def _paint_axes(self, painter: QPainter, axes: tuple[ScatterAxis, ScatterAxis]) -> None:
        colors, area = theme.current(), self._area()
        line = float(self.fontMetrics().height())
        track, muted = QPen(colors.color("track"), 1.0), colors.color("muted")
        ticks = axes[0].ticks()
        room = area.width() / max(1, len(ticks))
        for part, text in ticks:
            x = area.left() + part * area.width()
            painter.setPen(track)
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
            painter.setPen(muted)
            elided = self._elided(text, room - 4.0)
            place = QRectF(x - room / 2.0, area.bottom() + 2.0, room, line)
            painter.drawText(place, Qt.AlignmentFlag.AlignHCenter, elided)
        beside = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for part, text in axes[1].ticks():
            y = area.bottom() - part * area.height()
            painter.setPen(track)
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            painter.setPen(muted)
            painter.drawText(QRectF(0.0, y - line / 2.0, area.left() - GRID, line), beside, text)
        painter.setPen(colors.color("text"))
        below = QRectF(area.left(), area.bottom() + line + 4.0, area.width(), line)
        painter.drawText(below, Qt.AlignmentFlag.AlignHCenter, visible_line(self._titles[0]))
        painter.drawText(QPointF(area.left(), area.top() - GRID), visible_line(self._titles[1]))

    def _elided(self, text: str, room: float) -> str:
        mode = Qt.TextElideMode.ElideRight
        return self.fontMetrics().elidedText(visible_line(text), mode, max(0, int(room)))

    def _area(self) -> QRectF:
        metrics = self.fontMetrics()
        texts = [] if self._axes is None else [text for _, text in self._axes[1].ticks()]
        left = max((metrics.horizontalAdvance(text) for text in texts), default=0) + 2.0 * GRID
        line = metrics.height()
        return QRectF(self.rect()).adjusted(
            left, line + 2.0 * GRID, -2.0 * GRID, -2.0 * line - GRID
        )

    def _place(self, point: ScatterPoint) -> QPointF | None:
        if self._axes is None:
            return None
        x_axis, y_axis = self._axes
        x, y = x_axis.place(point.x), y_axis.place(point.y)
        if x is None or y is None:
            return None
        if isinstance(x_axis, CategoryAxis):
            # By its key, so that a point stays where it is while others come.
            part = zlib.crc32(point.key.encode(errors="replace")) / 2.0**32 - 0.5
            x += _JITTER * part * x_axis.lane
        area = self._area()
        return QPointF(area.left() + x * area.width(), area.bottom() - y * area.height())

    def _choose(self, point: ScatterPoint) -> None:
        self._current = point.key
        self._describe()
        self.update()
        self.chosen.emit(point.key)

    def _describe(self) -> None:
        current = (each.tip for each in self._points if each.key == self._current)
        across, up = self._titles
        words = f"{len(self._points):,} runs: {up} over {across}. {next(current, '')}".rstrip()
        self.setAccessibleDescription(visible_line(words))
