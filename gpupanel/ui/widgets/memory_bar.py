"""One bar for all of a device's memory."""

from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.ui import formatting, theme

_BAR_HEIGHT = 10
_CAP_OVERHANG = 3


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """What the bar shows, in MiB.

    Attributes:
        total_mib: The device's memory; ``None`` draws an empty bar.
        others_mib: Held by processes of others.
        ours_mib: Held by the run shown.
        cap_mib: The most that the run may hold; ``None`` for no line.
    """

    total_mib: int | None = None
    others_mib: int = 0
    ours_mib: int = 0
    cap_mib: int | None = None

    @property
    def cap_position_mib(self) -> int | None:
        """Where the line stands: the run's memory begins where that of the others ends."""
        if self.cap_mib is None or self.total_mib is None:
            return None
        return min(self.total_mib, self.others_mib + self.cap_mib)

    @property
    def sentence(self) -> str:
        """The same in words."""
        if self.total_mib is None:
            return "How much memory it has is not known."
        free = max(0, self.total_mib - self.others_mib - self.ours_mib)
        parts = [
            f"{formatting.mib(self.ours_mib)} held by this run",
            f"{formatting.mib(self.others_mib)} by others",
            f"{formatting.mib(free)} free of {formatting.mib(self.total_mib)}",
        ]
        if self.cap_mib is not None:
            parts.append(f"the line: this run's limit of {formatting.mib(self.cap_mib)}")
        return ", ".join(parts)


class MemoryBar(QWidget):
    """From left to right: others (grey, hatched), this run (the device's colour), free.

    The run's limit is a line across it.

    Args:
        index: Position of the device in the inventory.
    """

    def __init__(self, index: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._index = index
        self._use = MemoryUse()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def use(self) -> MemoryUse:
        """What is shown."""
        return self._use

    def setUse(self, use: MemoryUse) -> None:
        """Show that; the tooltip says the same in words."""
        if use == self._use:
            return
        self._use = use
        self.setToolTip(use.sentence)
        self.setAccessibleDescription(use.sentence)
        self.update()

    @override
    def sizeHint(self) -> QSize:
        return QSize(160, _BAR_HEIGHT + 2 * _CAP_OVERHANG)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(48, self.sizeHint().height())

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        colors = theme.current()
        bar = QRectF(0.0, _CAP_OVERHANG, self.width(), _BAR_HEIGHT)
        shape = QPainterPath()
        shape.addRoundedRect(bar, 3.0, 3.0)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillPath(shape, colors.color("track"))
        if not self._use.total_mib:
            return
        painter.setClipPath(shape)
        others = self._rect(bar, 0, self._use.others_mib)
        painter.fillRect(others, colors.color("others"))
        hatching = colors.color("surface")
        hatching.setAlphaF(0.35)
        painter.fillRect(others, QBrush(hatching, Qt.BrushStyle.BDiagPattern))
        ours = self._rect(bar, self._use.others_mib, self._use.ours_mib)
        painter.fillRect(ours, theme.device_color(self._index))
        painter.setClipping(False)
        self._draw_cap(painter, bar)

    def _rect(self, bar: QRectF, start_mib: int, size_mib: int) -> QRectF:
        total = self._use.total_mib or 1
        left = bar.width() * min(1.0, start_mib / total)
        right = bar.width() * min(1.0, (start_mib + size_mib) / total)
        return QRectF(bar.left() + left, bar.top(), right - left, bar.height())

    def _draw_cap(self, painter: QPainter, bar: QRectF) -> None:
        position = self._use.cap_position_mib
        if position is None:
            return
        x = bar.left() + min(bar.width() - 1.0, bar.width() * position / (self._use.total_mib or 1))
        painter.setPen(QPen(theme.current().color("text"), 2.0))
        top, bottom = bar.top() - _CAP_OVERHANG, bar.bottom() + _CAP_OVERHANG
        painter.drawLine(int(x), int(top), int(x), int(bottom))
