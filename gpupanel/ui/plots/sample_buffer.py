"""A curve's points, in memory that is taken once."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_GROUP = 4
"""Points that two take the place of when the buffer is full: the least and the greatest."""


class SampleBuffer:
    """Points in order of time, preallocated.

    A full buffer does not forget the run's beginning: it keeps the least and the greatest of
    every four points and so makes room for as many again, at half the detail. What is drawn of
    it has fewer pixels than that.

    Args:
        capacity: The most points that are held.
    """

    def __init__(self, capacity: int = 131_072) -> None:
        self._capacity = max(_GROUP, capacity // _GROUP * _GROUP)
        self._times = np.empty(self._capacity)
        self._values = np.empty(self._capacity)
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
        """Add one point; ``None`` leaves a gap."""
        if self._length == self._capacity:
            self._halve()
        self._times[self._length] = time_s
        self._values[self._length] = np.nan if value is None else value
        self._length += 1
        self._revision += 1

    def clear(self) -> None:
        """Forget every point."""
        self._length = 0
        self._revision += 1

    def value_at(self, time_s: float) -> float | None:
        """The value of the last point up to that time; ``None`` before the first."""
        position = int(np.searchsorted(self.times, time_s, side="right")) - 1
        if position < 0 or np.isnan(self._values[position]):
            return None
        return float(self._values[position])

    def last(self) -> float | None:
        """The newest value; ``None`` where there is none."""
        if not self._length or np.isnan(self._values[self._length - 1]):
            return None
        return float(self._values[self._length - 1])

    def _halve(self) -> None:
        groups = self._values.reshape(-1, _GROUP)
        starts = np.arange(0, self._capacity, _GROUP)
        known = np.isfinite(groups)
        least = np.where(known, groups, np.inf).argmin(axis=1)
        greatest = np.where(known, groups, -np.inf).argmax(axis=1)
        # Both in the order in which they came; one and the same point twice is no harm.
        keep = np.stack(
            (starts + np.minimum(least, greatest), starts + np.maximum(least, greatest))
        )
        chosen = keep.T.ravel()
        self._length = chosen.size
        self._times[: self._length] = self._times[chosen]
        self._values[: self._length] = self._values[chosen]
