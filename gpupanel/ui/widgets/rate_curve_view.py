"""The learning rate over the epochs of a training, as a small drawn curve."""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.ui import theme
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.tips import wrapped

_HEIGHT = 12 * GRID


class RateCurveView(QWidget):
    """A curve that begins at 0, with its greatest value and the epochs written beside it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rates: tuple[float, ...] = ()
        self._epochs = 0
        self._note = ""
        self.setFont(theme.small_font(self.font()))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Learning rate over the epochs")

    def setCurve(self, rates: Sequence[float], epochs: int, note: str = "") -> None:
        """Draw other rates.

        Args:
            rates: From the first step to the end, equally far apart.
            epochs: Of the training.
            note: What a curve cannot say.
        """
        self._rates, self._epochs, self._note = tuple(rates), epochs, note
        words = f"From {rates[0]:.3g} to {rates[-1]:.3g}, at most {max(rates):.3g}."
        self.setAccessibleDescription(f"{words} {note}".strip())
        self.setToolTip(wrapped(f"{words} {note}".strip()))
        self.update()

    @property
    def rates(self) -> tuple[float, ...]:
        """The rates that are drawn."""
        return self._rates

    @override
    def sizeHint(self) -> QSize:
        return QSize(30 * GRID, _HEIGHT)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(15 * GRID, _HEIGHT)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._rates:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colors, line = theme.current(), float(self.fontMetrics().height())
        greatest = f"{max(self._rates):.3g}"
        left = max(map(self.fontMetrics().horizontalAdvance, (greatest, "0"))) + GRID
        area = QRectF(self.rect()).adjusted(left, line / 2, -1.0, -line - GRID / 2)
        painter.setPen(QPen(colors.color("track"), 1.0))
        painter.drawLine(area.topLeft(), area.topRight())
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        painter.setPen(colors.color("muted"))
        beside = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for text, y in ((greatest, area.top()), ("0", area.bottom())):
            painter.drawText(QRectF(0, y - line / 2, left - GRID, line), beside, text)
        below = QRectF(area.left(), area.bottom() + GRID / 2, area.width(), line)
        epochs = f"{self._epochs:,} epoch{'' if self._epochs == 1 else 's'}"
        painter.drawText(below, Qt.AlignmentFlag.AlignLeft, self._note or "start")
        painter.drawText(below, Qt.AlignmentFlag.AlignRight, epochs)
        _draw(painter, self._points(area), area.bottom(), colors.color("accent"))

    def _points(self, area: QRectF) -> list[QPointF]:
        greatest, last = max(self._rates), max(1, len(self._rates) - 1)
        return [
            QPointF(
                area.left() + area.width() * place / last,
                area.bottom() - area.height() * (rate / greatest if greatest else 0.0),
            )
            for place, rate in enumerate(self._rates)
        ]


def _draw(painter: QPainter, points: list[QPointF], bottom: float, color: QColor) -> None:
    under = QPainterPath()
    ends = [QPointF(points[0].x(), bottom), QPointF(points[-1].x(), bottom)]
    under.addPolygon(QPolygonF([ends[0], *points, ends[1]]))
    shade = QColor(color)
    shade.setAlphaF(0.18)
    painter.fillPath(under, shade)
    painter.setPen(QPen(color, 1.5))
    painter.drawPolyline(QPolygonF(points))
