"""A picture over two axes with a few round numbers each, in a card under its title."""

from abc import abstractmethod

from PySide6.QtCore import QLineF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QVBoxLayout, QWidget
from typing_extensions import override

from gpupanel.domain.number_text import short_number
from gpupanel.domain.round_numbers import round_numbers
from gpupanel.ui import theme
from gpupanel.ui.theme import GRID

Range = tuple[float, float]

_TICKS = 5


class Picture(QWidget):
    """Axes, and on them what a subclass paints.

    Args:
        titles: Of the axes, from left to right and from below.
    """

    def __init__(self, titles: tuple[str, str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._titles = titles
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    @abstractmethod
    def ranges(self) -> tuple[Range, Range] | None:
        """What the axes span, from left to right and from below; ``None``: nothing is drawn."""
        ...

    @abstractmethod
    def paint(self, painter: QPainter, area: QRectF) -> None:
        """Paint into the area between the axes."""
        ...

    def area(self) -> QRectF:
        """The place between the axes."""
        ranges = self.ranges()
        if ranges is None:
            return QRectF()
        metrics = QFontMetricsF(theme.small_font(self.font()))
        line, wide = metrics.height(), self._widest(ranges[1], metrics)
        return QRectF(self.rect()).adjusted(wide + GRID, line + GRID, -2 * GRID, -2 * line - GRID)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(240, 180)

    @override
    def sizeHint(self) -> QSize:
        return QSize(400, 320)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        ranges = self.ranges()
        if ranges is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.small_font(self.font()))
        self._paint_axes(painter, ranges, self.area())
        self.paint(painter, self.area())

    def _paint_axes(self, painter: QPainter, ranges: tuple[Range, Range], area: QRectF) -> None:
        x, y = ranges
        metrics = QFontMetricsF(painter.font())
        line, wide = metrics.height(), self._widest(y, metrics)
        painter.setPen(theme.current().color("muted"))
        above, below = Qt.AlignmentFlag.AlignTop, Qt.AlignmentFlag.AlignBottom
        whole = QRectF(self.rect())
        painter.drawText(whole, above | Qt.AlignmentFlag.AlignLeft, self._titles[1])
        right = whole.adjusted(0, 0, -2 * GRID, 0)
        painter.drawText(right, below | Qt.AlignmentFlag.AlignRight, self._titles[0])
        for value in round_numbers(*y, _TICKS):
            at = place_of(value, y, area.bottom(), area.top())
            _paint_line(painter, QLineF(area.left(), at, area.right(), at))
            box = QRectF(0, at - line / 2, wide, line)
            painter.drawText(box, Qt.AlignmentFlag.AlignRight, short_number(value, 3))
        ticks = max(2, min(_TICKS, int(area.width() / (1.8 * max(wide, 40)))))
        for value in round_numbers(*x, ticks):
            at = place_of(value, x, area.left(), area.right())
            text = short_number(value, 3)
            half = metrics.horizontalAdvance(text) / 2 + 1
            # Beside the last tick there may be less room than its text needs.
            left = min(at - half, whole.right() - 2 * half)
            box = QRectF(left, area.bottom() + GRID / 2, 2 * half, line)
            painter.drawText(box, Qt.AlignmentFlag.AlignHCenter, text)

    @staticmethod
    def _widest(y: Range, metrics: QFontMetricsF) -> float:
        texts = (short_number(value, 3) for value in round_numbers(*y, _TICKS))
        return max((metrics.horizontalAdvance(text) for text in texts), default=0.0)


def card(title: str, *parts: QWidget) -> QFrame:
    """Parts under their title, one below the other; the last one takes what room is left."""
    frame = QFrame()
    frame.setProperty("card", "true")
    caption = QLabel(title)
    caption.setProperty("role", "section")
    inside = QVBoxLayout(frame)
    inside.setContentsMargins(2 * GRID, GRID, GRID, GRID)
    inside.setSpacing(GRID)
    inside.addWidget(caption)
    for part in parts:
        inside.addWidget(part, int(part is parts[-1]))
    return frame


def place_of(value: float, of: Range, start: float, end: float) -> float:
    """Where a value lies between two points that stand for the ends of a range."""
    return start + (value - of[0]) / (of[1] - of[0]) * (end - start)


def _paint_line(painter: QPainter, line: QLineF) -> None:
    painter.save()
    painter.setPen(theme.current().color("border"))
    painter.drawLine(line)
    painter.restore()
