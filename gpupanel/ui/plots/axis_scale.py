"""Where moments of a run are on the axis at the bottom of plots."""

import math
from typing import TYPE_CHECKING, Protocol

from gpupanel.ui.plots.step_track import StepTrack

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gpupanel.ui.plots.sample_buffer import Floats


class AxisScale(Protocol):
    """From what the points of curves are counted by to what the axis counts, and back."""

    @property
    def revision(self) -> tuple[object, ...]:
        """Changes whenever a place does."""

    def positions(self, times: "Floats", /) -> "Floats":
        """Where these are on the axis: ascending as the times are."""

    def times_at(self, positions: "Floats", /) -> "Floats":
        """When these places were reached: ascending as the places are."""

    def hidden(self, times: "Floats", /) -> "NDArray[np.bool_] | None":
        """Which of these have no place on the axis; ``None``: all have one."""

    def time_at(self, position: float, /) -> float:
        """The time whose values are shown for a place."""


class SameScale:
    """The axis counts what the points are counted by."""

    revision: tuple[object, ...] = ()

    def positions(self, times: "Floats") -> "Floats":
        """The very same."""
        return times

    def times_at(self, positions: "Floats") -> "Floats":
        """The very same."""
        return positions

    def hidden(self, _times: "Floats") -> None:
        """None of them."""

    def time_at(self, position: float) -> float:
        """The very same."""
        return position


SAME_SCALE = SameScale()


class StepScale:
    """The axis counts steps, or epochs; the points are counted by time.

    So everything that is known of a moment, what the devices did as well, stands at the step that
    was being done. What is before the first step has no place, nor have steps that were done again.

    Args:
        track: When the steps were done.
        unit: Steps that the axis counts as one: those of an epoch, or 1.
    """

    def __init__(self, track: StepTrack, unit: float = 1.0) -> None:
        self._track, self._unit = track, unit

    @property
    def revision(self) -> tuple[object, ...]:
        """Changes whenever a place does."""
        return (self._track.revision, self._unit)

    def positions(self, times: "Floats") -> "Floats":
        """Steps by these times; after the last report as many as by then."""
        import numpy as np

        if not len(self._track.times):
            return np.zeros(times.shape)
        return np.interp(times, self._track.times, self._track.steps) / self._unit

    def times_at(self, positions: "Floats") -> "Floats":
        """When so many steps were done; never, for those that were not done yet."""
        import numpy as np

        track = self._track
        if not len(track.times):
            return np.full(positions.shape, math.inf)
        return np.interp(positions * self._unit, track.steps, track.times, right=math.inf)

    def hidden(self, times: "Floats") -> "NDArray[np.bool_] | None":
        """Those before the first step, and those of steps that were done again."""
        return self._track.is_undone(times)

    def time_at(self, position: float) -> float:
        """When that step was done last."""
        import numpy as np

        time_s = float(self.times_at(np.array([position]))[0])
        return self._track.known_before(time_s)
