"""The axes of plots: what they label, and the level lines behind curves."""

import pyqtgraph as pg
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget
from typing_extensions import override

from gpupanel.ui import formatting
from gpupanel.ui.plots.axis_range import nice_step

_PIXELS_A_VALUE = 36.0


class ValueAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph has no types
    """Labels at round numbers with thousands set apart, about as close as text needs."""

    @override
    def tickSpacing(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, float]]:
        """One level of ticks."""
        parts = max(2, int(size / _PIXELS_A_VALUE))
        return [(nice_step(maxVal - minVal, parts), 0.0)]

    @override
    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        """The values as people read them."""
        return [f"{value * scale:,.6g}" for value in values]


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


_PIXELS_A_STEP = 88.0


class StepAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph has no types
    """Labels at whole steps, at round numbers with thousands set apart: "12,000"."""

    @override
    def tickSpacing(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, float]]:
        """One level of ticks, as close as their labels have room."""
        parts = max(1, int(size / _PIXELS_A_STEP))
        return [(max(1.0, nice_step(maxVal - minVal, parts)), 0.0)]

    @override
    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        """The steps as people read them."""
        return [f"{value * scale:,.0f}" for value in values]


_STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400)
_PIXELS_A_TIME = 64.0


class TimeAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph has no types
    """Labels at whole seconds, minutes and hours: "0:30", "1:15:00"."""

    @override
    def tickSpacing(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, float]]:
        """One level of ticks, as close as their labels have room."""
        rough = (maxVal - minVal) * _PIXELS_A_TIME / max(1.0, size)
        step = next((step for step in _STEPS_S if step >= rough), None)
        if step is None:
            days = int(rough // _STEPS_S[-1]) + 1
            step = days * _STEPS_S[-1]
        return [(float(step), 0.0)]

    @override
    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        """The times as people read them."""
        return [formatting.duration(value * scale) for value in values]
