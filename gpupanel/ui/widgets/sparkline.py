"""One reading over time, or over the epochs of a training, without axes."""

from collections import deque
from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.ui import theme


class Sparkline(QWidget):
    """A curve from 0 to 100 that moves left with each reading; ``None`` leaves a gap.

    Args:
        color: Number of the device's colour; ``None``: it is of no device.
        length: Readings that are kept.
    """

    def __init__(
        self, color: int | None = None, length: int = 120, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._color = color
        self._values: deque[float | None] = deque(maxlen=length)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def add(self, value: float | None) -> None:
        """Append a reading from 0 to 100."""
        before = tuple(self._values)
        self._values.append(value)
        if tuple(self._values) != before:  # of a device that idles it moves on unchanged
            self.update()

    def setValues(self, values: Sequence[float | None]) -> None:
        """Show these, from 0 to 100, over the whole width."""
        self._values = deque(values, maxlen=max(2, len(values)))
        self.update()

    def values(self) -> tuple[float | None, ...]:
        """The readings that are kept, oldest first."""
        return tuple(self._values)

    @override
    def sizeHint(self) -> QSize:
        return QSize(160, 32)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(48, 32)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect()).adjusted(0.5, 1.0, -0.5, -1.5)
        painter.setPen(QPen(theme.current().color("track"), 1.0))
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        number = self._color
        accent = theme.current().color("accent")
        color = accent if number is None else theme.device_color(number)
        for piece in self._pieces(area):
            self._draw(painter, area, piece, color)

    def _pieces(self, area: QRectF) -> list[list[QPointF]]:
        """The points of each stretch without a gap."""
        kept = self._values.maxlen or 1
        step = area.width() / max(1, kept - 1)
        first = area.right() - step * (len(self._values) - 1)
        pieces: list[list[QPointF]] = [[]]
        values = tuple(self._values)
        for position, value in enumerate(values):
            if value is None:
                pieces.append([])
                continue
            beside = values[max(0, position - 1) : position + 2]
            if beside == (value, value, value):
                continue  # within a level stretch, whose ends are enough
            height = area.height() * min(100.0, max(0.0, value)) / 100.0
            pieces[-1].append(QPointF(first + position * step, area.bottom() - height))
        return [piece for piece in pieces if piece]

    @staticmethod
    def _draw(painter: QPainter, area: QRectF, points: list[QPointF], color: QColor) -> None:
        line = QPolygonF(points)
        under = QPainterPath()
        under.addPolygon(
            QPolygonF(
                [
                    QPointF(points[0].x(), area.bottom()),
                    *points,
                    QPointF(points[-1].x(), area.bottom()),
                ]
            )
        )
        shade = QColor(color)
        shade.setAlphaF(0.18)
        painter.fillPath(under, shade)
        painter.setPen(QPen(color, 1.5))
        painter.drawPolyline(line)
