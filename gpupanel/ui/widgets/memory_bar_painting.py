"""How a memory bar looks."""

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen

from gpupanel.ui import theme
from gpupanel.ui.widgets.memory_use import MemoryUse

BAR_HEIGHT = 14
OVERHANG = 3
"""Pixels by which lines and grips stand out above and below the bar."""
_RADIUS = 4.0
_PALE = 0.28
_GRIP_WIDTH = 7.0
_NUMBER_PIXELS = 10


class BarPainter:
    """Paints one use of memory into so many pixels.

    Args:
        use: What to show.
        color: Number of the device's colour.
        width: Of the whole bar in pixels.
    """

    def __init__(self, use: MemoryUse, color: int, width: int) -> None:
        self._use = use
        self._color = theme.device_color(color)
        # Half a grip at either end, so that one at the end can be seen and grabbed whole.
        margin = _GRIP_WIDTH / 2.0
        self._bar = QRectF(margin, OVERHANG, max(1.0, width - 2 * margin), BAR_HEIGHT)

    def mib_at(self, x: float) -> float:
        """How much memory lies left of that place."""
        share = (x - self._bar.left()) / self._bar.width()
        return min(1.0, max(0.0, share)) * (self._use.total_mib or 0)

    def border_positions(self) -> tuple[float, ...]:
        """Where each logical device's memory ends, in pixels."""
        return tuple(self._x(border) for border in self._use.borders_mib)

    def paint(self, painter: QPainter, *, has_grips: bool, chosen: int | None) -> None:
        """Paint the bar.

        Args:
            painter: Of the widget.
            has_grips: Whether the borders can be moved.
            chosen: The border that the keyboard moves; ``None`` without the focus.
        """
        colors = theme.current()
        shape = QPainterPath()
        shape.addRoundedRect(self._bar, _RADIUS, _RADIUS)
        painter.fillPath(shape, colors.color("track"))
        if not self._use.total_mib:
            return
        painter.save()
        painter.setClipPath(shape)
        self._paint_held(painter, colors)
        self._paint_allowed(painter, colors)
        painter.restore()
        self._paint_borders(painter, colors, has_grips=has_grips, chosen=chosen)

    def _paint_held(self, painter: QPainter, colors: theme.Theme) -> None:
        use = self._use
        others = self._rect(0, use.other_processes_mib)
        painter.fillRect(others, colors.color("others"))
        painter.fillRect(others, _hatching(colors.color("surface"), 0.35))
        total = use.total_mib or 0
        reserved = self._rect(total - use.reserved_mib, total)
        painter.fillRect(reserved, _hatching(colors.color("others"), 0.8))
        end = use.other_processes_mib + use.ours_mib
        painter.fillRect(self._rect(use.other_processes_mib, end), self._color)

    def _paint_allowed(self, painter: QPainter, colors: theme.Theme) -> None:
        use = self._use
        if not use.limits_mib:
            return
        held = use.other_processes_mib + use.ours_mib
        end = use.other_processes_mib + sum(use.limits_mib)
        pale = QColor(self._color)
        pale.setAlphaF(_PALE)
        if end > held:
            painter.fillRect(self._rect(held, end), pale)
        context_end = end + use.context_mib
        if context_end > held:
            context = self._rect(max(held, end), context_end)
            pale.setAlphaF(_PALE / 2.0)
            painter.fillRect(context, pale)
            painter.fillRect(context, _hatching(self._color, 1.0))
        if len(use.limits_mib) > 1:
            self._paint_numbers(painter, colors)

    def _paint_numbers(self, painter: QPainter, colors: theme.Theme) -> None:
        """The parts' numbers, where they fit."""
        font = QFont(painter.font())
        font.setPixelSize(_NUMBER_PIXELS)
        painter.setFont(font)
        painter.setPen(colors.color("text"))
        left = self._x(self._use.other_processes_mib)
        for number, right in enumerate(self.border_positions(), start=1):
            if right - left > QFontMetricsF(font).horizontalAdvance(str(number)) + _GRIP_WIDTH:
                place = QRectF(left, self._bar.top(), right - left, self._bar.height())
                painter.drawText(place, Qt.AlignmentFlag.AlignCenter, str(number))
            left = right

    def _paint_borders(
        self, painter: QPainter, colors: theme.Theme, *, has_grips: bool, chosen: int | None
    ) -> None:
        top, bottom = self._bar.top() - OVERHANG, self._bar.bottom() + OVERHANG
        for index, x in enumerate(self.border_positions()):
            if not has_grips:
                painter.setPen(QPen(colors.color("text"), 2.0))
                painter.drawLine(QPointF(x, top + 1.0), QPointF(x, bottom - 1.0))
                continue
            ring = colors.color("accent" if index == chosen else "text")
            painter.setPen(QPen(ring, 2.0 if index == chosen else 1.2))
            painter.setBrush(colors.color("surface"))
            half = _GRIP_WIDTH / 2.0 - 0.6
            grip = QRectF(x - half, top + 0.6, 2.0 * half, bottom - top - 1.2)
            painter.drawRoundedRect(grip, half, half)

    def _x(self, position_mib: int) -> float:
        share = min(1.0, max(0.0, position_mib / (self._use.total_mib or 1)))
        return self._bar.left() + self._bar.width() * share

    def _rect(self, start_mib: int, end_mib: int) -> QRectF:
        left, right = self._x(start_mib), self._x(end_mib)
        return QRectF(left, self._bar.top(), right - left, self._bar.height())


def _hatching(color: QColor, alpha: float) -> QBrush:
    ink = QColor(color)
    ink.setAlphaF(alpha)
    return QBrush(ink, Qt.BrushStyle.BDiagPattern)
