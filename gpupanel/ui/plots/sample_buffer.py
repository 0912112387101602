"""A curve's points, in memory that is taken once."""

import math
from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    # A window without a run stands a tenth of a second earlier without NumPy.
    import numpy as np
    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float64]"

_GROUP = 4
"""Points that two take the place of when the buffer is full: the least and the greatest."""


class SampleBuffer:
    """Points in order of time, in memory that is taken with the first of them.

    A full buffer does not forget the run's beginning: it keeps the least and the greatest of
    every four points and so makes room for as many again, at half the detail. What is drawn of
    it has fewer pixels than that.

    Args:
        capacity: The most points that are held.
    """

    def __init__(self, capacity: int = 131_072) -> None:
        self._capacity = max(_GROUP, capacity // _GROUP * _GROUP)
        self._length = 0
        self._revision = 0

    def __len__(self) -> int:
        return self._length

    @property
    def revision(self) -> int:
        """Changes whenever the points do."""
        return self._revision

    @property
    def times(self) -> Floats:
        """Seconds since the start of the run, ascending; a view that the next append outdates."""
        return self._times[: self._length]

    @property
    def values(self) -> Floats:
        """One for each of the times; not-a-number where a reading was missing."""
        return self._values[: self._length]

    def append(self, time_s: float, value: float | None) -> None:
        """Add one point; ``None`` leaves a gap.

        Time does not go back: a point from before the last one, since a clock was set back,
        stands where that one does.
        """
        if self._length == self._capacity:
            self._halve()
        self._times[self._length] = self._not_before_last(time_s)
        self._values[self._length] = math.nan if value is None else value
        self._length += 1
        self._revision += 1

    def extend(self, times: Floats, values: Floats) -> None:
        """Add points, the same as one by one; not-a-number leaves a gap."""
        import numpy as np

        taken = 0
        while taken < times.size:
            if self._length == self._capacity:
                self._halve()
            count = min(times.size - taken, self._capacity - self._length)
            added = slice(self._length, self._length + count)
            self._times[added] = times[taken : taken + count]
            self._times[self._length] = self._not_before_last(self._times[self._length])
            np.maximum.accumulate(self._times[added], out=self._times[added])
            self._values[added] = values[taken : taken + count]
            self._length += count
            taken += count
        self._revision += 1

    def end_line(self) -> None:
        """Let no line lead from the last point to what comes next."""
        if self._length:
            self.append(float(self._times[self._length - 1]), None)

    def clear(self) -> None:
        """Forget every point."""
        self._length = 0
        self._revision += 1

    def value_at(self, time_s: float) -> float | None:
        """The value of the last point up to that time; ``None`` before the first."""
        if not self._length:
            return None
        position = bisect_right(self._times, time_s, hi=self._length) - 1
        if position < 0 or math.isnan(self._values[position]):
            return None
        return float(self._values[position])

    def last(self) -> float | None:
        """The newest value; ``None`` where there is none."""
        if not self._length or math.isnan(self._values[self._length - 1]):
            return None
        return float(self._values[self._length - 1])

    def _not_before_last(self, time_s: float) -> float:
        return max(time_s, float(self._times[self._length - 1])) if self._length else time_s

    @cached_property
    def _times(self) -> Floats:
        return _empty(self._capacity)

    @cached_property
    def _values(self) -> Floats:
        return _empty(self._capacity)

    def _halve(self) -> None:
        import numpy as np

        groups = self._values.reshape(-1, _GROUP)
        starts = np.arange(0, self._capacity, _GROUP)
        known = np.isfinite(groups)
        least = _places_of_least(np.where(known, groups, np.inf))
        greatest = _places_of_least(np.where(known, -groups, np.inf))
        # Both in the order in which they came; one and the same point twice is no harm.
        keep = np.stack(
            (starts + np.minimum(least, greatest), starts + np.maximum(least, greatest))
        )
        chosen = keep.T.ravel()
        self._length = chosen.size
        self._times[: self._length] = self._times[chosen]
        self._values[: self._length] = self._values[chosen]


def _places_of_least(groups: Floats) -> "NDArray[np.intp]":
    """Where in each row of four the first of its least values is: a third of ``argmin``'s time."""
    import numpy as np

    first, second, third, fourth = groups.T
    early, late = (second < first).astype(np.intp), 2 + (fourth < third).astype(np.intp)
    is_late = np.minimum(third, fourth) < np.minimum(first, second)
    places: NDArray[np.intp] = np.where(is_late, late, early)
    return places


def _empty(length: int) -> Floats:
    import numpy as np

    return np.empty(length)
