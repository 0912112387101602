"""Time that was no time of a run: the machine slept, or its clock was set forward.

Events carry the time of day, which jumps then; what a process measures of its own, by
``CLOCK_MONOTONIC`` (``time.monotonic``), stands still while Linux sleeps and is set by nobody. The
two are compared, and a jump becomes an event, after which everybody leaves it out.
"""

from typing import Final

from gpupanel.domain.events import ClockJumped
from gpupanel.domain.value import Value

LEAST_JUMP_S: Final = 5.0
"""A clock that is corrected over a network jumps by less, and is not worth a word."""


class ClockWatch:
    """Compares the two clocks whenever it is asked to.

    Args:
        wall_s: The time of day now, seconds since the epoch (UTC).
        steady_s: Seconds by a clock that nobody sets and that stands still during sleep.
    """

    def __init__(self, wall_s: float, steady_s: float) -> None:
        self._most_ahead_s = wall_s - steady_s

    def jump(self, wall_s: float, steady_s: float) -> ClockJumped | None:
        """What the time of day has jumped forward by since the last time; ``None``: it has not.

        A clock that was set back is known by the order of the events, and one that is put right
        after that has not jumped: it is where it was.
        """
        gap_s = wall_s - steady_s - self._most_ahead_s
        self._most_ahead_s += max(0.0, gap_s)
        return ClockJumped(time_s=wall_s, gap_s=gap_s) if gap_s >= LEAST_JUMP_S else None


class SkippedTime(Value):
    """The jumps of a run, each once, however many processes have reported it.

    Attributes:
        until_s: When each was over, seconds since the epoch (UTC), in order.
        gaps_s: How long each was.
    """

    until_s: tuple[float, ...] = ()
    gaps_s: tuple[float, ...] = ()

    def knows(self, jump: ClockJumped) -> bool:
        """Whether another process has reported that jump, or each of several that it is made of.

        A process compares the clocks when it has something to say: what it reports late began
        before the end of what was reported first.
        """
        return bool(self.until_s) and jump.time_s - jump.gap_s < self.until_s[-1]

    def after(self, jump: ClockJumped) -> "SkippedTime":
        """The skipped time with this jump included, unless it is known already."""
        if self.knows(jump):
            return self
        return SkippedTime(until_s=(*self.until_s, jump.time_s), gaps_s=(*self.gaps_s, jump.gap_s))

    def after_moment(self, start_s: float) -> float:
        """Seconds from a moment on that were no time of the run."""
        return self.between(start_s, max(self.until_s, default=start_s))

    def between(self, start_s: float, end_s: float) -> float:
        """Seconds between two moments that were no time of the run."""
        return sum(
            max(0.0, min(end_s, until_s) - max(start_s, until_s - gap_s))
            for until_s, gap_s in zip(self.until_s, self.gaps_s, strict=True)
        )
