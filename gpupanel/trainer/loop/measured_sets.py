"""Sets that are measured whole: the validation set after an epoch, the test set at the end."""

import math

import numpy as np

from gpupanel.domain.events import Phase
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.plan import LaunchPlan
from gpupanel.trainer.datasets.examples import Indices
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.interruptions import Interruption
from gpupanel.trainer.learner import Learner
from gpupanel.trainer.loop.call_batches import batches_of_calls
from gpupanel.trainer.loop.call_loop import CallLoop, Work
from gpupanel.trainer.loop.calls_in_flight import FinishedCall
from gpupanel.trainer.loop.consensus import Pace
from gpupanel.trainer.saving.position import Position
from gpupanel.trainer.saving.saving_problems import not_finite
from gpupanel.trainer.steps.step_calls import StepCalls


class MeasuredSets:
    """Measures all examples of a set with the weights as they are."""

    def __init__(
        self, plan: LaunchPlan, learner: Learner, events: EventWriter, calls: CallLoop
    ) -> None:
        """Nothing is measured yet.

        Args:
            plan: Of the run.
            learner: What is measured.
            events: Where the phase is reported.
            calls: Has the steps done.
        """
        self._batch_size = plan.measured_at_a_time
        self._measured = learner.measured
        self._events = events
        self._calls = calls
        self._pace = Pace()

    def measure(
        self, calls: StepCalls, count: int, phase: Phase, position: Position
    ) -> Metrics | Interruption:
        """Metrics of a set, without a prefix.

        Args:
            calls: Measure some of its examples.
            count: How many it has.
            phase: What it is measured for.
            position: Of the training.

        Raises:
            ProblemError: Its loss is not finite, or an example cannot be read.
        """
        everything = np.arange(count, dtype=np.int32)
        self._measured.begin()
        while True:
            totals = self._totals(calls, everything, phase, position)
            if isinstance(totals, Interruption):
                return totals
            if not self._measured.wants_more(totals):
                return self._measured.metrics(totals, count)

    def _totals(
        self, calls: StepCalls, everything: Indices, phase: Phase, position: Position
    ) -> tuple[float, ...] | Interruption:
        """The sums over a whole set."""
        measured: list[tuple[float, ...]] = []

        def before(_place: int, _batches: Indices) -> bool:
            # After a checkpoint.
            self._events.phase(phase)
            return False

        def take(finished: FinishedCall, _took_s: float) -> None:
            if not math.isfinite(finished.sums.loss_sum):
                name = "test loss" if phase is Phase.TESTING else "validation loss"
                raise not_finite(name, position)
            measured.append(finished.sums.sums)

        batches = batches_of_calls(calls, everything, self._batch_size, self._pace)
        work = Work(lambda _: calls, self._pace, take, before)
        interruption = self._calls.make(batches, work)
        if interruption is not None:
            return interruption
        # Calls may come back in any order.
        return tuple(
            math.fsum(each) if all(map(math.isfinite, each)) else sum(each)
            for each in zip(*measured, strict=True)
        )
