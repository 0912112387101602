"""One bar for all of a device's memory, whose limits are dragged by mouse or moved by keys."""

from dataclasses import replace

from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.ui.widgets.memory_bar_painting import BAR_HEIGHT, OVERHANG, BarPainter
from gpupanel.ui.widgets.memory_use import MemoryUse
from gpupanel.ui.widgets.painted_widget import PaintedWidget
from gpupanel.ui.widgets.tips import wrapped

STEP_MIB = 256
"""What a key moves a border by, and what a border that is dragged snaps to."""
GRAB_DISTANCE = 8
_COARSE = 4
_LESSON = (
    "Drag the line, or move it with the arrow keys (with Shift in larger steps); Up and Down "
    "choose among several."
)


class MemoryBar(PaintedWidget):
    """From left to right: other processes (grey, hatched), this run (the device's colour), free.

    A pale stretch is what the run may take, a line its end, and hatched behind it what the CUDA
    context takes besides. The parts of a split are distinguished by lines.

    Args:
        color: Number of the device's colour.
    """

    limitsMoved = Signal(object)
    """A person moved a border, also while dragging: the limits in MiB, a tuple of int."""

    def __init__(self, color: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._color = color
        self._use = MemoryUse()
        self._latest = self._use
        self._is_movable = False
        self._border = 0
        self._is_grabbed = False
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Memory")

    def use(self) -> MemoryUse:
        """What is shown."""
        return self._use

    def setUse(self, use: MemoryUse) -> None:
        """Show that; while a border is dragged all but the limits waits, so that nothing slips."""
        self._latest = use
        if self._is_grabbed:
            use = replace(self._use, limits_mib=use.limits_mib)
        if use == self._use:
            return
        self._use = use
        self._border = min(self._border, max(0, len(use.limits_mib) - 1))
        self.setAccessibleDescription("; ".join(use.sentences))
        self._show_movable()
        self.update()

    def setMovable(self, movable: bool) -> None:
        """Let a person move the limits, or only see them."""
        self._is_movable = movable
        self._show_movable()
        self.update()

    def border_positions(self) -> tuple[float, ...]:
        """Where the movable borders are, in pixels from the left edge of the widget."""
        return self._painter_of_bar().border_positions() if self._has_borders() else ()

    @override
    def sizeHint(self) -> QSize:
        return QSize(160, BAR_HEIGHT + 2 * OVERHANG)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(48, self.sizeHint().height())

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        border = self._border_at(event.position().x())
        if event.button() is not Qt.MouseButton.LeftButton or border is None:
            event.ignore()
            return
        self._border, self._is_grabbed = border, True
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self.update()

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        x = event.position().x()
        if self._is_grabbed:
            self._move_border(round(self._painter_of_bar().mib_at(x)))
            return
        near = self._border_at(x) is not None
        self.setCursor(Qt.CursorShape.SplitHCursor if near else Qt.CursorShape.ArrowCursor)

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton and self._is_grabbed:
            self._is_grabbed = False
            self.setUse(self._latest)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        last = len(self._use.limits_mib) - 1
        coarse = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        stride = STEP_MIB * (_COARSE if coarse else 1)
        match event.key():
            case Qt.Key.Key_Left if self._has_borders():
                self._move_border(self._end_mib() - stride)
            case Qt.Key.Key_Right if self._has_borders():
                self._move_border(self._end_mib() + stride)
            case Qt.Key.Key_Up if self._border > 0:
                self._border -= 1
            case Qt.Key.Key_Down if self._border < last:
                self._border += 1
            case _:
                super().keyPressEvent(event)
        self.update()

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        self.update()
        super().focusInEvent(event)

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.update()
        super().focusOutEvent(event)

    @override
    def tip_at(self, position: QPointF) -> str:
        return self.words()

    def words(self) -> str:
        """What its tooltip says."""
        lines = "<br>".join(self._use.sentences)
        return f"<qt>{lines}</qt>{wrapped(_LESSON)}" if self._has_borders() else lines

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        chosen = self._border if self.hasFocus() else None
        self._painter_of_bar().paint(painter, has_grips=self._has_borders(), chosen=chosen)

    def _painter_of_bar(self) -> BarPainter:
        return BarPainter(self._use, self._color, self.width())

    def _has_borders(self) -> bool:
        return self._is_movable and self.isEnabled() and bool(self._use.borders_mib)

    def _show_movable(self) -> None:
        movable = self._has_borders()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if movable else Qt.FocusPolicy.NoFocus)
        if not movable:
            self._is_grabbed = False
            self.unsetCursor()

    def _border_at(self, x: float) -> int | None:
        """The border in reach of the pointer; of several on one spot the one that can follow it."""
        positions = self.border_positions()
        nearest = min(positions, key=lambda position: abs(position - x), default=None)
        if nearest is None or abs(nearest - x) > GRAB_DISTANCE:
            return None
        here = [index for index, position in enumerate(positions) if position == nearest]
        is_at_end = self._use.borders_mib[here[0]] == self._use.total_mib
        return here[0] if x <= nearest or is_at_end else here[-1]

    def _end_mib(self) -> int:
        """Where the chosen logical device ends, also beyond the end of the bar."""
        return self._use.other_processes_mib + sum(self._use.limits_mib[: self._border + 1])

    def _move_border(self, target_mib: int) -> None:
        """Ends the chosen logical device near there; the one behind it gives or takes."""
        limits, index = list(self._use.limits_mib), self._border
        start = self._use.other_processes_mib + sum(limits[:index])
        if index + 1 < len(limits):
            greatest = limits[index] + max(0, limits[index + 1] - STEP_MIB)
        else:
            greatest = max(limits[index], self._use.most_mib)
        size = round((target_mib - start) / STEP_MIB) * STEP_MIB
        size = min(max(size, min(STEP_MIB, limits[index])), greatest)
        if index + 1 < len(limits):
            limits[index + 1] += limits[index] - size
        limits[index] = size
        if tuple(limits) != self._use.limits_mib:
            self.limitsMoved.emit(tuple(limits))
