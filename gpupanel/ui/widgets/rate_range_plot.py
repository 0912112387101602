"""The loss over the learning rate, of which one is chosen by a click."""

import math
from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.domain.rate_range import RatePoint
from gpupanel.ui import theme
from gpupanel.ui.theme import GRID

_DOT = 4.0


class RateRangePlot(QWidget):
    """A curve over powers of ten, with a line at the rate that is chosen; click or drag it."""

    rateChosen = Signal(float)
    """A person chose that rate."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("rate_range_plot")
        self._points: tuple[RatePoint, ...] = ()
        self._chosen: float | None = None
        self.setFont(theme.small_font(self.font()))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Loss over the learning rate")
        self.setCursor(Qt.CursorShape.CrossCursor)

    def setPoints(self, points: Sequence[RatePoint], chosen: float | None) -> None:
        """Draw other points, with a line at that rate."""
        self._points, self._chosen = tuple(points), chosen
        words = f"{len(points)} steps" + ("" if chosen is None else f", {chosen:g} is chosen")
        self.setAccessibleDescription(words)
        self.update()

    def chosen(self) -> float | None:
        """The rate at the line; ``None``: there is none."""
        return self._chosen

    @override
    def sizeHint(self) -> QSize:
        return QSize(80 * GRID, 52 * GRID)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(40 * GRID, 48 * GRID)

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._choose(event.position().x())

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._choose(event.position().x())

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._points:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = self._area()
        self._paint_axes(painter, area)
        raw, smoothed = QPainterPath(), QPainterPath()
        for number, point in enumerate(self._points):
            for path, loss in ((raw, point.loss), (smoothed, point.smoothed)):
                place = QPointF(self._x(point.rate), self._y(loss))
                path.lineTo(place) if number else path.moveTo(place)
        painter.setClipRect(area)
        painter.setPen(QPen(theme.current().color("strong_border"), 1.0))
        painter.drawPath(raw)
        painter.setPen(QPen(theme.current().color("accent"), 2.0))
        painter.drawPath(smoothed)
        if self._chosen is not None:
            x = self._x(self._chosen)
            painter.setPen(QPen(theme.current().color("good"), 1.5, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
            nearest = min(self._points, key=lambda point: abs(self._x(point.rate) - x))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.current().color("good"))
            painter.drawEllipse(QPointF(x, self._y(nearest.smoothed)), _DOT, _DOT)

    def _paint_axes(self, painter: QPainter, area: QRectF) -> None:
        colors, metrics = theme.current(), self.fontMetrics()
        low, high = self._decades()
        beside = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        line = float(metrics.height())
        for power in range(math.ceil(low), math.floor(high) + 1):
            x = self._x(10.0**power)
            painter.setPen(QPen(colors.color("track"), 1.0))
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
            painter.setPen(colors.color("muted"))
            place = QRectF(x - 40.0, area.bottom() + 2.0, 80.0, line)
            painter.drawText(place, Qt.AlignmentFlag.AlignHCenter, f"{10.0**power:g}")
        least, most = self._losses()
        for part in (0.0, 0.25, 0.5, 0.75, 1.0):
            loss = least + part * (most - least)
            y = self._y(loss)
            painter.setPen(QPen(colors.color("track"), 1.0))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            painter.setPen(colors.color("muted"))
            place = QRectF(0.0, y - line / 2.0, area.left() - GRID, line)
            painter.drawText(place, beside, f"{loss:.3g}")

    def _choose(self, x: float) -> None:
        if not self._points:
            return
        area = self._area()
        low, high = self._decades()
        part = min(1.0, max(0.0, (x - area.left()) / max(1.0, area.width())))
        self._chosen = float(f"{10.0 ** (low + part * (high - low)):.1e}")
        self.update()
        self.rateChosen.emit(self._chosen)

    def _area(self) -> QRectF:
        left = self.fontMetrics().horizontalAdvance("0.00e+00") + GRID
        below = self.fontMetrics().height() + GRID
        return QRectF(self.rect()).adjusted(left, GRID, -2.0 * GRID, -below)

    def _decades(self) -> tuple[float, float]:
        low, high = (math.log10(self._points[place].rate) for place in (0, -1))
        return low, max(high, low + 1.0)

    def _losses(self) -> tuple[float, float]:
        """What is drawn; the end, where the loss leaves its range, may lie above."""
        smoothed = [point.smoothed for point in self._points]
        least = min(*smoothed, *(point.loss for point in self._points))
        most = min(max(smoothed), 1.5 * max(smoothed[0], least) - 0.5 * least)
        margin = 0.04 * (most - least) if most > least else 0.5
        return least - margin, most + margin

    def _x(self, rate: float) -> float:
        area, (low, high) = self._area(), self._decades()
        return area.left() + area.width() * (math.log10(rate) - low) / (high - low)

    def _y(self, loss: float) -> float:
        area, (least, most) = self._area(), self._losses()
        return area.bottom() - area.height() * (loss - least) / (most - least)
