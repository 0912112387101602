"""Which curve is which, and what it stands at."""

from dataclasses import dataclass, replace

from PySide6.QtCore import QPoint, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
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
        is_hidden: The curve is not drawn.
        note: What else the tooltip says of it.
        can_be_hidden: A click hides its curve.
        keeps_name: Where there is no room for both, its name is shown and not its value.
    """

    label: str
    value: str
    widest: str
    color: QColor
    is_points: bool = False
    dashes: tuple[float, ...] = ()
    is_hidden: bool = False
    note: str = ""
    can_be_hidden: bool = True
    keeps_name: bool = False

    def widest_in(self, metrics: QFontMetrics) -> str:
        """What room is kept for: the value, where it is wider than it was expected to become."""
        return max((self.widest, self.value), key=metrics.horizontalAdvance)

    @property
    def is_clickable(self) -> bool:
        """Whether a click hides its curve or shows it: one without a name is the only one."""
        return bool(self.label) and self.can_be_hidden

    @property
    def words(self) -> str:
        """All of it as text."""
        value = f"{self.value} ({self.note})" if self.note else self.value
        return f"{self.label}: {value}"


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


_CLICK_TIP = "Click to hide or show a curve."


class Legend(QWidget):
    """One row, right-aligned: a mark, the name and the value of each curve.

    Where there is no room for the names, values alone; where there is none for these, marks alone;
    where not all marks have room, nothing. The tooltip always has everything. A click on a curve
    that has a name, or the arrow keys and Space, ask for it to be hidden or shown.
    """

    toggled = Signal(str)
    """A curve is to be hidden, or shown again: its label."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._entries: tuple[LegendEntry, ...] = ()
        self._current = 0
        self.setProperty("textSize", "small")
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def entries(self) -> tuple[LegendEntry, ...]:
        """What is shown."""
        return self._entries

    def setEntries(self, entries: tuple[LegendEntry, ...]) -> None:
        """Show these curves."""
        if entries == self._entries:
            return
        self._entries = entries
        can_be_clicked = any(entry.is_clickable for entry in entries)
        text = "\n".join(entry.words for entry in entries)
        self.setToolTip(wrapped(f"{text}\n{_CLICK_TIP}" if can_be_clicked else text))
        self.setAccessibleDescription(text)
        policy = Qt.FocusPolicy.TabFocus if can_be_clicked else Qt.FocusPolicy.NoFocus
        if policy != self.focusPolicy():
            self.setFocusPolicy(policy)
        self.update()

    @override
    def sizeHint(self) -> QSize:
        return QSize(120, self.fontMetrics().height() + 4)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(24, self.sizeHint().height())

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._at(event.position().toPoint()) is None:
            self.unsetCursor()
        else:
            self.setCursor(Qt.CursorShape.PointingHandCursor)

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        entry = self._at(event.position().toPoint())
        if entry is not None and event.button() == Qt.MouseButton.LeftButton:
            self.toggled.emit(entry.label)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        ways = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        named = [place for place, entry in enumerate(self._entries) if entry.is_clickable]
        if event.key() == Qt.Key.Key_Space and self._current in named:
            self.toggled.emit(self._entries[self._current].label)
        elif event.key() in ways and named:
            self._current = (self._current + ways[Qt.Key(event.key())]) % len(self._entries)
            self.update()
        else:
            super().keyPressEvent(event)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for place, (entry, texts, left) in enumerate(self._placed()):
            self._draw(painter, entry, texts, left)
            if self.hasFocus() and place == self._current:
                width = self._width(texts) - _BETWEEN
                painter.setPen(theme.current().color("accent"))
                painter.drawLine(left, self.height() - 1, left + width, self.height() - 1)

    def _placed(self) -> list[tuple[LegendEntry, tuple[str, str], int]]:
        """Each entry, what is written of it, and where it begins."""
        kept = [(entry, entry.widest_in(self.fontMetrics())) for entry in self._entries]
        whole = [(entry.label, widest) for entry, widest in kept]
        short = [(entry.label, "") if entry.keeps_name else ("", widest) for entry, widest in kept]
        # Of names some are better than none; a value among marks alone would only be odd.
        names = len(short) if all(entry.keeps_name for entry in self._entries) else 0
        marks = [("", "")] * len(short)
        some = [[*short[:said], *marks[said:]] for said in reversed(range(1, names))]
        layouts = [whole, short, *some, marks]
        shown = next(
            (texts for texts in layouts if sum(map(self._width, texts)) <= self.width()), None
        )
        if shown is None:
            return []
        left = self.width() - sum(map(self._width, shown)) + _BETWEEN
        placed = []
        for entry, texts in zip(self._entries, shown, strict=True):
            placed.append((entry, texts, left))
            left += self._width(texts)
        return placed

    def _at(self, point: QPoint) -> LegendEntry | None:
        """The entry there that can be clicked."""
        for entry, texts, left in self._placed():
            reach = _BETWEEN // 2
            if entry.is_clickable and left - reach <= point.x() < left + self._width(texts) - reach:
                return entry
        return None

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
        faint = colors.color("faint")
        middle = self.height() / 2.0
        if entry.is_hidden:
            entry = replace(entry, color=faint)
        draw_mark(painter, entry, QPointF(left, middle), self._mark())
        left += self._mark()
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        label, widest = texts
        if label:
            left += _GAP
            painter.setPen(faint if entry.is_hidden else colors.color("muted"))
            painter.drawText(QRect(left, 0, 1000, self.height()), flags, label)
            width = metrics.horizontalAdvance(label)
            if entry.is_hidden:
                painter.drawLine(QPointF(left, middle + 1.0), QPointF(left + width, middle + 1.0))
            left += width
        if widest:
            left += _GAP
            painter.setPen(faint if entry.is_hidden else colors.color("text"))
            painter.drawText(QRect(left, 0, 1000, self.height()), flags, entry.value)
