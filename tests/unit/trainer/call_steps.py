"""Calls a small model's steps on so many logical CPUs and prints what each call summed, as JSON.

``python call_steps.py REPLICAS``; run with one process. Devices are configured once.
"""

import json
import sys
import time
from dataclasses import asdict

import keras
import numpy as np
import tensorflow as tf

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.plan import LaunchPlan, PlannedDevice, PlannedReplica
from gpupanel.domain.strategy import StrategyKind
from gpupanel.trainer.datasets.examples import HeldRows
from gpupanel.trainer.models.objectives import Classification
from gpupanel.trainer.steps.calls import Calls
from gpupanel.trainer.steps.data_copies import DataCopies
from gpupanel.trainer.steps.replica_steps import TrainingStep
from gpupanel.trainer.steps.resident_feed import ResidentFeed
from gpupanel.trainer.strategies.make_strategy import make_strategy

BATCH = 32


def plan_of(replicas: int) -> LaunchPlan:
    return LaunchPlan(
        environment={},
        devices=(PlannedDevice(key="cpu", kind=DeviceKind.CPU, name="the CPU", index=0),),
        strategy=StrategyKind.MIRRORED if replicas > 1 else StrategyKind.ONE_DEVICE,
        replicas=tuple(
            PlannedReplica(
                index=index,
                device_key="cpu",
                logical_device=f"/device:CPU:{index}",
                share=BATCH // replicas,
            )
            for index in range(replicas)
        ),
        global_batch_size=BATCH,
    )


def clocks_after(timed: Calls) -> list[list[str]]:
    """What each clock within a step waits for, as far as it is a clock itself."""
    graph = timed._function.get_concrete_function().graph.as_graph_def()
    nodes = [node for function in graph.library.function for node in function.node_def]
    clocks = {node.name: node for node in nodes if node.op == "Timestamp"}
    return [
        [each for each in node.input if each.removeprefix("^").split(":")[0] in clocks]
        for node in clocks.values()
    ]


def main() -> None:
    replicas = int(sys.argv[1])
    if replicas > 1:
        tf.config.set_logical_device_configuration(
            tf.config.list_physical_devices("CPU")[0],
            [tf.config.LogicalDeviceConfiguration()] * replicas,
        )
    plan = plan_of(replicas)
    strategy = make_strategy(plan)
    random = np.random.default_rng(0)
    features = random.normal(size=(256, 300)).astype(np.float32)
    labels = random.integers(0, 3, 256).astype(np.int32)
    with strategy.scope():
        keras.utils.set_random_seed(1)
        model = keras.Sequential(
            [keras.Input((300,)), *map(keras.layers.Dense, [300, 300, 300, 300, 3])]
        )
        optimizer = keras.optimizers.SGD(0.001)
        optimizer.build(model.trainable_variables)
    feed = ResidentFeed(HeldRows(features), labels, plan, DataCopies())

    def calls(*, timed: bool) -> Calls:
        step = TrainingStep(
            model,
            Classification(),
            optimizer,
            seed=7,
            micro_batches=1,
            jit_compile=False,
            timed=timed,
        )
        return Calls(strategy, feed, plan.shares, Classification.size, step, timed=timed)

    batches = np.arange(256, dtype=np.int32).reshape(8, BATCH)
    untimed, timed = calls(timed=False), calls(timed=True)
    with tf.GradientTape() as tape:
        logits = model(features[:BATCH], training=True)
        losses = keras.losses.sparse_categorical_crossentropy(
            labels[:BATCH], logits, from_logits=True
        )
        loss = tf.reduce_mean(losses)
    whole = tape.gradient(loss, [weight.value for weight in model.trainable_variables])
    norm = float(tf.linalg.global_norm(whole))
    norms = [norm, *(each(batches[:1]).of_updates["gradient_norm"] for each in (untimed, timed))]
    reported = [asdict(untimed(batches)), asdict(untimed(batches, votes=[1.0, 0.0, 2.5]))]
    timed(batches)
    start_s = time.perf_counter()
    reported.append({**asdict(timed(batches, [3.0])), "took_s": time.perf_counter() - start_s})
    fastest = []
    for shares in (timed.shares, (BATCH - 1, *[0] * (replicas - 2), 1)):
        if replicas > 1:
            timed.shares = shares
            # What else the machine does makes some of them slower, never faster.
            several = [timed(batches) for _ in range(9)]
            fastest.append(np.min([each.replica_seconds for each in several], axis=0).tolist())
            reported.append(asdict(several[-1]))
    traced = [one._function.experimental_get_tracing_count() for one in (untimed, timed)]
    poisoned = features.copy()
    poisoned[2 * BATCH + BATCH - 1] = np.nan
    feed = ResidentFeed(
        HeldRows(poisoned), labels, plan, DataCopies()
    )  # which calls take that are made from now on
    kept, failed = model.get_weights(), []
    for is_timed in (False, True):
        model.set_weights(kept)
        failed.append(calls(timed=is_timed)(batches))
    ended = {"failed": [[each.steps, str(each.loss_sum)] for each in failed]}
    answer = {**ended, "norms": norms, "reported": reported, "fastest_s": fastest, "traced": traced}
    print(json.dumps({**answer, "clocks_after": clocks_after(timed)}))


if __name__ == "__main__":
    main()
