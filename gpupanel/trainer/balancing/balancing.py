"""Balanced shares of one run: measured before its first step, adjusted while it trains."""

import time
from typing import Literal

from gpupanel.domain.event_details import ReplicaSpeed
from gpupanel.domain.events import Phase, SharesChosen
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.balancing.adjusting import Adjusting
from gpupanel.trainer.balancing.balanced_shares import SharesDoNotFit
from gpupanel.trainer.balancing.measuring import TRIAL_S, Measuring
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.learner import Learner
from gpupanel.trainer.started_run import StartedRun
from gpupanel.trainer.steps.step_calls import CallSums
from gpupanel.trainer.steps.trials import Trials

_DOES_NOT_FIT = Problem(
    code="out_of_memory",
    field="training.global_batch_size",
    message="The replicas together cannot hold one global batch of this model: that was measured "
    "before the first step.",
    hint="Use a smaller model, a smaller global batch or more accumulation steps, or raise memory "
    "limits.",
)

_TRIAL_EVERY_S = 4.0


class Balancing:
    """Gives the learner's calls their shares, and reports them.

    Every process of a run does the same at the same steps, since all see the same numbers.
    """

    def __init__(
        self, run: StartedRun, learner: Learner, trials: Trials, events: EventWriter
    ) -> None:
        self._batch = run.plan.global_batch_size
        # An empty micro-batch would have no statistics for batch normalisation.
        self._least = run.plan.accumulation_steps
        self._learner = learner
        self._trials = trials
        self._waits_within = False
        self._events = events
        self._adjusting: Adjusting | None = None
        self._untried_s = 0.0
        self._steps_a_second = 0.0

    def measure(self, step: int) -> None:
        """Measure what each replica can do and choose the shares; nothing is learned from it.

        Args:
            step: Updates done before.

        Raises:
            ProblemError: The replicas cannot hold a global batch, or an example cannot be read.
        """
        learner = self._learner
        shares = learner.calls.shares
        # Those of the layers that learn now.
        self._trials = learner.trials or self._trials
        # Then replicas wait for each other while they compute, and their seconds say nothing.
        self._waits_within = learner.built.waits_within
        if self._batch < self._least * len(shares):
            return
        self._events.phase(Phase.MEASURING)
        measuring = Measuring(self._trials, len(shares), self._batch, self._least)
        try:
            curves = measuring.curves()
        except SharesDoNotFit as error:
            raise ProblemError(_DOES_NOT_FIT) from error
        window_s = 0.0 if self._waits_within else None
        self._adjusting = Adjusting(curves, self._batch, self._least, window_s=window_s)
        self._choose(self._adjusting, step, "measured")

    def saw(self, sums: CallSums, batch_size: int, step: int) -> None:
        """Learn from a call, and adjust the shares when that makes steps faster.

        Args:
            sums: Of the call.
            batch_size: Examples of each of its steps.
            step: Updates done so far.
        """
        adjusting = self._adjusting
        if adjusting is None or batch_size != self._batch or sums.steps == 0:
            # The last, smaller batch of an epoch would say little of full ones.
            return
        if self._waits_within:
            self._untried_s += max(sums.replica_seconds)
            self._steps_a_second = sums.steps / max(sums.replica_seconds)
        elif adjusting.saw(sums.replica_seconds, sums.steps):
            self._choose(adjusting, step, "adjusted")

    @property
    def wants_trial(self) -> bool:
        """Whether it is time to try a few steps in which nobody waits for another."""
        return self._untried_s >= _TRIAL_EVERY_S

    def try_again(self, step: int) -> None:
        """Try them, while nothing else is computed, and adjust the shares likewise.

        Args:
            step: Updates done so far.
        """
        adjusting = self._adjusting
        if adjusting is None:
            return
        self._untried_s = 0.0
        trial = self._trials(adjusting.shares, max(1, round(TRIAL_S * self._steps_a_second)))
        if not trial.failed and adjusting.saw(trial.seconds, 1):
            self._choose(adjusting, step, "adjusted")

    def _choose(
        self, adjusting: Adjusting, step: int, reason: Literal["measured", "adjusted"]
    ) -> None:
        """Take the shares from the next step on, and report them."""
        learner = self._learner
        learner.calls.shares = adjusting.shares
        for calls in (learner.validation_calls, learner.test_calls):
            if calls is not None:
                calls.shares = adjusting.shares
        speeds = tuple(
            ReplicaSpeed(
                replica=replica,
                examples_per_second=curve.examples_per_second(share),
                largest_share=curve.largest_share,
            )
            for replica, (curve, share) in enumerate(
                zip(adjusting.curves, adjusting.shares, strict=True)
            )
        )
        self._events.write(
            SharesChosen(
                time_s=time.time(),
                step=step,
                shares=adjusting.shares,
                speeds=speeds,
                reason=reason,
            )
        )


def make_balancing(run: StartedRun, learner: Learner, events: EventWriter) -> Balancing | None:
    """The balancing of a run; ``None`` where shares stay as they were planned."""
    trials = learner.trials
    return None if trials is None else Balancing(run, learner, trials, events)
