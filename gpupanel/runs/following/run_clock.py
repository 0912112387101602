"""The time of a run: it stands still while nothing of the run is there, and never goes back."""

from array import array
from bisect import bisect_right
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, Final

from gpupanel.domain.clock_jumps import SkippedTime
from gpupanel.domain.events import ClockJumped, Event, RunRestarted, RunStarted, UnknownEvent
from gpupanel.runs.following.figures import FigureBatch
from gpupanel.runs.following.steps import Floats, StepBatch

if TYPE_CHECKING:
    # Who never asks for many moments at once never waits for NumPy.
    import numpy as np
    from numpy.typing import NDArray

DISORDER_S: Final = 5.0
"""Several processes write to one file, and not always in the order of their times: only what goes
back by more is a clock that was set."""

_FEW: Final = 16
"""Moments that are gone through sooner than NumPy begins with them."""


class SteadyTime:
    """Makes the times of one file go on where a clock was set back, in the order of its lines.

    How long it was between the two lines around that nobody knows any more: it counts as nothing.
    A clock that is put right again by as much goes on as if nothing had been.
    """

    def __init__(self) -> None:
        self._last_s = -inf
        self._behind_s = 0.0

    def of(self, time_s: float) -> float:
        """One moment, seconds since the epoch (UTC)."""
        passed_s = time_s - self._last_s
        if passed_s < -DISORDER_S:
            self._behind_s -= passed_s
        elif self._behind_s and passed_s >= self._behind_s:
            self._behind_s = 0.0
        self._last_s = time_s
        return time_s + self._behind_s

    def of_many(self, times_s: Floats) -> Floats:
        """Many moments; the very same array where there is nothing to change."""
        if len(times_s) < _FEW:
            return array("d", map(self.of, times_s))
        if not self._behind_s and not self._goes_back(times_s):
            self._last_s = times_s[-1]
            return times_s
        return array("d", map(self.of, times_s))

    def _goes_back(self, times_s: Floats) -> bool:
        import numpy as np

        steps_s = np.diff(np.asarray(times_s), prepend=max(self._last_s, times_s[0] - DISORDER_S))
        return bool(steps_s.min() < -DISORDER_S)


def _greatest(times_s: Floats) -> float:
    if len(times_s) < _FEW:
        return max(times_s)
    import numpy as np

    return float(np.max(times_s))


def set_back_s(times_s: Floats) -> list[float]:
    """The amount of each backward jump of the times, in seconds."""
    in_order = times_s.tolist()
    if in_order == sorted(in_order):
        return []
    return [before - after for before, after in pairwise(in_order) if after < before]


class RunClock:
    """Turns moments into seconds since the start of a run.

    A run that ended and was resumed, perhaps days later, goes on where its time had stopped; so
    does one while which the clock was set back, or the machine slept.
    """

    def __init__(self) -> None:
        self._written = SteadyTime()
        self._sampled = SteadyTime()
        # Of each stretch in which a supervisor was there: when it began, in order, and the run's
        # time by then.
        self._began_s = array("d")
        self._run_s = array("d")
        self._last_s = 0.0
        self._skipped = SkippedTime()

    @property
    def has_begun(self) -> bool:
        """Whether the run reported anything at all."""
        return bool(self._began_s)

    def see(self, event: Event) -> float:
        """Take in one event, in the order in which they were written.

        Returns:
            When it happened, as :meth:`seconds` takes it.
        """
        if isinstance(event, UnknownEvent):
            return self._last_s  # nobody knows when that was
        time_s = self._written.of(event.time_s)
        if not self._began_s:
            self._begin(time_s, 0.0)
        elif isinstance(event, ClockJumped):
            self._leave_out(event, time_s)
        elif isinstance(event, RunStarted):
            # What was reported last before belongs to the stretch before.
            self._begin(time_s, self.seconds(self._last_s) or 0.0)
        # A restart by hand is reported before its supervisor is there.
        if not isinstance(event, RunRestarted):
            self._last_s = max(self._last_s, time_s)
        return time_s

    def see_steps(self, steps: StepBatch | FigureBatch) -> Floats:
        """Take in steps or figures in bulk; when they were done, as :meth:`moments` takes it."""
        times_s = self._written.of_many(steps.time_s)
        if not self._began_s:
            self._begin(times_s[0], 0.0)
        self._last_s = max(self._last_s, _greatest(times_s))
        return times_s

    def see_samples(self, times_s: Floats) -> Floats:
        """When samples were taken, as :meth:`moments` takes it; they are in a file of their own."""
        return self._sampled.of_many(times_s)

    def seconds(self, clock_s: float) -> float | None:
        """The run's time at a moment; ``None`` before its beginning, or before it is known."""
        place = bisect_right(self._began_s, clock_s) - 1
        return None if place < 0 else self._run_s[place] + clock_s - self._began_s[place]

    def moments(self, clock_s: "Floats | NDArray[np.float64]") -> "NDArray[np.float64]":
        """The run's time at many moments; not-a-number where :meth:`seconds` is ``None``."""
        import numpy as np

        asked = np.asarray(clock_s)
        if not self._began_s:
            return np.full(asked.shape, np.nan)
        began_s, run_s = np.asarray(self._began_s), np.asarray(self._run_s)
        places = np.searchsorted(began_s, asked, side="right") - 1
        return np.where(places < 0, np.nan, run_s[places] + asked - began_s[places])

    def _leave_out(self, jump: ClockJumped, time_s: float) -> None:
        """Let the run's time go on behind a jump where it stood before it."""
        if self._skipped.knows(jump):
            return
        self._skipped = self._skipped.after(jump)
        self._begin(time_s, self.seconds(time_s - jump.gap_s) or 0.0)

    def _begin(self, clock_s: float, run_s: float) -> None:
        """Begin a stretch at a moment, seconds since the epoch (UTC)."""
        # Times may go back by DISORDER_S at most; stretches do not.
        self._began_s.append(max(clock_s, self._began_s[-1]) if self._began_s else clock_s)
        self._run_s.append(run_s)
