"""When a run had done how many steps."""

import math
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # A window without a run stands a tenth of a second earlier without NumPy.
    import numpy as np
    from numpy.typing import NDArray

    from gpupanel.ui.plots.sample_buffer import Floats


class StepTrack:
    """The time of each step, each step once: what was done again counts as it was done last.

    Full, it keeps every other report: between two of them steps are as long as each other.

    Args:
        capacity: The most reports that are held.
    """

    def __init__(self, capacity: int = 65_536) -> None:
        self._capacity = max(4, capacity)
        self._length = 0
        self._revision = 0
        # Stretches of time in which steps were done that were done again: ascending, apart.
        self._undone: list[tuple[float, float]] = []

    @property
    def revision(self) -> int:
        """Changes whenever anything else does."""
        return self._revision

    @property
    def times(self) -> "Floats":
        """Seconds since the start of the run, ascending; a view that the next report outdates."""
        return self._times[: self._length]

    @property
    def steps(self) -> "Floats":
        """Updates done by each of the times; each is greater than the one before."""
        return self._steps[: self._length]

    @property
    def last_step(self) -> float:
        """Updates done; 0 before the first."""
        return float(self._steps[self._length - 1]) if self._length else 0.0

    def extend(self, times: "Floats", steps: "Floats") -> None:
        """Take in reports, in the order in which they were written.

        Args:
            times: Seconds since the start of the run, one dimension.
            steps: Updates done by then; one that is not greater than those before does these again.
        """
        import numpy as np

        if not times.size:
            return
        later = np.minimum.accumulate(steps[::-1])[::-1]
        is_last_word = np.append(steps[:-1] < later[1:], True)
        times, steps = np.maximum.accumulate(times)[is_last_word], steps[is_last_word]
        self.cut(float(steps[0]), float(times[0]))
        if self._length:
            times = np.maximum(times, self._times[self._length - 1])
        taken = 0
        while taken < times.size:
            if self._length == self._capacity:
                self._halve()
            count = min(times.size - taken, self._capacity - self._length)
            added, given = slice(self._length, self._length + count), slice(taken, taken + count)
            self._times[added], self._steps[added] = times[given], steps[given]
            self._length += count
            taken += count
        self._revision += 1

    def clear(self) -> None:
        """Forget every step: what comes counts them otherwise."""
        self._length = 0
        self._undone.clear()
        self._revision += 1

    def cut(self, step: float, time_s: float) -> None:
        """Forget that step and all after it: from that time on they are done again."""
        import numpy as np

        kept = int(np.searchsorted(self.steps, step))
        if kept == self._length:
            return
        since_s = float(self._times[kept])
        self._length = kept
        while self._undone and self._undone[-1][1] >= since_s:
            since_s = min(since_s, self._undone.pop()[0])
        if time_s > since_s:
            self._undone.append((since_s, time_s))
        self._revision += 1

    def is_undone(self, times: "Floats") -> "NDArray[np.bool_] | None":
        """Which of these times belong to no step, or to steps that were done again; ``None``: none.

        Args:
            times: Ascending, one dimension.
        """
        import numpy as np

        if not times.size or not self._length:
            return None
        result = times < self._times[0]
        starts, ends = self._undone_edges()
        if starts.size:
            place = np.searchsorted(starts, times, side="right") - 1
            result |= (place >= 0) & (times < ends[place])
        return result if result.any() else None

    def known_before(self, time_s: float) -> float:
        """That time, or where a step that was done again lies there, just before these began."""
        for since_s, until_s in reversed(self._undone):
            if since_s <= time_s < until_s:
                return math.nextafter(since_s, -math.inf)
        return time_s

    def _undone_edges(self) -> tuple["Floats", "Floats"]:
        import numpy as np

        edges = np.array(self._undone).reshape(-1, 2)
        return edges[:, 0], edges[:, 1]

    @cached_property
    def _times(self) -> "Floats":
        import numpy as np

        return np.empty(self._capacity)

    @cached_property
    def _steps(self) -> "Floats":
        import numpy as np

        return np.empty(self._capacity)

    def _halve(self) -> None:
        # The first and the last of them stay.
        length = self._length // 2 + 1
        for column in (self._times, self._steps):
            last = column[self._length - 1]
            column[: length - 1] = column[: self._length - 1 : 2].copy()
            column[length - 1] = last
        self._length = length
