"""How far a run is: reported at most 20 times a second, and known however the run ends."""

import math
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gpupanel.domain.events import ExamplesDone, StepsDone
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.steps_line import StepsLine
from gpupanel.domain.time_spent import TimeSpent
from gpupanel.trainer.event_writer import EventWriter

if TYPE_CHECKING:
    # Its module needs TensorFlow, which a process that only reports does not.
    from gpupanel.trainer.models.objectives import Objective

_LEAST_INTERVAL_S = 0.055
"""A little more than a twentieth of a second, so that the last report fits in too."""

_RECENT_S = 10.0
"""Steps that wait do so in bursts: a share of single reports would jump."""


@dataclass(slots=True)
class TrainingRecord:
    """Filled by the loop, read when the run ends.

    Attributes:
        metrics: Of the last whole epoch; of the begun one while there is none; of the epoch whose
            weights the saved model has, once there is one.
        kept_epoch: That epoch; ``None``: no model was saved, or of no whole epoch.
        examples: Trained on within ``training_s``.
        training_s: Spent in training; start-up, validation and saving are not counted.
        waited_s: Of these, in which steps waited for their examples; ``None`` where that is not
            known.
        time_spent: Where all of the training's time went; ``None`` before that was reported.
        epochs: Trained from their first step on or in an earlier start of the run, to their end.
        examples_trained: All of them, those of the first call, too.
    """

    metrics: Metrics = field(default_factory=Metrics)
    kept_epoch: int | None = None
    examples: int = 0
    training_s: float = 0.0
    waited_s: float | None = None
    time_spent: TimeSpent | None = None
    epochs: int = 0
    examples_trained: int = 0

    @property
    def examples_per_second(self) -> float | None:
        """Examples per second of training only; ``None`` before the first measurement."""
        return self.examples / self.training_s if self.training_s > 0.0 else None

    @property
    def waiting_for_data(self) -> float | None:
        """The share of the training time, 0 to 1, in which steps waited for their examples."""
        if self.waited_s is None or self.training_s <= 0.0:
            return None
        return min(1.0, self.waited_s / self.training_s)


def added(sums: tuple[float, ...], more: tuple[float, ...]) -> tuple[float, ...]:
    """Sums of loss and metrics, and those of more examples; the first may be empty for none."""
    before = sums or (0.0,) * len(more)
    return tuple(one + other for one, other in zip(before, more, strict=True))


class StepReports:
    """Adds up steps until the next report is due; for how long they wait, over some seconds."""

    _sums: tuple[float, ...]

    def __init__(self, events: EventWriter, objective: "Objective") -> None:
        self._events = events
        self._objective = objective
        self._last_report_s = float("-inf")
        self._recent_s = 0.0
        self._recently_waited_s = 0.0
        self._clear()

    def add(
        self,
        steps: int,
        examples: int,
        sums: tuple[float, ...],
        s: float,
        waited_s: float,
        *,
        of_updates: Mapping[str, float],
    ) -> None:
        """Add the steps of one call, which lasted ``s`` seconds, ``waited_s`` of them waiting.

        Args:
            steps: How many.
            examples: Of them.
            sums: Over these, of loss and metrics.
            s: See above.
            waited_s: See above.
            of_updates: What each update gave, summed over the steps.
        """
        self._steps += steps
        self._examples += examples
        self._sums = added(self._sums, sums)
        for name, total in of_updates.items():
            self._of_updates[name] += total
        self._training_s += s
        fades = math.exp(-s / _RECENT_S)
        self._recent_s = self._recent_s * fades + s
        self._recently_waited_s = self._recently_waited_s * fades + waited_s

    def report(
        self,
        step: int,
        epoch: int,
        step_in_epoch: int,
        *,
        learning_rate: float | None = None,
        now: bool = False,
    ) -> None:
        """Report what was added, if a report is due.

        Args:
            step: Updates since the start of the run.
            epoch: Counted from 1.
            step_in_epoch: Updates of this epoch.
            learning_rate: Of the last update.
            now: Report whatever the time: nothing comes after.
        """
        clock_s = time.monotonic()
        if not self._steps or (not now and clock_s - self._last_report_s < _LEAST_INTERVAL_S):
            return
        metrics = self._objective.metrics(self._sums, self._examples)
        loss = metrics.loss
        assert loss is not None  # every objective has one
        means = {name: total / self._steps for name, total in self._of_updates.items()}
        # Squares of large numbers are infinite while the loss is not yet.
        known = {name: mean for name, mean in means.items() if math.isfinite(mean)}
        line = StepsLine(
            time_s=time.time(),
            step=step,
            steps=self._steps,
            epoch=epoch,
            step_in_epoch=step_in_epoch,
            examples=self._examples,
            loss=loss,
            accuracy=metrics.accuracy,
            examples_per_second=self._examples / max(self._training_s, 1e-9),
            learning_rate=learning_rate,
            waiting_for_data=min(1.0, self._recently_waited_s / max(self._recent_s, 1e-9)),
            step_time_ms=1_000.0 * self._training_s / self._steps,
        )
        self._events.write(StepsDone.of(line, known))
        self._last_report_s = clock_s
        self._clear()

    def _clear(self) -> None:
        self._steps = 0
        self._examples = 0
        self._sums = ()
        self._of_updates: defaultdict[str, float] = defaultdict(float)
        self._training_s = 0.0


class ExampleReports:
    """Counts examples and reports them when a report is due.

    Attributes:
        examples: Done so far.
    """

    def __init__(self, events: EventWriter, total: int) -> None:
        self.examples = 0
        self._events = events
        self._total = total
        self._start_s = time.monotonic()
        self._last_report_s = float("-inf")

    @property
    def seconds(self) -> float:
        """Since the first example was begun."""
        return time.monotonic() - self._start_s

    def add(self, examples: int) -> None:
        """Add a batch."""
        self.examples += examples
        now_s = time.monotonic()
        if now_s - self._last_report_s < _LEAST_INTERVAL_S and self.examples < self._total:
            return
        self._last_report_s = now_s
        self._events.write(
            ExamplesDone(
                time_s=time.time(),
                examples=self.examples,
                examples_total=self._total,
                examples_per_second=self.examples / max(self.seconds, 1e-9),
            )
        )
