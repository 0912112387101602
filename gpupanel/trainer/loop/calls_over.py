"""Calls over a set of examples, as the strategy of a run carries them out."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import tensorflow as tf

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.strategy import StrategyKind
from gpupanel.trainer.datasets.examples import Examples
from gpupanel.trainer.loop.asynchronous_calls import AsynchronousCalls
from gpupanel.trainer.loop.calls import Calls, ReplicaStep
from gpupanel.trainer.loop.feeds import Feed, make_feed
from gpupanel.trainer.loop.step_calls import StepCalls
from gpupanel.trainer.loop.worker_feeds import make_worker_feed

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
    examples: Examples, strategy: tf.distribute.Strategy, plan: LaunchPlan, *, timed: bool = False
) -> CallsOver:
    """Get examples to where the strategy needs them.

    Args:
        examples: To be stepped over.
        strategy: The plan's.
        plan: Its replicas and shares.
        timed: See :class:`~gpupanel.trainer.loop.calls.Calls`.
    """
    if plan.strategy is StrategyKind.PARAMETER_SERVER:
        coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
        workers = make_worker_feed(examples, coordinator)
        make_asynchronous = partial(
            AsynchronousCalls,
            coordinator,
            workers,
            plan.shares,
            accumulation_steps=plan.accumulation_steps,
        )
        return CallsOver(make_asynchronous)
    feed = make_feed(examples, plan)
    make = partial(
        Calls,
        strategy,
        feed,
        plan.shares,
        accumulation_steps=plan.accumulation_steps,
        timed=timed,
    )
    return CallsOver(make, feed)
