"""What the axis at the bottom of plots counts, and ranges that stand still while values change."""

import math
import time
from enum import StrEnum

from gpupanel.domain.round_numbers import round_step
from gpupanel.ui import formatting

_LEAST_SPAN = 1e-12
"""As a part of the values: steps that are much finer are lost in rounding."""


def settled_range(
    least: float, greatest: float, shown: tuple[float, float] | None
) -> tuple[float, float]:
    """A range of round numbers around values; the one that is shown as long as it will do.

    It widens as soon as a value is outside and narrows only when the values fill less than a
    half of it, so that the axis does not follow every wiggle.
    """
    span = greatest - least
    if shown is not None:
        low, high = shown
        if low <= least and greatest <= high and span >= 0.5 * (high - low):
            return shown
    # Values that differ in their last digits only are drawn as equal ones.
    if span <= _LEAST_SPAN * abs(greatest):
        span = abs(greatest) or 1.0
    step = round_step(span)
    low, high = math.floor(least / step) * step, math.ceil(greatest / step) * step
    return (low, high) if high > low else (low, low + step)


def time_range(elapsed_s: float, least: float = 10.0) -> tuple[float, float]:
    """From the start of the run to a round time after now, which grows in jumps."""
    if elapsed_s <= least:
        return 0.0, least
    step = round_step(elapsed_s, parts=8)
    return 0.0, math.ceil(elapsed_s / step) * step


_ROOM_AT_END = 1.02


class AxisKind(StrEnum):
    """Seconds, steps or epochs, each from the start of a run; or the time of day."""

    TIME = "time"
    STEP = "step"
    EPOCH = "epoch"
    CLOCK = "clock"
    """Seconds since the epoch (UTC), read as the local time of day."""

    def position_text(self, position: float) -> str:
        """A place on the axis: "step 1,204", "epoch 2.5", "at 0:30"."""
        match self:
            case AxisKind.STEP:
                return f"step {position:,.0f}"
            case AxisKind.EPOCH:
                return f"epoch {position:,.4g}"
            case AxisKind.TIME:
                return f"at {formatting.duration(position)}"
            case AxisKind.CLOCK:
                return f"at {time.strftime('%H:%M:%S', time.localtime(position))}"

    @property
    def least_span(self) -> float:
        """The least span at the bottom: as close as one can zoom."""
        least = {AxisKind.STEP: 1.0, AxisKind.EPOCH: 0.02, AxisKind.CLOCK: 30.0}
        return least.get(self, 1.0)

    def at_least(self, start: float, end: float) -> tuple[float, float]:
        """That part of the axis, as wide as the least one can zoom to."""
        return start, max(end, start + self.least_span)

    def whole(self, end: float) -> tuple[float, float]:
        """From the start of the run to a round place after its end, which grows in jumps."""
        start, last = time_range(end, least=1.0 if self is AxisKind.EPOCH else 10.0)
        # A dot at the very end is seen whole.
        return start, max(last, end * _ROOM_AT_END)
