"""A plot as lines and words on any painter, such as that of an SVG document.

What pyqtgraph paints itself is stretched by transformations that only some programs undo for the
widths of lines: a document has to have its lines where they are, and as wide as they are.
"""

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen, QPolygonF

from gpupanel.ui import theme
from gpupanel.ui.plots.drawn_curve import DrawnCurve
from gpupanel.ui.plots.plot_canvas import PlotCanvas

if TYPE_CHECKING:
    from gpupanel.ui.plots.sample_buffer import Floats

_LINE, _DOT, _RING, _TRIANGLE = 1.2, 3.0, 7.0, 4.0
"""Widths and radii in pixels."""
_LABEL_WIDTH, _LABEL_HEIGHT, _LABEL_GAP = 100.0, 16.0, 5.0


class PrintedPlot:
    """Draws what a canvas shows.

    Args:
        canvas: Of the size that is drawn, up to date.
        painter: Draws.
        origin: Where the canvas's upper left corner is for the painter.
    """

    def __init__(self, canvas: PlotCanvas, painter: QPainter, origin: QPointF) -> None:
        self._canvas, self._painter = canvas, painter
        self._place: QRectF = canvas.curves_place().translated(origin)
        self._start, self._end = canvas.time_range
        self._low, self._high = canvas.value_range

    def draw(self) -> None:
        """Axes, then curves, then what is marked."""
        painter = self._painter
        painter.save()
        painter.setBrush(Qt.BrushStyle.NoBrush)
        self._draw_axes()
        for drawn in self._canvas.drawn_curves():
            self._draw_curve(drawn)
        self._draw_marks()
        painter.restore()

    def _draw_axes(self) -> None:
        painter, place, colors = self._painter, self._place, theme.current()
        painter.setFont(theme.small_font(self._canvas.font()))
        for position, text in self._canvas.ticks("left"):
            y = self._y(position)
            painter.setPen(QPen(colors.color("border"), 1.0))
            painter.drawLine(QPointF(place.left(), y), QPointF(place.right(), y))
            left = place.left() - _LABEL_GAP - _LABEL_WIDTH
            label = QRectF(left, y - _LABEL_HEIGHT / 2.0, _LABEL_WIDTH, _LABEL_HEIGHT)
            painter.setPen(colors.color("muted"))
            sides = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(label, sides, text)
        for position, text in self._canvas.ticks("bottom"):
            left = self._x(position) - _LABEL_WIDTH / 2.0
            label = QRectF(left, place.bottom() + 2.0, _LABEL_WIDTH, _LABEL_HEIGHT)
            painter.drawText(label, Qt.AlignmentFlag.AlignCenter, text)
        painter.setPen(QPen(colors.color("strong_border"), 1.0))
        painter.drawLine(place.topLeft(), place.bottomLeft())
        painter.drawLine(place.bottomLeft(), place.bottomRight())

    def _draw_curve(self, drawn: DrawnCurve) -> None:
        painter, color = self._painter, drawn.color()
        pen = QPen(color, _LINE)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        if drawn.dashes:
            # A pen counts in its own widths.
            pen.setDashPattern([dash / _LINE for dash in drawn.dashes])
        painter.setPen(pen)
        places, values = drawn.points()
        known = np.isfinite(values)
        ends = np.flatnonzero(np.diff(known.astype(np.int8))) + 1
        for part in np.split(np.arange(values.size), ends):
            if part.size and known[part[0]]:
                x, y = self._pixels(places[part], values[part])
                for line in cut_to(self._place, x, y):
                    painter.drawPolyline(QPolygonF(line))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QBrush(color))
        if drawn.has_dots:
            for point in self._points(places[known], values[known]):
                painter.drawEllipse(point, _DOT, _DOT)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        ring = drawn.ring_points()
        painter.setPen(QPen(color, 2.0))
        for point in self._points(*ring):
            painter.drawEllipse(point, _RING, _RING)

    def _draw_marks(self) -> None:
        painter, colors = self._painter, theme.current()
        checkpoints, resumptions = self._canvas.marked()
        painter.setPen(QPen(colors.color("strong_border"), 1.0, Qt.PenStyle.DashLine))
        for position in resumptions.tolist():
            x = self._x(position)
            painter.drawLine(QPointF(x, self._place.top()), QPointF(x, self._place.bottom()))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QBrush(QColor(colors.color("good"))))
        y = self._place.bottom() - 2.0
        for position in checkpoints.tolist():
            x = self._x(position)
            corners = [
                QPointF(x - _TRIANGLE, y),
                QPointF(x + _TRIANGLE, y),
                QPointF(x, y - 2.0 * _TRIANGLE),
            ]
            painter.drawPolygon(QPolygonF(corners))
        painter.setBrush(QBrush(QColor(colors.color("warning"))))
        y = self._place.top() + 2.0
        for position in self._canvas.marked_findings().tolist():
            x = self._x(position)
            corners = [
                QPointF(x - _TRIANGLE, y),
                QPointF(x + _TRIANGLE, y),
                QPointF(x, y + 2.0 * _TRIANGLE),
            ]
            painter.drawPolygon(QPolygonF(corners))

    def _pixels(self, places: "Floats", values: "Floats") -> "tuple[Floats, Floats]":
        x = (places - self._start) * self._place.width() / (self._end - self._start)
        y = (values - self._low) * self._place.height() / (self._high - self._low)
        return self._place.left() + x, self._place.bottom() - y

    def _points(self, places: "Floats", values: "Floats") -> list[QPointF]:
        """The points that are within the edges."""
        x, y = self._pixels(places, values)
        points = [QPointF(*point) for point in zip(x.tolist(), y.tolist(), strict=True)]
        return [point for point in points if self._place.contains(point)]

    def _x(self, position: float) -> float:
        return float(self._pixels(np.array([position]), np.array([self._low]))[0][0])

    def _y(self, value: float) -> float:
        return float(self._pixels(np.array([self._start]), np.array([value]))[1][0])


def cut_to(place: QRectF, x: "Floats", y: "Floats") -> list[list[QPointF]]:
    """The parts of a line that are within a rectangle: not every program cuts off what is beyond.

    Args:
        place: Within it.
        x: Of the line's points, finite, one dimension.
        y: One for each of these.
    """
    begin, end = np.stack((x[:-1], y[:-1])), np.stack((x[1:], y[1:]))
    way = end - begin
    low = np.array([[place.left()], [place.top()]])
    high = np.array([[place.right()], [place.bottom()]])
    # Where each piece, from 0 to 1, comes to the edges of both directions, and leaves them.
    with np.errstate(divide="ignore", invalid="ignore"):
        to_low, to_high = (low - begin) / way, (high - begin) / way
    stands = way == 0.0
    is_within = (low <= begin) & (begin <= high)
    enters = np.where(stands, np.where(is_within, -np.inf, np.inf), np.minimum(to_low, to_high))
    leaves = np.where(stands, np.inf, np.maximum(to_low, to_high))
    first = np.maximum(0.0, enters.max(axis=0))
    last = np.minimum(1.0, leaves.min(axis=0))
    lines: list[list[QPointF]] = []
    goes_on, previous = False, -1
    for piece in np.flatnonzero(first < last).tolist():
        start = begin[:, piece] + first[piece] * way[:, piece]
        stop = begin[:, piece] + last[piece] * way[:, piece]
        if not (goes_on and first[piece] == 0.0 and piece == previous + 1):
            lines.append([QPointF(*start.tolist())])
        lines[-1].append(QPointF(*stop.tolist()))
        goes_on, previous = bool(last[piece] == 1.0), piece
    return lines
