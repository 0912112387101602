"""The axes of plots: what they label, and the level lines behind curves."""

import math
import time

import pyqtgraph as pg
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget
from typing_extensions import override

from gpupanel.domain.round_numbers import labelled_step, round_logarithms, round_step
from gpupanel.ui import formatting
from gpupanel.ui.plots.axis_range import AxisKind

_PIXELS_A_VALUE = {"left": 24.0, "bottom": 120.0}
"""Pixels between labelled values; of logarithms there may be twice as many."""
_LEAST_OF_THREE = 44.0
"""Pixels on which three labels have room."""
_LARGEST = 307.0
"""The greatest exponent of ten that a number can have."""


Ticks = list[tuple[float, list[float]]]
"""The spacing of each level of ticks, and their places."""


class KeptTicks(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph has no types
    """Finds its ticks once: each frame asks for them, for the labels and for the lines behind."""

    def __init__(self, orientation: str) -> None:
        super().__init__(orientation)
        self._found: tuple[tuple[float, float, float], Ticks] | None = None

    def forget_ticks(self) -> None:
        """Find and draw them anew: they depend on something that changed."""
        self._found = self.picture = None
        self.update()

    @override
    def tickValues(self, minVal: float, maxVal: float, size: float) -> Ticks:
        """Where ticks are, level by level."""
        asked = (minVal, maxVal, size)
        if self._found is None or self._found[0] != asked:
            self._found = asked, self.find_ticks(minVal, maxVal, size)
        return self._found[1]

    def find_ticks(self, low: float, high: float, pixels: float) -> Ticks:
        """The ticks between two values that are so many pixels apart; all axes have one level.

        pyqtgraph's own way looks with NumPy for ticks of other levels, which takes ten times as
        long as all of this.
        """
        low, high = sorted((low, high))
        ((spacing, offset),) = self.tickSpacing(low, high, pixels)
        first = math.ceil((low - offset) / spacing) * spacing + offset
        count = int((high - first) / spacing) + 1
        return [(spacing, [first + number * spacing for number in range(count)])]


class ValueAxis(KeptTicks):
    """Labels at round numbers with thousands set apart, about as close as text needs."""

    def __init__(self, orientation: str) -> None:
        super().__init__(orientation)
        self._is_log = False
        self._bounds = (-math.inf, math.inf)

    def setBounds(self, low: float, high: float) -> None:
        """Label nothing beyond these: no value is there, only the margin of the curves."""
        self._bounds = (low, high)
        self.forget_ticks()

    def setLogarithmic(self, is_log: bool) -> None:
        """Whether places are logarithms to base 10 of what is labelled."""
        self._is_log = is_log
        self.forget_ticks()

    @override
    def find_ticks(self, low: float, high: float, pixels: float) -> Ticks:
        """Round numbers, also where their places are not equally far apart."""
        if not self._is_log:
            least, most = self._bounds
            # A place may differ from a round number in its last digits.
            room = 1e-9 * abs(high - low)
            return [
                (spacing, [each for each in places if least - room <= each <= most + room])
                for spacing, places in super().find_ticks(low, high, pixels)
            ]
        low, high = sorted((low, high))
        return [(1.0, round_logarithms(low, high, self._parts(pixels)))]

    @override
    def tickSpacing(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, float]]:
        """One level of ticks: two at least, since one number alone says nothing of a height."""
        low, high = max(minVal, self._bounds[0]), min(maxVal, self._bounds[1])
        if low >= high:
            return [(round_step(maxVal - minVal, self._parts(size)), 0.0)]
        parts = self._parts(size) * (high - low) / (maxVal - minVal)
        return [(labelled_step(low, high, parts), 0.0)]

    @override
    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        """The values as people read them."""
        if self._is_log:
            return [_label(10.0 ** min(value, _LARGEST)) for value in values]
        return [_label(value * scale) for value in values]

    def _parts(self, pixels: float) -> int:
        """So many parts of the axis have labels."""
        parts = math.ceil(pixels / _PIXELS_A_VALUE[self.orientation])
        return max(3 if pixels >= _LEAST_OF_THREE else 1, parts)


def _label(value: float) -> str:
    """A number as short as it can be, or pyqtgraph leaves out what is wider than the axis.

    "130,000", "1.25e8": without the zero that an exponent has elsewhere.
    """
    digits, mark, exponent = f"{value:,.6g}".partition("e")
    return f"{digits}e{int(exponent)}" if mark else digits


class AxisGrid(pg.UIGraphicsItem):  # type: ignore[misc]  # pyqtgraph has no types
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
        axis = self._axis
        painter.setPen(self._pen)
        if axis.orientation == "left":
            for _, places in axis.tickValues(view.top(), view.bottom(), axis.height()):
                for y in places:
                    painter.drawLine(QPointF(view.left(), y), QPointF(view.right(), y))
        else:
            for _, places in axis.tickValues(view.left(), view.right(), axis.width()):
                for x in places:
                    painter.drawLine(QPointF(x, view.top()), QPointF(x, view.bottom()))


_PIXELS_A_STEP = 72.0


class StepAxis(KeptTicks):
    """Labels at whole steps, at round numbers with thousands set apart: "12,000"."""

    @override
    def tickSpacing(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, float]]:
        """One level of ticks, as close as their labels have room."""
        parts = max(1, int(size / _PIXELS_A_STEP))
        return [(max(1.0, round_step(maxVal - minVal, parts)), 0.0)]

    @override
    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        """The steps as people read them."""
        return [f"{value * scale:,.0f}" for value in values]


class EpochAxis(KeptTicks):
    """Labels at round numbers of epochs, parts of one where few are shown: "2.5"."""

    @override
    def tickSpacing(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, float]]:
        """One level of ticks, as close as their labels have room."""
        return [(round_step(maxVal - minVal, max(1, int(size / _PIXELS_A_STEP))), 0.0)]

    @override
    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        """The epochs as people read them."""
        return [f"{value * scale:,.6g}" for value in values]


_STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400)
_PIXELS_A_TIME = 64.0
_MINUTE_S = 60


class TimeAxis(KeptTicks):
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


class ClockAxis(TimeAxis):
    """Labels at the local time of day: "14:30"; what it counts is seconds since the epoch."""

    @override
    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        """The times of day; seconds where they are not all the same."""
        pattern = "%H:%M" if spacing >= _MINUTE_S else "%H:%M:%S"
        return [time.strftime(pattern, time.localtime(value * scale)) for value in values]


def bottom_axis(kind: AxisKind) -> pg.AxisItem:
    """The axis that labels what is counted so."""
    classes = {
        AxisKind.TIME: TimeAxis,
        AxisKind.STEP: StepAxis,
        AxisKind.EPOCH: EpochAxis,
        AxisKind.CLOCK: ClockAxis,
    }
    return classes[kind]("bottom")
