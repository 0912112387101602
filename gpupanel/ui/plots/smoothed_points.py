"""A growing curve, smoothed."""

import math
from bisect import bisect_right
from typing import TYPE_CHECKING

from gpupanel.ui.plots.curve import CurvePoints
from gpupanel.ui.plots.step_track import StepTrack

if TYPE_CHECKING:
    from gpupanel.ui.plots.sample_buffer import Floats


class SmoothedPoints:
    """What was measured over steps, as :func:`~gpupanel.ui.plots.smoothing.smoothed` does it.

    Calculated anew when it is asked for and something has changed. There is no value for steps that
    were done again: the curve goes on from where these began.

    Args:
        measured: By time.
        track: When the steps were done.
        span: Steps.
    """

    def __init__(self, measured: CurvePoints, track: StepTrack, span: float) -> None:
        self._measured, self._track, self._span = measured, track, span
        self._made_of: tuple[int, int] | None = None
        self._made: Floats

    @property
    def revision(self) -> int:
        """Changes whenever the points do."""
        return self._measured.revision

    @property
    def times(self) -> "Floats":
        """The times of the measured points."""
        return self._measured.times

    @property
    def values(self) -> "Floats":
        """One for each of the times; not-a-number where there is none."""
        made_of = (self._measured.revision, self._track.revision)
        if made_of != self._made_of:
            self._made_of, self._made = made_of, self._make()
        return self._made

    def value_at(self, time_s: float) -> float | None:
        """The value of the last point up to that time; ``None`` before the first."""
        return self._value(bisect_right(self.times, time_s) - 1)

    def last(self) -> float | None:
        """The newest value; ``None`` where there is none."""
        return self._value(len(self.times) - 1)

    def _value(self, place: int) -> float | None:
        if place < 0 or math.isnan(self.values[place]):
            return None
        return float(self.values[place])

    def _make(self) -> "Floats":
        import numpy as np

        from gpupanel.ui.plots.smoothing import smoothed

        times, values = self._measured.times, self._measured.values
        result = np.full(values.shape, np.nan)
        if not len(self._track.times):
            return result
        known = np.isfinite(values)
        undone = self._track.is_undone(times)
        if undone is not None:
            known &= ~undone
        steps = np.interp(times[known], self._track.times, self._track.steps)
        # Smoothing counts from 0, where nothing has been measured.
        steps = np.maximum(steps, np.finfo(float).tiny)
        result[known] = smoothed(steps, values[known], self._span)
        return result
