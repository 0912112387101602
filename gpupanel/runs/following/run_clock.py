"""The time of a run: it stands still while nothing of the run is there, and never goes back."""

from array import array
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, Final

from gpupanel.domain.events import Event, RunRestarted, RunStarted, UnknownEvent
from gpupanel.runs.following.steps import Floats, StepBatch

if TYPE_CHECKING:
    # Who never asks for many moments at once never waits for NumPy.
    import numpy as np
    from numpy.typing import NDArray

DISORDER_S: Final = 5.0
"""Several processes write to one file, and not always in the order of their times: only what goes
back by more is a clock that was set."""


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
        if not len(times_s):
            return times_s
        if not self._behind_s and not self._goes_back(times_s):
            self._last_s = times_s[-1]
            return times_s
        return array("d", map(self.of, times_s))

    def _goes_back(self, times_s: Floats) -> bool:
        import numpy as np

        steps_s = np.diff(np.asarray(times_s), prepend=max(self._last_s, times_s[0] - DISORDER_S))
        return bool(steps_s.min() < -DISORDER_S)


def set_back_s(times_s: Floats) -> list[float]:
    """By how much the times go back, each time that they do."""
    in_order = times_s.tolist()
    if in_order == sorted(in_order):
        return []
    return [before - after for before, after in pairwise(in_order) if after < before]


@dataclass(frozen=True, slots=True)
class _Stretch:
    """A stretch in which a supervisor was there.

    Attributes:
        clock_s: When it began, seconds since the epoch (UTC).
        run_s: The time of the run by then.
    """

    clock_s: float
    run_s: float


class RunClock:
    """Turns moments into seconds since the start of a run.

    A run that ended and was resumed, perhaps days later, goes on where its time had stopped; so
    does one while which the clock was set back.
    """

    def __init__(self) -> None:
        self._written = SteadyTime()
        self._sampled = SteadyTime()
        self._stretches: list[_Stretch] = []
        self._last_s = 0.0

    @property
    def has_begun(self) -> bool:
        """Whether the run reported anything at all."""
        return bool(self._stretches)

    def see(self, event: Event) -> float:
        """Take in one event, in the order in which they were written.

        Returns:
            When it happened, as :meth:`seconds` takes it.
        """
        if isinstance(event, UnknownEvent):
            return self._last_s  # nobody knows when that was
        time_s = self._written.of(event.time_s)
        if not self._stretches:
            self._stretches.append(_Stretch(time_s, 0.0))
        elif isinstance(event, RunStarted):
            # What was reported last before belongs to the stretch before.
            self._stretches.append(_Stretch(time_s, self.seconds(self._last_s) or 0.0))
        # A restart by hand is reported before its supervisor is there.
        if not isinstance(event, RunRestarted):
            self._last_s = max(self._last_s, time_s)
        return time_s

    def see_steps(self, steps: StepBatch) -> Floats:
        """Take in steps in bulk; when they were done, as :meth:`moments` takes it."""
        times_s = self._written.of_many(steps.time_s)
        if not self._stretches:
            self._stretches.append(_Stretch(times_s[0], 0.0))
        self._last_s = max(self._last_s, max(times_s))
        return times_s

    def see_samples(self, times_s: Floats) -> Floats:
        """When samples were taken, as :meth:`moments` takes it; they are in a file of their own."""
        return self._sampled.of_many(times_s)

    def seconds(self, clock_s: float) -> float | None:
        """The run's time at a moment; ``None`` before its beginning, or before it is known."""
        for stretch in reversed(self._stretches):
            if clock_s >= stretch.clock_s:
                return stretch.run_s + clock_s - stretch.clock_s
        return None

    def moments(self, clock_s: Floats) -> "NDArray[np.float64]":
        """The run's time at many moments; not-a-number where :meth:`seconds` is ``None``."""
        import numpy as np

        asked = np.asarray(clock_s)
        moments = np.full(asked.shape, np.nan)
        for stretch in self._stretches:
            within = asked >= stretch.clock_s
            moments[within] = stretch.run_s + asked[within] - stretch.clock_s
        return moments
