"""What the mouse does in a plot: a box that is dragged chooses what is shown."""

import pyqtgraph as pg
from pyqtgraph.GraphicsScene.mouseEvents import MouseDragEvent
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from typing_extensions import override

_LEAST_WIDTH = 5.0
"""Pixels: less is a click with an unsteady hand."""
_LEAST_HEIGHT = 24.0
"""Pixels: less is a stretch of the axis at the bottom, of which all values are to be seen."""


class CurveBox(pg.ViewBox):  # type: ignore[misc]  # pyqtgraph has no types
    """Dragging marks what is to be shown; with Shift or the middle button it moves along the axis.

    Args:
        has_free_values: Whether a box chooses a range of values, too, where it is high enough.
    """

    boxChosen = Signal(object, object)
    """The chosen part of the axis at the bottom, and of the values or ``None``: pairs of float."""

    def __init__(self, *, has_free_values: bool) -> None:
        super().__init__(enableMenu=False)
        self._has_free_values = has_free_values
        self.setMouseEnabled(x=True, y=False)

    @override
    def mouseDragEvent(self, ev: MouseDragEvent, axis: int | None = None) -> None:
        is_left = ev.button() == Qt.MouseButton.LeftButton
        moves = axis is not None or bool(ev.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if ev.button() == Qt.MouseButton.RightButton:
            ev.ignore()
        elif moves or not is_left:
            super().mouseDragEvent(ev, axis)
        else:
            ev.accept()
            self._mark(ev.buttonDownPos(), ev.pos(), is_done=ev.isFinish())

    def _mark(self, start: QPointF, end: QPointF, *, is_done: bool) -> None:
        """Show what is marked, in pixels of this box, or take it."""
        marked = QRectF(start, end).normalized() & self.boundingRect()
        has_values = self._has_free_values and marked.height() >= _LEAST_HEIGHT
        if not has_values:
            marked.setTop(0.0)
            marked.setBottom(self.boundingRect().height())
        if not is_done:
            self.updateScaleBox(marked.topLeft(), marked.bottomRight())
            return
        self.rbScaleBox.hide()
        if marked.width() < _LEAST_WIDTH:
            return
        shown = self.childGroup.mapRectFromParent(marked).normalized()
        values = (shown.top(), shown.bottom()) if has_values else None
        self.boxChosen.emit((shown.left(), shown.right()), values)
