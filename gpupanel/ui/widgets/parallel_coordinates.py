"""Several values of each of many things: an axis for each value, a line for each thing."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.domain.visible_text import visible_line
from gpupanel.ui import theme
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.scatter_axis import ScatterAxis

_THIN, _THICK = 1.2, 2.6
_MOST_SMOOTH = 300
"""Lines: smooth edges of a thousand take half a second to draw, and nobody sees them."""
_FAINT = 150
"""The opacity of lines that nobody chose, of 255."""


@dataclass(frozen=True, slots=True)
class ParallelLine:
    """One thing.

    Attributes:
        key: What distinguishes it.
        values: One for each axis; ``None``: it has none there, and the line has a gap.
        merit: How good it is among all, from 0 to 1; ``None``: not known.
    """

    key: int
    values: tuple[str | float | None, ...]
    merit: float | None = None


class ParallelCoordinates(QWidget):
    """Good lines in the accent colour and above poor ones; the best and the chosen one are thick.

    Nothing is read from the colour alone: the last axis says how good each line is.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("parallel_coordinates")
        self._lines: tuple[ParallelLine, ...] = ()
        self._axes: tuple[ScatterAxis, ...] = ()
        self._titles: tuple[str, ...] = ()
        self._chosen: int | None = None
        self._best: int | None = None
        self.setFont(theme.small_font(self.font()))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Values of all trials, a line each")

    def setLines(
        self,
        lines: Sequence[ParallelLine],
        axes: Sequence[ScatterAxis],
        titles: Sequence[str],
        best: int | None,
    ) -> None:
        """Draw these lines.

        Args:
            lines: Each with a value for each axis.
            axes: From left to right.
            titles: Above each axis.
            best: The key of the best line; ``None``: it is not known.
        """
        self._lines, self._axes, self._titles = tuple(lines), tuple(axes), tuple(titles)
        self._best = best
        self.setAccessibleDescription(f"{len(lines)} trials over {', '.join(self._titles)}")
        self.update()

    def setChosen(self, key: int | None) -> None:
        """Draw the line of that key above all others."""
        self._chosen = key
        self.update()

    def points_of(self, key: int) -> list[QPointF | None]:
        """Where a line meets each axis, in pixels; none where it has no value there."""
        line = next((each for each in self._lines if each.key == key), None)
        return [] if line is None else self._points(line)

    @override
    def sizeHint(self) -> QSize:
        return QSize(90 * GRID, 36 * GRID)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(50 * GRID, 24 * GRID)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._axes:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, len(self._lines) <= _MOST_SMOOTH)
        for line in sorted(self._lines, key=self._depth):
            is_thick = line.key in (self._best, self._chosen)
            painter.setPen(QPen(self._color(line), _THICK if is_thick else _THIN))
            for start, end in pairwise(self._points(line)):
                if start is not None and end is not None:
                    painter.drawLine(start, end)
        # Above the lines, so that the numbers can be read.
        self._paint_axes(painter)

    def _paint_axes(self, painter: QPainter) -> None:
        colors, area, line = theme.current(), self._area(), float(self.fontMetrics().height())
        room = self._room()
        backdrop = colors.color("window")
        backdrop.setAlpha(190)
        for number, (axis, title) in enumerate(zip(self._axes, self._titles, strict=True)):
            x = self._x(number)
            painter.setPen(QPen(colors.color("strong_border"), 1.0))
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
            is_last = number == len(self._axes) - 1
            for part, text in axis.ticks():
                y = area.bottom() - part * area.height()
                elided = self._elided(text, room / 2.0)
                width = self.fontMetrics().horizontalAdvance(elided) + 4.0
                left = x - width - 4.0 if is_last else x + 4.0
                place = QRectF(left, y - line / 2.0, width, line)
                painter.fillRect(place, backdrop)
                painter.setPen(colors.color("muted"))
                painter.drawLine(QPointF(x - 3.0, y), QPointF(x + 3.0, y))
                painter.drawText(place, Qt.AlignmentFlag.AlignCenter, elided)
            painter.setPen(colors.color("text"))
            left = min(max(0.0, x - room / 2.0), self.width() - room)
            side = Qt.AlignmentFlag.AlignHCenter
            if len(self._axes) > 1:
                side = Qt.AlignmentFlag.AlignLeft if not number else side
                side = Qt.AlignmentFlag.AlignRight if is_last else side
            painter.drawText(QRectF(left, 0.0, room, line), side, self._elided(title, room - GRID))

    def _depth(self, line: ParallelLine) -> tuple[bool, bool, float]:
        merit = -1.0 if line.merit is None else line.merit
        return line.key == self._chosen, line.key == self._best, merit

    def _color(self, line: ParallelLine) -> QColor:
        colors = theme.current()
        if line.key == self._chosen:
            return colors.color("text")
        poor, good = colors.color("others"), colors.color("accent")
        merit = line.merit or 0.0
        mixed = QColor.fromRgbF(
            poor.redF() + merit * (good.redF() - poor.redF()),
            poor.greenF() + merit * (good.greenF() - poor.greenF()),
            poor.blueF() + merit * (good.blueF() - poor.blueF()),
        )
        mixed.setAlpha(255 if line.key == self._best else _FAINT)
        return mixed

    def _points(self, line: ParallelLine) -> list[QPointF | None]:
        area = self._area()
        points: list[QPointF | None] = []
        for number, (axis, value) in enumerate(zip(self._axes, line.values, strict=True)):
            part = None if value is None else axis.place(value)
            y = None if part is None else area.bottom() - part * area.height()
            points.append(None if y is None else QPointF(self._x(number), y))
        return points

    def _elided(self, text: str, room: float) -> str:
        mode = Qt.TextElideMode.ElideMiddle
        return self.fontMetrics().elidedText(visible_line(text), mode, max(0, int(room)))

    def _room(self) -> float:
        return self._area().width() / max(1, len(self._axes) - 1)

    def _x(self, number: int) -> float:
        area = self._area()
        return area.left() + number * area.width() / max(1, len(self._axes) - 1)

    def _area(self) -> QRectF:
        line = self.fontMetrics().height()
        return QRectF(self.rect()).adjusted(GRID, line + GRID, -GRID, -GRID)
