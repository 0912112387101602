"""Which curve is which, and what it stands at."""

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRect, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.ui import theme
from gpupanel.ui.widgets.tips import wrapped

_MARK, _LONG_MARK, _GAP, _BETWEEN = 8, 24, 5, 14
"""Pixels; a mark is long where dashes have to be distinguished."""


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """One curve.

    Attributes:
        value: What it stands at, as a text.
        widest: The widest that value can become: keeps the others in their places.
        dashes: As the line of the curve has them.
    """

    label: str
    value: str
    widest: str
    color: QColor
    is_points: bool = False
    dashes: tuple[float, ...] = ()


def draw_mark(painter: QPainter, entry: LegendEntry, start: QPointF, length: float) -> None:
    """A piece of the curve's line, or a dot where the curve is dots, to the right of a point."""
    if entry.is_points:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(entry.color)
        painter.drawEllipse(start + QPointF(length / 2.0, 0.0), 3.0, 3.0)
        return
    pen = QPen(entry.color, 2.0)
    if entry.dashes:
        # A pen counts in its own widths.
        pen.setDashPattern([dash / pen.widthF() for dash in entry.dashes])
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    painter.setPen(pen)
    painter.drawLine(start, start + QPointF(length, 0.0))


class Legend(QWidget):
    """One row, right-aligned: a mark, the name and the value of each curve.

    Where there is no room for the names, values alone; where there is none for these, marks
    alone. The tooltip always has everything.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._entries: tuple[LegendEntry, ...] = ()
        self.setProperty("textSize", "small")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def entries(self) -> tuple[LegendEntry, ...]:
        """What is shown."""
        return self._entries

    def setEntries(self, entries: tuple[LegendEntry, ...]) -> None:
        """Show these curves."""
        if entries == self._entries:
            return
        self._entries = entries
        text = "\n".join(f"{entry.label}: {entry.value}" for entry in entries)
        self.setToolTip(wrapped(text))
        self.setAccessibleDescription(text)
        self.update()

    @override
    def sizeHint(self) -> QSize:
        return QSize(120, self.fontMetrics().height() + 4)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(24, self.sizeHint().height())

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        layouts = (
            [(entry.label, entry.widest) for entry in self._entries],
            [("", entry.widest) for entry in self._entries],
            [("", "") for _ in self._entries],
        )
        shown = next(
            (texts for texts in layouts if sum(map(self._width, texts)) <= self.width()),
            layouts[-1],
        )
        left = self.width() - sum(map(self._width, shown)) + _BETWEEN
        for entry, texts in zip(self._entries, shown, strict=True):
            self._draw(painter, entry, texts, left)
            left += self._width(texts)

    def _width(self, texts: tuple[str, str]) -> int:
        metrics = self.fontMetrics()
        words = sum(_GAP + metrics.horizontalAdvance(text) for text in texts if text)
        return self._mark() + words + _BETWEEN

    def _mark(self) -> int:
        return _LONG_MARK if any(entry.dashes for entry in self._entries) else _MARK

    def _draw(
        self, painter: QPainter, entry: LegendEntry, texts: tuple[str, str], left: int
    ) -> None:
        colors, metrics = theme.current(), self.fontMetrics()
        middle = self.height() / 2.0
        draw_mark(painter, entry, QPointF(left, middle), self._mark())
        left += self._mark()
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        label, widest = texts
        if label:
            left += _GAP
            painter.setPen(colors.color("muted"))
            painter.drawText(QRect(left, 0, 1000, self.height()), flags, label)
            left += metrics.horizontalAdvance(label)
        if widest:
            left += _GAP
            painter.setPen(colors.color("text"))
            painter.drawText(QRect(left, 0, 1000, self.height()), flags, entry.value)
