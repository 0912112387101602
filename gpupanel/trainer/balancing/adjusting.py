"""Notices that a replica has become slower or faster than it was measured to be."""

from collections.abc import Sequence

from gpupanel.trainer.balancing.balanced_shares import balanced_shares, slowest_s
from gpupanel.trainer.balancing.speed_curve import SpeedCurve

_WINDOW_S = 1.5
"""Seconds of computing over which speeds are averaged by default."""

_WINDOWS = 2
"""So many in a row have to agree: a hiccup is not followed, and shares stay for seconds."""

_LEAST_GAIN = 1.05
"""A step has to become this many times as fast: below it is noise."""


class Adjusting:
    """Follows the seconds that each replica computes, and says which shares would be better.

    Its clock is the computing time of the slowest replica. Every process of a run sees the same
    numbers and so comes to the same shares at the same step, which it would not by its own clock.

    Attributes:
        curves: What each replica does now, as far as it is known.
        shares: Those that the next steps take.
    """

    def __init__(
        self,
        curves: Sequence[SpeedCurve],
        global_batch_size: int,
        least_share: int,
        *,
        window_s: float | None = None,
    ) -> None:
        """Begins with the best shares for these curves.

        Args:
            curves: What was measured of each replica.
            global_batch_size: What the shares sum to.
            least_share: Examples that each replica has to have.
            window_s: Seconds of computing that are averaged; left out: as many as single calls
                need to show something.

        Raises:
            SharesDoNotFit: See :func:`balanced_shares`.
        """
        self.curves = tuple(curves)
        self.shares = balanced_shares(curves, global_batch_size, least_share)
        self._window_s = _WINDOW_S if window_s is None else window_s
        self._global_batch_size = global_batch_size
        self._least_share = least_share
        self._windows = 0
        self._seconds: tuple[float, ...] = (0.0,) * len(self.shares)
        self._steps = 0

    def saw(self, replica_seconds: Sequence[float], steps: int) -> bool:
        """Learn from steps with full batches, done with :attr:`shares`.

        Args:
            replica_seconds: That each replica computed, over all the steps.
            steps: How many there were; at least 1.

        Returns:
            Whether :attr:`shares` are new ones.
        """
        self._seconds = tuple(
            before + more for before, more in zip(self._seconds, replica_seconds, strict=True)
        )
        self._steps += steps
        if max(self._seconds) < self._window_s:
            return False
        now = tuple(
            curve.slower(max(took_s, 1e-9) / self._steps / curve.seconds(share))
            for curve, share, took_s in zip(self.curves, self.shares, self._seconds, strict=True)
        )
        self._clear()
        return self._adjust(now)

    def _adjust(self, now: tuple[SpeedCurve, ...]) -> bool:
        """Take better shares if there are any, and were in the windows before too."""
        shares = balanced_shares(now, self._global_batch_size, self._least_share)
        gains = slowest_s(now, self.shares) >= _LEAST_GAIN * slowest_s(now, shares)
        self._windows = self._windows + 1 if gains else 0
        if self._windows < _WINDOWS:
            return False
        self.curves, self.shares, self._windows = now, shares, 0
        return True

    def _clear(self) -> None:
        """Begin a window."""
        self._seconds = (0.0,) * len(self.shares)
        self._steps = 0
