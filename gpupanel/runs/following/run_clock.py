"""The time of a run: it stands still while nothing of the run is there."""

from dataclasses import dataclass

from gpupanel.domain.events import Event, RunRestarted, RunStarted


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

    A run that ended and was resumed, perhaps days later, goes on where its time had stopped.
    """

    def __init__(self) -> None:
        self._stretches: list[_Stretch] = []
        self._last_s = 0.0

    @property
    def has_begun(self) -> bool:
        """Whether the run reported anything at all."""
        return bool(self._stretches)

    def see(self, event: Event) -> None:
        """Take in one event, in the order in which they were written."""
        if not self._stretches:
            self._stretches.append(_Stretch(event.time_s, 0.0))
        elif isinstance(event, RunStarted):
            # What was told last before belongs to the stretch before.
            self._stretches.append(_Stretch(event.time_s, self.seconds(self._last_s) or 0.0))
        # A restart by hand is told before its supervisor is there.
        if not isinstance(event, RunRestarted):
            self._last_s = max(self._last_s, event.time_s)

    def seconds(self, clock_s: float) -> float | None:
        """The run's time at a moment; ``None`` before its beginning, or before it is known."""
        for stretch in reversed(self._stretches):
            if clock_s >= stretch.clock_s:
                return stretch.run_s + clock_s - stretch.clock_s
        return None
