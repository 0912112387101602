"""Times as they would stand in a file if nobody had set the clock back meanwhile."""

from array import array
from itertools import pairwise
from math import inf
from typing import Final

from gpupanel.runs.following.steps import Floats

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
