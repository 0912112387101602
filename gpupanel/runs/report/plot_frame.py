"""The axes of a picture: where numbers are in it, and which of them stand beside it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from gpupanel.domain.round_numbers import round_step
from gpupanel.runs.report.markup import Html, element

WIDTH: Final = 560
HEIGHT: Final = 250
_RIGHT, _TOP, _BOTTOM = 14, 10, 52
_CHARACTER: Final = 10.2
"""The width of a digit where letters are the largest: on narrow screens and on paper."""
_GAP: Final = 10
_LEAST: Final = 1e-20
"""Differences below that are none."""


@dataclass(frozen=True, slots=True)
class PlotAxis:
    """The span of an axis and its marks.

    Attributes:
        least: Where it begins.
        most: Where it ends.
        step: From mark to mark.
    """

    least: float
    most: float
    step: float

    @classmethod
    def over(cls, values: Sequence[float]) -> "PlotAxis":
        """An axis from a round number below all values to one above them."""
        least, most = min(values), max(values)
        size = max(abs(least), abs(most))
        if most - least <= max(1e-9 * size, _LEAST):
            pad = 0.1 * size if size > _LEAST else 1.0
            least, most = least - pad, most + pad
        step = round_step(most - least)
        return cls(math.floor(least / step) * step, math.ceil(most / step) * step, step)

    def marks(self) -> list[float]:
        """Round numbers, both ends included."""
        count = round((self.most - self.least) / self.step)
        return [self.least + place * self.step for place in range(count + 1)]

    def fraction(self, value: float) -> float:
        """Which part of the axis is below a value."""
        return (value - self.least) / (self.most - self.least)

    def text(self, value: float) -> str:
        """A mark as it is written."""
        if abs(value) < self.step / 2:
            return "0"
        if max(abs(self.least), abs(self.most)) >= 1e7 or self.step < 1e-5:
            return f"{value:.6g}"
        decimals = max(0, -math.floor(math.log10(self.step) + 1e-9))
        return f"{value:,.{decimals}f}"


@dataclass(frozen=True)
class Frame:
    """Two axes, with as much room on the left as the numbers there take.

    Attributes:
        across: The lower axis.
        upward: The left one.
    """

    across: PlotAxis
    upward: PlotAxis

    @cached_property
    def left(self) -> float:
        """Where the lower axis begins."""
        longest = max(len(self.upward.text(mark)) for mark in self.upward.marks())
        return _CHARACTER * longest + _GAP

    @property
    def right(self) -> float:
        """Where it ends."""
        return float(WIDTH - _RIGHT)

    @property
    def top(self) -> float:
        """Where the left axis ends."""
        return float(_TOP)

    @property
    def bottom(self) -> float:
        """Where it begins."""
        return float(HEIGHT - _BOTTOM)

    def x(self, value: float) -> str:
        """Where a value of the lower axis is."""
        return f"{self.left + self.across.fraction(value) * (self.right - self.left):.1f}"

    def y(self, value: float) -> str:
        """Where a value of the left axis is."""
        return f"{self.bottom - self.upward.fraction(value) * (self.bottom - self.top):.1f}"

    def grid(self, below: str) -> list[Html]:
        """Lines and numbers, and what is along the lower axis."""
        found = []
        for value in self.upward.marks():
            y = self.y(value)
            found.append(element("line", x1=self.left, x2=self.right, y1=y, y2=y, class_="grid"))
            words = self.upward.text(value)
            found.append(
                element("text", words, x=self.left - 8, y=y, dy="0.32em", text_anchor="end")
            )
        ends = {"y1": self.bottom, "y2": self.bottom}
        for value in self._labelled():
            x, words = self.x(value), self.across.text(value)
            found.append(
                element("line", x1=x, x2=x, y1=self.bottom, y2=self.bottom + 4, class_="axis")
            )
            is_beyond = float(x) + 0.5 * _CHARACTER * len(words) > WIDTH
            place, anchor = (WIDTH, "end") if is_beyond else (x, "middle")
            found.append(element("text", words, x=place, y=self.bottom + 21, text_anchor=anchor))
        found.append(element("line", x1=self.left, x2=self.right, **ends, class_="axis"))
        middle = (self.left + self.right) / 2
        found.append(element("text", below, x=middle, y=HEIGHT - 6, text_anchor="middle"))
        return found

    def _labelled(self) -> list[float]:
        """The marks of the lower axis that have room for their numbers."""
        marks = self.across.marks()
        longest = max(len(self.across.text(mark)) for mark in marks)
        room = (self.right - self.left) / max(1, len(marks) - 1)
        return marks[:: max(1, math.ceil((_CHARACTER * longest + _GAP) / room))]
