"""A dot in a device's colour."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.ui import theme


class ColorDot(QWidget):
    """Stands before a device's name; hollow while the device is not in use.

    Args:
        number: Of the device's colour; ``None`` for one that is not in this machine.
    """

    def __init__(self, number: int | None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._number = number
        self._is_filled = True
        self.setFixedSize(self.sizeHint())

    def setFilled(self, filled: bool) -> None:
        """Fill it: the device is in use."""
        self._is_filled = filled
        self.update()

    @override
    def sizeHint(self) -> QSize:
        return QSize(12, 12)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if self._number is None:
            color = theme.current().color("others")
        else:
            color = theme.device_color(self._number)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = painter.pen()
        pen.setColor(color)
        pen.setWidthF(2.0)
        painter.setPen(pen)
        painter.setBrush(color if self._is_filled else Qt.BrushStyle.NoBrush)
        painter.drawEllipse(QRectF(2.0, 2.0, 8.0, 8.0))
