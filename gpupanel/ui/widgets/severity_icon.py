"""Severity as a shape and a colour: a cross in a disc, an exclamation mark, an i."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPixmap, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.domain.problem import Severity
from gpupanel.ui import theme

SIZE = 18

_ROLES = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "accent"}


class SeverityIcon(QWidget):
    """Shows the severity without relying on colour: each one has a shape of its own.

    ``None`` draws a tick, for what is well.
    """

    def __init__(self, severity: Severity | None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._severity = severity
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def setSeverity(self, severity: Severity | None) -> None:
        """Draws another severity."""
        self._severity = severity
        self.update()

    @override
    def sizeHint(self) -> QSize:
        return QSize(SIZE, SIZE)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        _paint(QPainter(self), self._severity)


def severity_pixmap(severity: Severity | None, ratio: float) -> QPixmap:
    """The same mark, for the cell of a table.

    Args:
        severity: As that of :class:`SeverityIcon`.
        ratio: Pixels of the screen to one of the window.
    """
    size = round(SIZE * ratio)
    pixmap = QPixmap(size, size)
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    _paint(painter, severity)
    painter.end()
    return pixmap


def _paint(painter: QPainter, severity: Severity | None) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    color = theme.current().color(_ROLES[severity] if severity else "good")
    place = QRectF(1.0, 1.0, SIZE - 2.0, SIZE - 2.0)
    _paint_shape(painter, severity, place, color)
    _paint_mark(painter, severity, place.center())


def _paint_shape(
    painter: QPainter, severity: Severity | None, place: QRectF, color: QColor
) -> None:
    painter.setPen(QPen(color, 2.0, j=Qt.PenJoinStyle.RoundJoin))
    painter.setBrush(color)
    if severity is Severity.WARNING:
        top = QPointF(place.center().x(), place.top() + 1.0)
        painter.drawPolygon(
            QPolygonF(
                [
                    top,
                    QPointF(place.right() - 0.5, place.bottom() - 1.5),
                    QPointF(place.left() + 0.5, place.bottom() - 1.5),
                ]
            )
        )
    else:
        painter.drawEllipse(place.adjusted(1.0, 1.0, -1.0, -1.0))


def _paint_mark(painter: QPainter, severity: Severity | None, centre: QPointF) -> None:
    ink = theme.current().color("surface")
    painter.setPen(QPen(ink, 1.8, c=Qt.PenCapStyle.RoundCap))
    x, y = centre.x(), centre.y()
    match severity:
        case Severity.ERROR:
            painter.drawLine(QPointF(x - 3.0, y - 3.0), QPointF(x + 3.0, y + 3.0))
            painter.drawLine(QPointF(x - 3.0, y + 3.0), QPointF(x + 3.0, y - 3.0))
        case Severity.WARNING:
            painter.drawLine(QPointF(x, y - 2.5), QPointF(x, y + 1.5))
            painter.drawPoint(QPointF(x, y + 4.7))
        case Severity.HINT:
            painter.drawPoint(QPointF(x, y - 3.6))
            painter.drawLine(QPointF(x, y - 0.4), QPointF(x, y + 3.8))
        case None:
            painter.drawPolyline(
                QPolygonF(
                    [QPointF(x - 3.5, y), QPointF(x - 1.0, y + 2.8), QPointF(x + 3.6, y - 2.8)]
                )
            )
