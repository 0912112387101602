"""The calls that do steps: what a loop asks of them, and which a run's strategy makes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import tensorflow as tf

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.strategy import StrategyKind
from gpupanel.trainer.augmentation.augmenter import Augmenter
from gpupanel.trainer.datasets.examples import Examples, Indices
from gpupanel.trainer.steps.asynchronous_calls import AsynchronousCalls
from gpupanel.trainer.steps.augmented_feeds import AugmentedFeed, AugmentedWorkerFeed
from gpupanel.trainer.steps.calls import Calls, CallSums, ReplicaStep
from gpupanel.trainer.steps.feeds import Feed, make_feed
from gpupanel.trainer.steps.order import Parts
from gpupanel.trainer.steps.worker_feeds import make_worker_feed


class StepCalls(Protocol):
    """Runs several steps in one call.

    Attributes:
        shares: Examples of a full global batch, per replica.
    """

    shares: tuple[int, ...]

    def trace(self) -> None:
        """Build the graph now, so that the first call does not have to."""

    def divide(self, batch_size: int) -> Parts:
        """How a batch of so many examples is divided."""

    def expect(self, order: Indices, batch_size: int, then: Indices | None = None) -> None:
        """Make ready what the coming steps take, instead of what was expected before.

        Args:
            order: Their examples, shape [examples].
            batch_size: Examples of a step; the last one may have fewer.
            then: Those of the first steps of the epoch after this; ``None``: nobody knows.
        """

    def most_steps(self, batch_size: int) -> int | None:
        """How many steps one call may take, by what it carries; ``None``: any number.

        The same in every process of the run.

        Args:
            batch_size: Examples of a step, of all replicas together.
        """

    def close(self) -> None:
        """Make nothing ready any more."""

    def __call__(
        self,
        batches: Indices,
        votes: Sequence[float] = (),
        *,
        place: int = 0,
        first_step: int = 0,
        coming: Indices | None = None,
    ) -> CallSums:
        """Do one step for each row, and wait for them.

        Args:
            batches: Example indices, shape [steps, batch]; the batch may be a smaller one.
            votes: Numbers to be summed over the processes of the run.
            place: Of the first example among those of the epoch.
            first_step: The number of the first step in the run, counted from 0: what layers draw
                depends on it.
            coming: What the next call is going to take: it is made ready while this one computes.
                ``None``: nobody knows.

        Raises:
            ProblemError: An example cannot be read.
        """

    def begin(
        self,
        batches: Indices,
        votes: Sequence[float] = (),
        *,
        place: int = 0,
        first_step: int = 0,
        coming: Indices | None = None,
    ) -> Callable[[], CallSums]:
        """Begin one step for each row; what is given back waits for them.

        Args:
            batches: See :meth:`__call__`.
            votes: See :meth:`__call__`.
            place: See :meth:`__call__`.
            first_step: See :meth:`__call__`.
            coming: See :meth:`__call__`.

        Raises:
            ProblemError: An example cannot be read.
        """


class TrainingCalls:
    """Gives the calls that train on a batch; those of a smaller last one are made when it comes.

    The number of micro-batches is part of the graph: another number is another trace.
    """

    def __init__(self, make: Callable[[int], StepCalls], accumulation_steps: int) -> None:
        """Nothing is traced yet.

        Args:
            make: From a number of micro-batches to the calls that take it.
            accumulation_steps: Micro-batches of a full batch.
        """
        self._make = make
        self._full = make(accumulation_steps)
        self._made = {accumulation_steps: self._full}

    @property
    def shares(self) -> tuple[int, ...]:
        """Examples of a full global batch, per replica."""
        return self._full.shares

    @shares.setter
    def shares(self, shares: tuple[int, ...]) -> None:
        for calls in self._made.values():
            calls.shares = shares

    def trace(self) -> None:
        """Build the graph of full batches now, so that the first call does not have to."""
        self._full.trace()

    def expect(self, order: Indices, batch_size: int, then: Indices | None = None) -> None:
        """See :meth:`StepCalls.expect`."""
        self._full.expect(order, batch_size, then)

    def most_steps(self, batch_size: int) -> int | None:
        """See :meth:`StepCalls.most_steps`."""
        return self._full.most_steps(batch_size)

    def close(self) -> None:
        """See :meth:`StepCalls.close`."""
        self._full.close()

    def of(self, batch_size: int) -> StepCalls:
        """The calls for batches of so many examples."""
        micro_batches = self._full.divide(batch_size).micro_batches
        if micro_batches not in self._made:
            made = self._make(micro_batches)
            made.shares = self.shares
            self._made[micro_batches] = made
        return self._made[micro_batches]


MakeCalls = Callable[[ReplicaStep], StepCalls]


@dataclass(frozen=True, slots=True)
class CallsOver:
    """One set of examples, ready to be stepped over.

    Attributes:
        make: Makes the calls that do a step; more than one step may go over the same examples.
        feed: What hands the examples to replicas; ``None`` where workers take whole batches.
    """

    make: MakeCalls
    feed: Feed | None = None


def calls_over(
    examples: Examples,
    strategy: tf.distribute.Strategy,
    plan: LaunchPlan,
    sum_count: int,
    *,
    timed: bool = False,
    augmenter: Augmenter | None = None,
) -> CallsOver:
    """Get examples to where the strategy needs them.

    Args:
        examples: To be stepped over.
        strategy: The plan's.
        plan: Its replicas and shares.
        sum_count: How many sums of loss and measures a step gives.
        timed: See :class:`~gpupanel.trainer.steps.calls.Calls`.
        augmenter: Changes the examples; ``None``: they stay as they are.
    """
    if plan.strategy is StrategyKind.PARAMETER_SERVER:
        coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
        workers = make_worker_feed(examples, coordinator)
        if augmenter is not None:
            workers = AugmentedWorkerFeed(workers, augmenter)
        make_asynchronous = partial(
            AsynchronousCalls,
            coordinator,
            workers,
            plan.shares,
            sum_count,
            accumulation_steps=plan.accumulation_steps,
        )
        return CallsOver(make_asynchronous)
    # Of the neighbour of the first of a part, which may be another process's.
    feed = make_feed(examples, plan, with_neighbour=augmenter is not None and augmenter.blends)
    if augmenter is not None:
        feed = AugmentedFeed(feed, augmenter)
    make = partial(
        Calls,
        strategy,
        feed,
        plan.shares,
        sum_count,
        accumulation_steps=plan.accumulation_steps,
        timed=timed,
    )
    return CallsOver(make, feed)
