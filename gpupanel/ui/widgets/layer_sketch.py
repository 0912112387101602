"""A network as a row of boxes with arrows between them."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.ui import theme
from gpupanel.ui.widgets.tips import wrapped

_PADDING = 8
_ARROW = 20
_LINE_GAP = 8


class LayerSketch(QWidget):
    """Draws the layers that an example passes, wrapping to a new line where there is no room."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._layers: tuple[str, ...] = ()
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName("The network")

    def setLayers(self, layers: Sequence[str]) -> None:
        """Draws other layers; the first and the last are what goes in and comes out."""
        if tuple(layers) == self._layers:
            return
        self._layers = tuple(layers)
        words = " → ".join(self._layers)
        self.setAccessibleDescription(words)
        self.setToolTip(wrapped(f"Layers in their order: {words}."))
        self.updateGeometry()
        self.update()

    @override
    def hasHeightForWidth(self) -> bool:
        return True

    @override
    def heightForWidth(self, arg__1: int) -> int:
        places = self._places(arg__1)
        return round(places[-1].bottom()) + 1 if places else self._row_height()

    @override
    def sizeHint(self) -> QSize:
        return QSize(320, self.heightForWidth(max(320, self.width())))

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            self.updateGeometry()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colors = theme.current()
        places = self._places(self.width())
        for index, (layer, place) in enumerate(zip(self._layers, places, strict=True)):
            inner = 0 < index < len(self._layers) - 1
            painter.setPen(QPen(colors.color("accent" if inner else "strong_border"), 1.0))
            painter.setBrush(colors.color("selection" if inner else "raised"))
            painter.drawRoundedRect(place.adjusted(0.5, 0.5, -0.5, -0.5), 6.0, 6.0)
            painter.setPen(colors.color("text" if inner else "muted"))
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, layer)
            if index:
                self._paint_arrow(painter, place)

    def _paint_arrow(self, painter: QPainter, place: QRectF) -> None:
        color = theme.current().color("faint")
        y, tip = place.center().y(), place.left() - 3.0
        painter.setPen(QPen(color, 1.5))
        painter.drawLine(QPointF(tip - _ARROW + 7.0, y), QPointF(tip - 4.0, y))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawPolygon(
            QPolygonF([QPointF(tip - 5.0, y - 3.5), QPointF(tip - 5.0, y + 3.5), QPointF(tip, y)])
        )

    def _row_height(self) -> int:
        return self.fontMetrics().height() + _PADDING

    def _places(self, width: int) -> list[QRectF]:
        """Where each layer's box goes; a box that opens a new line leaves room for its arrow."""
        places: list[QRectF] = []
        x, y, height = 0.0, 0.0, float(self._row_height())
        for layer in self._layers:
            box = float(self.fontMetrics().horizontalAdvance(layer) + 2 * _PADDING)
            x += _ARROW if places else 0.0
            if places and x + box > width:
                x, y = float(_ARROW), y + height + _LINE_GAP
            places.append(QRectF(x, y, box, height))
            x += box
        return places
