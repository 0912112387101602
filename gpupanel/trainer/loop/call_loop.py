"""Has steps done, call after call: while some are under way, those of the next one are read."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.strategy import StrategyKind
from gpupanel.trainer.datasets.examples import Indices
from gpupanel.trainer.interruptions import Interruption
from gpupanel.trainer.loop.call_batches import CallBatches
from gpupanel.trainer.loop.calls_in_flight import CallsInFlight, FinishedCall, GivenCall
from gpupanel.trainer.loop.consensus import Consensus, Pace, Vote
from gpupanel.trainer.steps.step_calls import StepCalls

_CALLS_A_DEVICE = 2
"""One that is computed, and one that is there when it has been."""


@dataclass(frozen=True, slots=True)
class Work:
    """What calls are made for.

    Attributes:
        calls_of: Does batches of so many examples.
        pace: How many steps a call has.
        take: Is given each call that has come back, and how many seconds passed for it.
        before: Is told the place of a call's first example and its batches before it is prepared;
            whether nothing else is to be under way beside it.
        ends: Asked before each call: what ends them, though nobody interrupts them.
        first_step: The number of the first step of the epoch in the run, counted from 0.
    """

    calls_of: Callable[[int], StepCalls]
    pace: Pace
    take: Callable[[FinishedCall, float], None]
    before: Callable[[int, Indices], bool] = lambda _place, _batches: False
    ends: Callable[[], Interruption | None] = lambda: None
    first_step: int = 0


class CallLoop:
    """Keeps the devices of a run busy, or every worker, and hands over what has come back.

    Processes that do the same calls hear of each other by what comes back. So each takes that in
    before the same call, and none waits for calls where the others do not.
    """

    def __init__(
        self,
        plan: LaunchPlan,
        consensus: Consensus,
        interruption: Callable[[], Interruption | None],
        vote: Callable[[Pace], Vote],
    ) -> None:
        """Nothing is under way; use it as a context manager.

        Args:
            plan: Of the run.
            consensus: Learns how many steps a call should have.
            interruption: Asked before each call, and while some are waited for: what ends them.
            vote: What this process hands in with a call of that pace.
        """
        self._batch_size = plan.global_batch_size
        self._asynchronous = plan.strategy is StrategyKind.PARAMETER_SERVER
        workers = len(plan.replicas) if self._asynchronous else 1
        self.in_flight = CallsInFlight(_CALLS_A_DEVICE * workers, workers=workers)
        self._consensus = consensus
        self._interruption = interruption
        self._vote = vote
        self._ended_s = 0.0
        self._work: Work | None = None

    def make(self, batches: Iterator[CallBatches], work: Work) -> Interruption | None:
        """Have all these steps done; nothing is under way afterwards, whatever it ends with."""
        self._work = work
        while True:
            interruption = self._wait_while(lambda: self.in_flight.is_full)
            if interruption is not None:
                return interruption
            if (end := work.ends()) is not None:
                self.settle()
                return end
            coming = next(batches, None)
            if coming is None:
                return self._wait_while(lambda: not self.in_flight.is_empty)
            place, steps = coming
            is_alone = work.before(place, steps)
            if self.in_flight.is_empty:
                self._ended_s = time.monotonic()
            calls = work.calls_of(steps.shape[1])
            launch = calls.prepare(
                steps,
                self._vote(work.pace),
                place=place,
                first_step=work.first_step + place // self._batch_size,
            )
            self.in_flight.begin(launch, GivenCall(len(steps), steps.shape[1], calls.shares))
            del launch
            if is_alone:
                self.settle()

    def settle(self) -> None:
        """Wait for what is under way."""
        while not self.in_flight.is_empty:
            self._take_next()

    def _wait_while(self, is_so: Callable[[], bool]) -> Interruption | None:
        while (interruption := self._interruption()) is None and is_so():
            self._take_next()
        return interruption

    def _take_next(self) -> None:
        finished, work = self.in_flight.next_finished(), self._work
        if finished is None or work is None:
            return
        # What is computed at the same time as others counts from where they ended, too.
        took_s = max(0.0, finished.ended_s - self._ended_s)
        self._ended_s = max(self._ended_s, finished.ended_s)
        sums = finished.sums
        lasted_s = sums.replica_seconds[0] if self._asynchronous else took_s
        self._consensus.take_votes(sums.votes, work.pace, sums.steps, lasted_s)
        work.take(finished, took_s)
