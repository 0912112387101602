"""Level lines behind curves."""

import pyqtgraph as pg
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget
from typing_extensions import override


class ValueGrid(pg.UIGraphicsItem):  # type: ignore[misc]  # pyqtgraph has no types
    """A line at each label of an axis.

    pyqtgraph's own grid belongs to the axis, so that each frame of the curves draws the labels
    anew: a third of the whole frame.
    """

    def __init__(self, axis: pg.AxisItem) -> None:
        super().__init__()
        self._axis = axis
        self._pen = pg.mkPen(None)
        self.setZValue(-10)

    def setColor(self, color: QColor) -> None:
        """Draw the lines in that colour."""
        self._pen = pg.mkPen(color, width=1)
        self.update()

    @override
    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,
        widget: QWidget | None = None,
    ) -> None:
        view = self.viewRect()
        levels = self._axis.tickValues(view.top(), view.bottom(), self._axis.height())
        painter.setPen(self._pen)
        for _, values in levels:
            for value in values:
                painter.drawLine(QPointF(view.left(), value), QPointF(view.right(), value))
