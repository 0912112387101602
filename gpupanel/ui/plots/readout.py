"""What all curves of a plot are at the pointer, beside it."""

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.ui import theme
from gpupanel.ui.plots.legend import LegendEntry, draw_mark

_MARGIN, _MARK, _GAP, _FROM_POINTER = 8, 20, 6, 12
_WIDEST_LABEL = 200


class Readout(QWidget):
    """Floats over a plot and beyond it, within the window; the pointer goes through it.

    Args:
        plot: Whose values it shows; it goes with it.
    """

    def __init__(self, plot: QWidget) -> None:
        super().__init__(plot.window())
        self._plot = plot
        plot.destroyed.connect(self.deleteLater)
        self._heading = ""
        self._entries: tuple[LegendEntry, ...] = ()
        self.setProperty("textSize", "small")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def text(self) -> str:
        """All that it says."""
        lines = [f"{entry.label}: {entry.value}" for entry in self._entries]
        return "\n".join([self._heading, *lines])

    def showAt(self, x: int, heading: str, entries: tuple[LegendEntry, ...]) -> None:
        """Stand beside that place, to the side where there is room.

        Args:
            x: Of the pointer, in the plot.
            heading: Where on the axis that is.
            entries: The curves with their values there.
        """
        self._heading, self._entries = heading, entries
        window = self._plot.window()
        if self.parentWidget() is not window:
            self.setParent(window)
        size, place = self.sizeHint(), self._plot.mapTo(window, QPoint(x, _MARGIN))
        right = place.x() + _FROM_POINTER
        fits = right + size.width() <= window.width()
        left = right if fits else max(0, place.x() - _FROM_POINTER - size.width())
        top = max(0, min(place.y(), window.height() - size.height()))
        self.setGeometry(QRect(QPoint(left, top), size))
        self.setVisible(bool(entries))
        self.raise_()
        self.update()

    @override
    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        labels = max((metrics.horizontalAdvance(each) for each in self._labels()), default=0)
        widest = (each.widest_in(metrics) for each in self._entries)
        values = max(map(metrics.horizontalAdvance, widest), default=0)
        row = _MARK + _GAP + labels + 2 * _GAP + values
        width = max(row, metrics.horizontalAdvance(self._heading)) + 2 * _MARGIN
        return QSize(width, self._row_height() * (1 + len(self._entries)) + 2 * _MARGIN)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        colors, row = theme.current(), self._row_height()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(colors.color("strong_border"))
        painter.setBrush(colors.color("raised"))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6.0, 6.0)
        line = QRect(_MARGIN, _MARGIN, self.width() - 2 * _MARGIN, row)
        painter.setPen(colors.color("muted"))
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, self._heading)
        for entry, label in zip(self._entries, self._labels(), strict=True):
            line.translate(0, row)
            draw_mark(painter, entry, QPointF(line.left(), line.center().y() + 0.5), _MARK)
            painter.setPen(colors.color("text"))
            words = line.adjusted(_MARK + _GAP, 0, 0, 0)
            painter.drawText(words, Qt.AlignmentFlag.AlignVCenter, label)
            right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
            painter.drawText(words, right, entry.value)

    def _labels(self) -> list[str]:
        middle = Qt.TextElideMode.ElideMiddle
        metrics = self.fontMetrics()
        return [metrics.elidedText(each.label, middle, _WIDEST_LABEL) for each in self._entries]

    def _row_height(self) -> int:
        return self.fontMetrics().height() + 2
