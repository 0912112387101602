"""What a training takes of each memory, as a stacked bar with the terms named."""

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.domain.device_memory import DeviceMemory
from gpupanel.ui import formatting, theme
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.widgets.layouts import MOST_ROWS
from gpupanel.ui.widgets.painted_widget import PaintedWidget
from gpupanel.ui.widgets.tips import wrapped

_TERMS = (
    ("Weights", "weights_mib", 255),
    ("Gradients", "gradients_mib", 200),
    ("Optimizer", "optimizer_mib", 150),
    ("Activations", "activations_mib", 105),
    ("Update", "update_mib", 55),
    ("Data", "data_mib", 70),
)
"""Name, field, and how opaque the accent is."""
_BAR = 10.0
_GAP = 6.0
_SWATCH = 9.0


class MemoryBars(PaintedWidget):
    """A row for each memory: its name, how much of what there is, and the bar; a legend below."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._memories: tuple[DeviceMemory, ...] = ()
        self._labels = DeviceLabels()
        self._left_out = 0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Estimated memory per device")

    def setMemories(self, memories: Sequence[DeviceMemory], labels: DeviceLabels) -> None:
        """Shows other estimates."""
        shown = memories
        if len(memories) > MOST_ROWS:
            # What does not fit is what a person has to know.
            shown = sorted(memories, key=lambda memory: memory.fits)[:MOST_ROWS]
        self._memories, self._labels = tuple(shown), labels
        self._left_out = len(memories) - len(self._memories)
        besides = [f"and {self._left_out:,} more"] if self._left_out else []
        self.setAccessibleDescription("; ".join([*map(self.words, self._memories), *besides]))
        self.updateGeometry()
        self.update()

    def words(self, memory: DeviceMemory) -> str:
        """All terms of one memory, with their sizes."""
        terms = ", ".join(
            f"{name.lower()} {formatting.mib(getattr(memory, field))}" for name, field, _ in _TERMS
        )
        besides = f"overhead {formatting.mib(memory.overhead_mib)} besides"
        return f"{self._name(memory)}, {self._amount(memory)}: {terms}; {besides}"

    @override
    def sizeHint(self) -> QSize:
        rows = len(self._memories) * self._row_height()
        rows += self._line_height() if self._left_out else 0.0
        lines = 1 + max(line for _, line, _, _ in self._legend())
        return QSize(320, int(rows + lines * self._line_height()) if self._memories else 0)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(160, self.sizeHint().height())

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.updateGeometry()  # the legend may need another number of lines

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.small_font(self.font()))
        for place, memory in enumerate(self._memories):
            self._paint_row(painter, place * self._row_height(), memory)
        top = len(self._memories) * self._row_height()
        if self._left_out:
            line = QRectF(0.0, top, self.width(), self._line_height())
            painter.setPen(theme.current().color("muted"))
            painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, f"and {self._left_out:,} more")
            top += line.height()
        if self._memories:
            self._paint_legend(painter, top)

    @override
    def tip_at(self, position: QPointF) -> str:
        place = int(position.y() // self._row_height())
        return wrapped(self.words(self._memories[place])) if place < len(self._memories) else ""

    def _paint_row(self, painter: QPainter, top: float, memory: DeviceMemory) -> None:
        shown = theme.current()
        line = QRectF(0.0, top, self.width(), self._line_height())
        amount = self._amount(memory)
        metrics = painter.fontMetrics()
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.setPen(shown.color("muted" if memory.fits else "warning"))
        painter.drawText(line, right, amount)
        room = int(self.width() - metrics.horizontalAdvance(amount) - 2 * _GAP)
        name = metrics.elidedText(self._name(memory), Qt.TextElideMode.ElideMiddle, room)
        painter.setPen(shown.color("text"))
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, name)
        bar = QRectF(0.0, line.bottom(), self.width(), _BAR)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(shown.color("track"))
        painter.drawRoundedRect(bar, 3.0, 3.0)
        # What does not fit reaches beyond the line of what there is.
        whole = max(memory.room_mib or 0, memory.counted_mib, 1.0)
        left = 0.0
        for _, field, opacity in _TERMS:
            width = self.width() * getattr(memory, field) / whole
            painter.setBrush(_color(opacity))
            painter.drawRect(QRectF(left, bar.top(), width, _BAR))
            left += width
        if memory.room_mib is not None and memory.counted_mib > memory.room_mib:
            painter.setBrush(shown.color("error"))
            limit = round(self.width() * memory.room_mib / whole)
            painter.drawRect(QRectF(limit - 1.0, bar.top() - 2.0, 2.0, _BAR + 4.0))

    def _legend(self) -> Iterator[tuple[float, int, str, int]]:
        """Left border and line of each term, its name and how opaque it is; in as many lines."""
        metrics = QFontMetrics(theme.small_font(self.font()))
        left, line = 0.0, 0
        for name, _, opacity in _TERMS:
            width = _SWATCH + 4.0 + metrics.horizontalAdvance(name) + 2.0
            if left and left + width > self.width():
                left, line = 0.0, line + 1
            yield left, line, name, opacity
            left += width + 10.0

    def _paint_legend(self, painter: QPainter, top: float) -> None:
        height = self._line_height()
        for left, line, name, opacity in self._legend():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(_color(opacity))
            middle = top + (line + 0.5) * height
            painter.drawRect(QRectF(left, middle - _SWATCH / 2.0, _SWATCH, _SWATCH))
            painter.setPen(theme.current().color("muted"))
            place = QRectF(left + _SWATCH + 4.0, top + line * height, self.width(), height)
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, name)

    def _name(self, memory: DeviceMemory) -> str:
        label = self._labels.label(memory.device)
        if sum(each.device == memory.device for each in self._memories) == 1:
            return label
        return f"{label}, {memory.logical_device.removeprefix('/device:')}"

    def _amount(self, memory: DeviceMemory) -> str:
        taken = formatting.mib(memory.counted_mib)
        if memory.room_mib is None:
            return taken
        limit = " (limit)" if memory.is_limit else ""
        measured = ", measured here" if memory.is_measured else ""
        return f"{taken} of {formatting.mib(memory.room_mib)}{limit}{measured}"

    def _line_height(self) -> float:
        return float(self.fontMetrics().height() + 2)

    def _row_height(self) -> float:
        return self._line_height() + _BAR + _GAP


def _color(opacity: int) -> QColor:
    color = theme.current().color("accent")
    color.setAlpha(opacity)
    return color
