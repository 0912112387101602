"""The loop of a parameter-server run: steps go to whichever worker is free."""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from typing_extensions import override

from gpupanel.domain.events import Phase
from gpupanel.trainer.datasets.examples import Indices
from gpupanel.trainer.interruptions import Interruption
from gpupanel.trainer.loop.call_batches import CallBatches, batches_of_calls
from gpupanel.trainer.loop.calls_in_flight import CallsInFlight, FinishedCall
from gpupanel.trainer.loop.consensus import Pace
from gpupanel.trainer.loop.loop import TrainingLoop
from gpupanel.trainer.steps.step_calls import CallSums, StepCalls

_CALLS_A_WORKER = 2
"""One that it does, and one that is there when it has done it."""


class AsynchronousLoop(TrainingLoop):
    """Keeps every worker busy, and waits for all of them where an epoch or the training ends.

    The steps of an epoch are those of every other strategy, in the same order; but a worker
    begins one before others have ended theirs, with the weights that it finds then. So whatever
    is saved or reported as a whole waits until nothing is under way.
    """

    @override
    def train(self) -> Interruption | None:
        """See :meth:`TrainingLoop.train`."""
        self._take: Callable[[FinishedCall], None] = self._learned
        self._last_finished_s = 0.0
        with CallsInFlight(_CALLS_A_WORKER * len(self._plan.replicas)) as self._in_flight:
            return super().train()

    @override
    def _train_epoch(self) -> Interruption | None:
        position, settings = self._position, self._settings
        order = self._begin_epoch()
        calls, first = self._learner.calls, position.step_in_epoch
        size, pace = self._plan.global_batch_size, self._training_pace
        batches = batches_of_calls(calls, order, size, pace, first_step=first)
        interruption = self._make_calls(
            batches,
            lambda steps: calls.of(steps.shape[1]),
            Phase.TRAINING,
            self._learned,
            # Nothing is under way between two epochs, so that all steps before are counted.
            first_step=position.step - first,
        )
        if interruption is not None or position.epoch == settings.epochs:
            self._report_steps(now=True)
        return interruption

    @override
    def _evaluate(
        self, calls: StepCalls, everything: Indices, phase: Phase
    ) -> tuple[float, ...] | Interruption:
        measured: list[FinishedCall] = []

        def take(finished: FinishedCall) -> None:
            self._check_finite(finished.sums, phase)
            self._take_pace(self._evaluation_pace, finished)
            measured.append(finished)

        size, pace = self._plan.measured_at_a_time, self._evaluation_pace
        batches = batches_of_calls(calls, everything, size, pace)
        interruption = self._make_calls(batches, lambda _: calls, phase, take)
        if interruption is not None:
            return interruption
        sums = (finished.sums.sums for finished in measured)
        return tuple(math.fsum(each) for each in zip(*sums, strict=True))

    @override
    def _settle(self) -> None:
        while not self._in_flight.is_empty:
            self._take_finished()

    def _make_calls(
        self,
        batches: Iterator[CallBatches],
        calls_for: Callable[[Indices], StepCalls],
        phase: Phase,
        take: Callable[[FinishedCall], None],
        *,
        first_step: int = 0,
    ) -> Interruption | None:
        """Have all these steps done; nothing is under way afterwards, whatever it ends with.

        Args:
            batches: Of each call.
            calls_for: What does them.
            phase: What they are for.
            take: Is given each call that has finished.
            first_step: The number of the first step of the epoch in the run, counted from 0.
        """
        self._take, size = take, self._plan.global_batch_size
        self._events.phase(phase)
        for place, steps, _ in batches:
            interruption = self._wait_while(lambda: self._in_flight.is_full)
            if interruption is not None:
                return interruption
            if phase is Phase.TRAINING and self._end_of_time() is not None:
                self._settle()
                return Interruption.TIME_IS_UP
            self._events.phase(phase)
            if self._in_flight.is_empty:
                self._last_finished_s = time.monotonic()
            # Where every worker has something to do, none waits for what is read meanwhile.
            nobody_waits = self._in_flight.under_way >= len(self._plan.replicas)
            begun = calls_for(steps).begin(
                steps, place=place, first_step=first_step + place // size
            )
            self._in_flight.begin(_without_wait(begun) if nobody_waits else begun, steps.size)
        return self._wait_while(lambda: not self._in_flight.is_empty)

    def _wait_while(self, is_so: Callable[[], bool]) -> Interruption | None:
        while (interruption := self._interruption()) is None and is_so():
            self._take_finished()
        return interruption

    def _take_finished(self) -> None:
        for finished in self._in_flight.finished():
            self._take(finished)

    def _learned(self, finished: FinishedCall) -> None:
        now_s = time.monotonic()
        # Workers work at the same time: what passed since the last one came back counts.
        took_s, self._last_finished_s = now_s - self._last_finished_s, now_s
        self._take_pace(self._training_pace, finished)
        self._add(finished.sums, finished.examples, took_s)
        self._report_steps()

    @override
    def _count_time(self, sums: CallSums) -> None:
        self._times.add_asynchronous(sums)
        self._times.report(self._position.step)

    def _take_pace(self, pace: Pace, finished: FinishedCall) -> None:
        self._consensus.take_votes((), pace, finished.sums.steps, finished.sums.replica_seconds[0])


def _without_wait(begun: Callable[[], CallSums]) -> Callable[[], CallSums]:
    return lambda: replace(begun(), waited_s=0.0)
