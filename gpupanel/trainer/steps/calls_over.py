"""Which calls do the steps of a run: what its strategy makes."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import tensorflow as tf

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.strategy import StrategyKind
from gpupanel.trainer.augmentation.augmenter import Augmenter
from gpupanel.trainer.datasets.examples import Examples
from gpupanel.trainer.steps.asynchronous_calls import AsynchronousCalls
from gpupanel.trainer.steps.augmented_feeds import AugmentedFeed, AugmentedWorkerFeed
from gpupanel.trainer.steps.calls import Calls
from gpupanel.trainer.steps.data_copies import DataCopies
from gpupanel.trainer.steps.feed import Feed
from gpupanel.trainer.steps.feeds import make_feed
from gpupanel.trainer.steps.step_calls import ReplicaStep, StepCalls
from gpupanel.trainer.steps.worker_feeds import make_worker_feed

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
    copies: DataCopies,
    *,
    timed: bool = False,
    augmenter: Augmenter | None = None,
) -> CallsOver:
    """Get examples to where the strategy needs them.

    Args:
        examples: To be stepped over.
        strategy: The plan's.
        plan: Its replicas and shares.
        sum_count: How many sums of loss and metrics a step gives.
        copies: Of examples on the devices, one for all sets of the run.
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
    with_neighbour = augmenter is not None and augmenter.blends
    feed = make_feed(examples, plan, copies, with_neighbour=with_neighbour)
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
