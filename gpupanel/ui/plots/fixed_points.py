"""A curve's points as they were taken at one moment."""

from bisect import bisect_right
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpupanel.ui.plots.sample_buffer import Floats

_revisions = count()


class FixedPoints:
    """Points that never change; a curve that goes on gets others.

    Args:
        positions: Ascending, one dimension: seconds or steps.
        values: One for each position, finite.
    """

    def __init__(self, positions: "Floats", values: "Floats") -> None:
        self._positions, self._values = positions, values
        self._revision = next(_revisions)

    def __len__(self) -> int:
        return int(self._values.size)

    @property
    def revision(self) -> int:
        """No other points have the same."""
        return self._revision

    @property
    def times(self) -> "Floats":
        """Where the points are on the axis at the bottom."""
        return self._positions

    @property
    def values(self) -> "Floats":
        """One for each of the places."""
        return self._values

    def value_at(self, position: float) -> float | None:
        """The value of the last point up to there; ``None`` before the first, after the last."""
        index = bisect_right(self._positions, position) - 1
        if index < 0 or position > self._positions[-1]:
            return None
        return float(self._values[index])

    def last(self) -> float | None:
        """The newest value; ``None`` where there is none."""
        return float(self._values[-1]) if len(self) else None
