"""The speed of a run's steps, from its events; what comes before its steps are even is left out."""

from typing import TYPE_CHECKING, Final

from gpupanel.domain.events import Event, SharesChosen, StepsDone, TimeReported

if TYPE_CHECKING:
    from gpupanel.domain.time_spent import TimeSpent

WARM_UP_STEPS: Final = 10
"""Beside those of the first report, in whose calls the graph was built and memory was taken."""
STEPS: Final = 50
"""Are measured."""
_LEAST_S: Final = 2.0
"""Where steps are short, more of them are measured: so long, or a busy instant would count much."""
LONGEST_S: Final = 20.0
"""Where steps are long, fewer are measured; so long, too, is the warm-up at most."""


class SpeedMeter:
    """Takes the events of a run one by one.

    Attributes:
        steps: Measured until now.
        has_begun: Whether the run makes steps.
        shares: Of the replicas, as the run chose them last; empty: as its plan says.
        time_spent: Where the time of the measured steps went; ``None`` until it is reported.
    """

    def __init__(self) -> None:
        self.steps = 0
        self.has_begun = False
        self.shares: tuple[int, ...] = ()
        self.time_spent: TimeSpent | None = None
        self._first_s: float | None = None
        self._warm_steps = 0
        self._warm_from_step: int | None = None
        self._examples = 0
        self._seconds = 0.0

    @property
    def is_warm(self) -> bool:
        """Whether steps are measured."""
        return self._warm_from_step is not None

    @property
    def is_done(self) -> bool:
        """Whether enough was measured."""
        is_enough = self.steps >= STEPS and self._seconds >= _LEAST_S
        return is_enough or self._seconds >= LONGEST_S

    @property
    def examples_per_second(self) -> float | None:
        """The speed of the measured steps; ``None``: none were measured."""
        return self._examples / self._seconds if self._seconds > 0.0 else None

    def take(self, event: Event) -> None:
        """Take in the next event."""
        if isinstance(event, SharesChosen):
            self.shares = event.shares
        elif isinstance(event, TimeReported):
            # One that began in the warm-up is of both.
            if self._warm_from_step is not None and event.step > self._warm_from_step:
                spent = self.time_spent
                self.time_spent = event.spent if spent is None else spent.plus(event.spent)
        elif isinstance(event, StepsDone):
            self._take_steps(event)

    def _take_steps(self, event: StepsDone) -> None:
        self.has_begun = True
        if self._first_s is None:
            self._first_s = event.time_s
            return
        if self._warm_from_step is not None:
            if event.examples > 0 and event.examples_per_second:
                self.steps += event.steps
                self._examples += event.examples
                self._seconds += event.examples / event.examples_per_second
            return
        self._warm_steps += event.steps
        if self._warm_steps >= WARM_UP_STEPS or event.time_s - self._first_s >= LONGEST_S:
            self._warm_from_step = event.step
