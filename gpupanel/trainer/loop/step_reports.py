"""Reports steps as they are done, at most 20 times a second however fast they are."""

import time
from typing import TYPE_CHECKING

from gpupanel.domain.events import StepsDone
from gpupanel.trainer.event_writer import EventWriter

if TYPE_CHECKING:
    # Its module needs TensorFlow, which a process that only reports does not.
    from gpupanel.trainer.models.objectives import Objective

_LEAST_INTERVAL_S = 0.055
"""A little more than a twentieth of a second, so that the last report fits in too."""


class StepReports:
    """Adds up steps until the next report is due."""

    def __init__(self, events: EventWriter, objective: "Objective") -> None:
        self._events = events
        self._objective = objective
        self._last_report_s = float("-inf")
        self._clear()

    def add(self, steps: int, examples: int, loss_sum: float, measure_sum: float, s: float) -> None:
        """Add the steps of one call, which lasted ``s`` seconds."""
        self._steps += steps
        self._examples += examples
        self._loss_sum += loss_sum
        self._measure_sum += measure_sum
        self._training_s += s

    def report(self, step: int, epoch: int, step_in_epoch: int, *, now: bool = False) -> None:
        """Report what was added, if a report is due.

        Args:
            step: Updates since the start of the run.
            epoch: Counted from 1.
            step_in_epoch: Updates of this epoch.
            now: Report whatever the time: nothing comes after.
        """
        clock_s = time.monotonic()
        if not self._steps or (not now and clock_s - self._last_report_s < _LEAST_INTERVAL_S):
            return
        metrics = self._objective.metrics(self._loss_sum, self._measure_sum, self._examples)
        self._events.write(
            StepsDone(
                time_s=time.time(),
                step=step,
                steps=self._steps,
                epoch=epoch,
                step_in_epoch=step_in_epoch,
                examples=self._examples,
                loss=self._objective.loss(self._loss_sum, self._examples),
                accuracy=metrics.accuracy,
                examples_per_second=self._examples / max(self._training_s, 1e-9),
            )
        )
        self._last_report_s = clock_s
        self._clear()

    def _clear(self) -> None:
        self._steps = 0
        self._examples = 0
        self._loss_sum = 0.0
        self._measure_sum = 0.0
        self._training_s = 0.0
