"""Known numbers through an all-reduce, as the update of a training step sums gradients."""

import time
from typing import Final

import numpy as np
import tensorflow as tf

from gpupanel.domain.plan import LaunchPlan, PlannedReplica
from gpupanel.domain.self_test import CaseResult, SelfTestCase
from gpupanel.domain.strategy import StrategyKind
from gpupanel.trainer.strategies.make_strategy import make_strategy
from gpupanel.trainer.tools.self_test.finding import BYTES_PER_MIB, CaseFinding, Numbers, same

_SIZES: Final = (1, 257, 4_608, 1_048_579)
"""Of the tensors: a bias, and more than 4 MiB of a dense layer; odd, so that nothing divides."""
_SCALES: Final = (1.0, 2.0**-12, 2.0**-24, -(2.0**-18))
"""Gradients are small. Powers of two change no bit of a sum but its exponent."""
_LEAST_ROUNDS: Final = 4
_LONGEST_S: Final = 0.5
_PRIME: Final = 8_191
_MOST_NUMBERS: Final = 2**25
"""The most numbers of all replicas together."""


def known_numbers(replica: int, replicas: int) -> list[Numbers]:
    """What a replica contributes: integers below 2**12, other ones for each replica.

    Sums over 1,024 replicas are below 2**22: float32 holds each exactly, in whatever order.
    """
    return [
        (
            (np.arange(size, dtype=np.int64) * 31 + (replica + 1) * 7_919) % _PRIME - _PRIME // 2
        ).astype(np.float32)
        for size in _sizes(replicas)
    ]


def _sizes(replicas: int) -> list[int]:
    return [min(size, _MOST_NUMBERS // replicas) for size in _SIZES]


class SumTest:
    """Sums over some replicas of the plan, as a strategy of the trainer does.

    Args:
        plan: Its devices are configured.
    """

    def __init__(self, plan: LaunchPlan) -> None:
        self._plan = plan

    def __call__(self, case: SelfTestCase) -> CaseFinding:
        """Sum several times; all numbers have to be right on each replica."""
        names = [place.logical_device for place in case.places]
        strategy = make_strategy(_plan_of(self._plan, case))
        count = len(names)
        contributed = [known_numbers(replica, count) for replica in range(count)]
        sums = [np.sum(each, axis=0, dtype=np.float64) for each in zip(*contributed, strict=True)]
        with strategy.scope():
            places = [tf.Variable(0.0) for _ in _SIZES]

        def numbers_of(tensor: int, context: tf.distribute.ReplicaContext) -> tf.Tensor:
            # From the host to each device: what one device hands to another is the sum alone.
            with tf.device("/device:CPU:0"):
                return tf.constant(contributed[int(context.replica_id_in_sync_group)][tensor])

        values = [
            strategy.experimental_distribute_values_from_function(
                lambda context, tensor=tensor: numbers_of(tensor, context)
            )
            for tensor in range(len(_SIZES))
        ]

        def summed(over: tf.distribute.Strategy, parts: list[tf.Tensor]) -> list[tf.Tensor]:
            pairs = list(zip(parts, places, strict=True))
            return list(over.extended.batch_reduce_to(tf.distribute.ReduceOp.SUM, pairs))

        def in_replica(scale: tf.Tensor, *parts: tf.Tensor) -> list[tf.Tensor]:
            scaled = [part * scale for part in parts]
            context = tf.distribute.get_replica_context()
            return list(context.merge_call(summed, args=(scaled,)))

        def on_replicas(scale: tf.Tensor) -> tf.Tensor:
            return strategy.run(in_replica, args=(scale, *values))

        once = tf.function(on_replicas, autograph=False)

        seconds, rounds, begin_s = 0.0, 0, time.monotonic()
        while rounds < _LEAST_ROUNDS or time.monotonic() - begin_s < _LONGEST_S:
            scale = _SCALES[rounds % len(_SCALES)]
            start_s = time.monotonic()
            got = once(tf.constant(scale, tf.float32))
            local = [
                [part.numpy() for part in strategy.experimental_local_results(each)] for each in got
            ]
            # The first one is traced, and connects the devices.
            seconds += time.monotonic() - start_s if rounds else 0.0
            rounds += 1
            for parts, whole in zip(local, sums, strict=True):
                wanted = np.asarray(whole * scale, np.float32)
                for name, part in zip(names, parts, strict=True):
                    wrong = same(part, wanted, name.removeprefix("/device:"))
                    if wrong is not None:
                        return wrong
        mib = (rounds - 1) * sum(_sizes(count)) * 4 / BYTES_PER_MIB
        return CaseFinding(CaseResult.PASSED, round(mib / max(seconds, 1e-9), 1))


def _plan_of(plan: LaunchPlan, case: SelfTestCase) -> LaunchPlan:
    """The case's replicas alone, summing as it says."""
    replicas = tuple(
        PlannedReplica(
            index=index,
            device_key=place.device_key,
            logical_device=place.logical_device,
            share=1,
        )
        for index, place in enumerate(case.places)
    )
    return plan.model_copy(
        update={
            "strategy": StrategyKind.MIRRORED,
            "all_reduce": case.all_reduce,
            "replicas": replicas,
            "global_batch_size": len(replicas),
        }
    )
