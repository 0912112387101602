"""What a diagram of a strategy is, whichever it draws."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPainterPath, QPen, QPolygonF

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.task import Task
from gpupanel.ui import formatting, theme
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.widgets.share_segment import ink_on


@dataclass(frozen=True, slots=True)
class Division:
    """What is to be drawn.

    Attributes:
        task: What the steps are for.
        placement: The place of each layer that was placed by hand, in the order of the model;
            empty where the trainer places them.
    """

    plan: LaunchPlan
    device_labels: DeviceLabels
    task: Task = "train"
    placement: tuple[tuple[str, int], ...] = ()

    @property
    def batch_text(self) -> str:
        """The size of a global batch: "64 examples"."""
        return f"{formatting.count(self.plan.global_batch_size)} examples"

    @property
    def parts_text(self) -> str:
        """How many micro-batches a share is taken in, where it is more than one."""
        parts = self.plan.accumulation_steps
        return f", in {parts} accumulation steps" if parts > 1 else ""


class Diagram(Protocol):
    """Draws one strategy from top to bottom, and says the same in words."""

    @property
    def lesson(self) -> str:
        """What a person learns who points at it."""

    @property
    def title(self) -> str:
        """The line above the diagram."""

    @property
    def words(self) -> str:
        """The diagram for those who cannot see it."""

    def height(self, line: float) -> float:
        """Pixels below the title, when a line of text is so high."""

    def paint(self, canvas: "Canvas", top: float) -> None:
        """Draws everything below the title, which ends at ``top``."""


GAP = 8.0
RADIUS = 6.0
FLOW_HEIGHT = 24.0
BAR_HEIGHT = 24.0
ROOMY = 104.0
"""A box at least this wide says everything; a narrower one only the least."""
_ARROW_HEAD = 7.0


class Canvas:
    """A painter that knows the panel's look.

    Args:
        painter: Of the widget.
        font: Of the widget.
        width: Of the widget, in pixels.
        line: Height of a line of text, in pixels.
    """

    def __init__(self, painter: QPainter, font: QFont, width: float, line: float) -> None:
        self._painter = painter
        self._font = font
        self.width = width
        self.line = line

    def text(self, place: QRectF, words: str, role: str = "text", *, small: bool = False) -> None:
        """Writes one line into the middle of a place, shortened where it does not fit."""
        self._painter.setFont(theme.small_font(self._font) if small else self._bold())
        self._painter.setPen(theme.current().color(role))
        shown = self._painter.fontMetrics().elidedText(
            # The end of a device's name distinguishes it from its like.
            words,
            Qt.TextElideMode.ElideMiddle,
            int(place.width()),
        )
        self._painter.drawText(place, Qt.AlignmentFlag.AlignCenter, shown)

    def box(self, place: QRectF, rows: Sequence[str] = (), rim: QColor | None = None) -> None:
        """Draws a box; the first row stands out, the others explain it.

        Args:
            place: Where.
            rows: What it says, from top to bottom.
            rim: The device's colour; ``None``: it belongs to none.
        """
        colors = theme.current()
        self._painter.setPen(QPen(rim or colors.color("strong_border"), 1.5 if rim else 1.0))
        self._painter.setBrush(colors.color("raised"))
        self._painter.drawRoundedRect(place.adjusted(0.5, 0.5, -0.5, -0.5), RADIUS, RADIUS)
        top = place.center().y() - self.line * len(rows) / 2.0
        for index, words in enumerate(rows):
            row = QRectF(
                place.left() + 4.0, top + index * self.line, place.width() - 8.0, self.line
            )
            self.text(row, words, "muted" if index else "text", small=index > 0)

    def frame(self, place: QRectF, title: str) -> None:
        """Draws a dashed frame around what belongs together, with a title on top."""
        self._painter.setPen(
            QPen(theme.current().color("strong_border"), 1.0, Qt.PenStyle.DashLine)
        )
        self._painter.setBrush(Qt.BrushStyle.NoBrush)
        self._painter.drawRoundedRect(place.adjusted(0.5, 0.5, -0.5, -0.5), RADIUS, RADIUS)
        head = QRectF(place.left() + 4.0, place.top() + 2.0, place.width() - 8.0, self.line)
        self.text(head, title, "muted", small=True)

    def bar(self, parts: Sequence[QRectF], colors: Sequence[QColor], words: Sequence[str]) -> None:
        """Draws parts of one bar that touch each other, each with its words where they fit."""
        whole = QPainterPath()
        whole.addRoundedRect(parts[0].united(parts[-1]), RADIUS, RADIUS)
        painter = self._painter
        painter.save()
        painter.setClipPath(whole)
        painter.setFont(self._bold())
        for part, color, said in zip(parts, colors, words, strict=True):
            painter.fillRect(part, color)
            painter.setPen(ink_on(color))
            if painter.fontMetrics().horizontalAdvance(said) + 6 < part.width():
                painter.drawText(part, Qt.AlignmentFlag.AlignCenter, said)
        painter.setPen(QPen(theme.current().color("surface"), 2.0))
        for part in parts[1:]:
            painter.drawLine(part.topLeft(), part.bottomLeft())
        painter.restore()

    def flow(self, source: QRectF, target: QRectF, color: QColor) -> None:
        """Draws a band from the lower edge of one thing to the upper edge of the next."""
        if source.width() < 1.0:
            return
        top, bottom = source.bottom(), target.top()
        middle = (top + bottom) / 2.0
        band = QPainterPath(QPointF(source.left(), top))
        band.cubicTo(
            QPointF(source.left(), middle), QPointF(target.left(), middle), target.topLeft()
        )
        band.lineTo(target.topRight())
        band.cubicTo(
            QPointF(target.right(), middle),
            QPointF(source.right(), middle),
            QPointF(source.right(), top),
        )
        faint = QColor(color)
        faint.setAlphaF(0.22)
        self._painter.fillPath(band, faint)

    def arrow(self, start: QPointF, end: QPointF, color: QColor | None = None) -> None:
        """Draws an arrow."""
        color = color or theme.current().color("faint")
        direction = math.atan2(end.y() - start.y(), end.x() - start.x())
        self._painter.setPen(QPen(color, 1.5))
        neck = QPointF(
            end.x() - _ARROW_HEAD * math.cos(direction), end.y() - _ARROW_HEAD * math.sin(direction)
        )
        self._painter.drawLine(start, neck)
        wings = [
            QPointF(
                end.x() - _ARROW_HEAD * math.cos(direction + turn),
                end.y() - _ARROW_HEAD * math.sin(direction + turn),
            )
            for turn in (-0.45, 0.45)
        ]
        self._painter.setPen(Qt.PenStyle.NoPen)
        self._painter.setBrush(color)
        self._painter.drawPolygon(QPolygonF([end, *wings]))

    def row_of(
        self, count: int, top: float, height: float, gap: float | None = None
    ) -> list[QRectF]:
        """Places for so many boxes side by side over the whole width."""
        gap = gap if gap is not None else (GAP if count <= 8 else 2.0)
        width = (self.width - 1.0 - gap * (count - 1)) / count
        return [QRectF(0.5 + index * (width + gap), top, width, height) for index in range(count)]

    def parts_of(self, shares: Sequence[int], top: float) -> list[QRectF]:
        """Places for the parts of a bar over the whole width, as wide as their shares."""
        scale = (self.width - 1.0) / max(1, sum(shares))
        edges = [0.5 + scale * sum(shares[:index]) for index in range(len(shares) + 1)]
        return [QRectF(left, top, right - left, BAR_HEIGHT) for left, right in pairwise(edges)]

    def middle(self, top: float, height: float, widest: float) -> QRectF:
        """A place in the middle of the width."""
        width = min(self.width - 1.0, widest)
        return QRectF((self.width - width) / 2.0, top, width, height)

    def _bold(self) -> QFont:
        font = QFont(self._font)
        font.setWeight(QFont.Weight.DemiBold)
        return font
