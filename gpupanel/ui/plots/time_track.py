"""Where the time of a run went, as a band of curves that stand on each other."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gpupanel.domain.time_spent import TimeCategory, TimeSpent

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gpupanel.ui.plots.sample_buffer import Floats

_ROOM, _MOST = 512, 65_536
"""Stretches at first, and at most: with one a second, 18 hours at full detail."""
ACTIVITIES = tuple(TimeCategory)


class TimeTrack:
    """Percent of the time of each stretch that each replica spent with each activity.

    A full one puts two stretches together everywhere, and so has room for as many again.
    """

    def __init__(self) -> None:
        self._length = 0
        self._replicas = 0
        self.revision = 0
        """Changes whenever there is more."""

    def __len__(self) -> int:
        return self._length

    @property
    def replicas(self) -> int:
        """Of how many replicas it knows; 0 before anything was reported."""
        return self._replicas

    def add(self, moment: float, spent: TimeSpent) -> None:
        """Take in a stretch that ended at a moment of the run's time, in seconds.

        Of a run that continues with another number of replicas, what was before is forgotten.
        """
        import numpy as np

        replicas = len(spent.replicas)
        if not replicas or spent.seconds <= 0.0:
            return
        if replicas != self._replicas:
            self._length, self._replicas = 0, replicas
            self._times = np.empty(_ROOM)
            self._parts = np.empty((_ROOM, replicas, len(ACTIVITIES)), np.float32)
        self._make_room()
        last = self._times[self._length - 1] if self._length else moment
        self._times[self._length] = max(moment, last)
        for replica in range(replicas):
            fractions = spent.fractions([replica])
            self._parts[self._length, replica] = [
                100.0 * fractions.get(activity, 0.0) for activity in ACTIVITIES
            ]
        self._length += 1
        self.revision += 1

    @property
    def times(self) -> "Floats":
        """Ends of the stretches, ascending."""
        import numpy as np

        return self._times[: self._length] if self._length else np.empty(0)

    def percents(self, replicas: Sequence[int]) -> "NDArray[np.float32]":
        """Shape [stretches, activities]: a mean over these replicas; over all where none is."""
        import numpy as np

        if not self._length:
            return np.empty((0, len(ACTIVITIES)), np.float32)
        known = [replica for replica in replicas if replica < self._replicas]
        parts = self._parts[: self._length]
        means: NDArray[np.float32] = (parts[:, known] if known else parts).mean(axis=1)
        return means

    def _make_room(self) -> None:
        import numpy as np

        if self._length < len(self._times):
            return
        if self._length >= _MOST:
            self._length //= 2
            halves = self._parts[: 2 * self._length]
            self._parts[: self._length] = (halves[0::2] + halves[1::2]) / 2.0
            self._times[: self._length] = self._times[1 : 2 * self._length : 2].copy()
            return
        self._times = np.concatenate([self._times, np.empty_like(self._times)])
        self._parts = np.concatenate([self._parts, np.empty_like(self._parts)])


class BandPoints:
    """The upper edge of an activity in the band, or its own height.

    Args:
        track: What is drawn of.
        activity: Which.
        replicas: Over which a mean is drawn; empty: all.
        stands_on_others: The activities before it are below; else it is measured from zero.
    """

    def __init__(
        self,
        track: TimeTrack,
        activity: TimeCategory,
        replicas: Sequence[int],
        *,
        stands_on_others: bool,
    ) -> None:
        self._track = track
        self._place = ACTIVITIES.index(activity)
        self._replicas = tuple(replicas)
        self._first = 0 if stands_on_others else self._place
        self._made: tuple[int, Floats] | None = None

    @property
    def revision(self) -> int:
        """Changes whenever the points do."""
        return self._track.revision

    @property
    def times(self) -> "Floats":
        """Seconds since the start of the run, ascending."""
        return self._track.times

    @property
    def values(self) -> "Floats":
        """Parts of the time, in percent."""
        if self._made is None or self._made[0] != self.revision:
            parts = self._track.percents(self._replicas)
            values = parts[:, self._first : self._place + 1].sum(axis=1, dtype=float)
            self._made = self.revision, values
        return self._made[1]

    def value_at(self, position: float, /) -> float | None:
        """Of the stretch that the moment is in; ``None`` before the first and after the last."""
        times = self.times
        place = bisect_right(times, position)
        if place >= len(times) or not len(times):
            return float(self.values[-1]) if len(times) and position == times[-1] else None
        return float(self.values[place])

    def last(self) -> float | None:
        """The newest value; ``None`` where there is none."""
        return float(self.values[-1]) if len(self._track) else None
