"""Calls a small model's steps on cards, and prints what each call copies between them and the host.

``python count_copies.py CARDS FEED``: the feed is ``resident`` or ``streamed``. For calls of 4 and
of 12 steps the bytes of each copy to the host and to a card, of what trains and of what measures,
while the call is launched and while it is waited for.
"""

import json
import os
import sys
from pathlib import Path

import keras
import numpy as np

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.plan import LaunchPlan, PlannedDevice, PlannedReplica
from gpupanel.domain.strategy import StrategyKind
from gpupanel.trainer.datasets.examples import Examples, HeldRows
from gpupanel.trainer.models.objectives import Classification
from gpupanel.trainer.steps.calls import Calls
from gpupanel.trainer.steps.data_copies import DataCopies
from gpupanel.trainer.steps.replica_steps import EvaluationStep, TrainingStep
from gpupanel.trainer.steps.resident_feed import ResidentFeed
from gpupanel.trainer.steps.streamed_feed import StreamedFeed
from gpupanel.trainer.strategies.make_strategy import make_strategy

BATCH, NUMBERS, CLASSES = 32, 6, 7
EXAMPLES = 12 * BATCH
COPIES = Path(os.environ.get("GPUPANEL_TEST_CUDA_COPIES", os.devnull))


def plan_of(cards: int) -> LaunchPlan:
    keys = [f"GPU-{index}" for index in range(cards)]
    return LaunchPlan(
        environment={},
        devices=tuple(
            PlannedDevice(key=key, kind=DeviceKind.GPU, name=key, index=index)
            for index, key in enumerate(keys)
        ),
        strategy=StrategyKind.MIRRORED if cards > 1 else StrategyKind.ONE_DEVICE,
        replicas=tuple(
            PlannedReplica(
                index=index,
                device_key=key,
                logical_device=f"/device:GPU:{index}",
                share=BATCH // cards,
                data_on_host=False,
            )
            for index, key in enumerate(keys)
        ),
        global_batch_size=BATCH,
    )


def copied(calls: Calls, steps: int) -> dict[str, dict[str, list[int]]]:
    """The bytes of each copy of one call, after one that traced it."""
    batches = np.arange(steps * BATCH, dtype=np.int32).reshape(steps, BATCH)
    calls(batches)
    launch = calls.prepare(batches)
    COPIES.write_text("")
    wait = launch(0.0)
    found = {"launched": copies()}
    COPIES.write_text("")
    wait()
    return {**found, "waited for": copies()}


def copies() -> dict[str, list[int]]:
    """The bytes of those that were made, by where they went."""
    lines = [line.rsplit(" ", 1) for line in COPIES.read_text().splitlines()]
    return {
        where: sorted(int(size) for to, size in lines if to == where)
        for where in ("to the host", "to a card")
    }


def main() -> None:
    cards, feed_name = int(sys.argv[1]), sys.argv[2]
    plan = plan_of(cards)
    strategy = make_strategy(plan)
    random = np.random.default_rng(0)
    features = random.normal(size=(EXAMPLES, NUMBERS)).astype(np.float32)
    labels = random.integers(0, CLASSES, EXAMPLES).astype(np.int32)
    with strategy.scope():
        keras.utils.set_random_seed(1)
        model = keras.Sequential([keras.Input((NUMBERS,)), keras.layers.Dense(CLASSES)])
        optimizer = keras.optimizers.Adam(0.001)
        optimizer.build(model.trainable_variables)
    feed: ResidentFeed | StreamedFeed = ResidentFeed(HeldRows(features), labels, plan, DataCopies())
    if feed_name == "streamed":
        devices = {replica.index: replica.logical_device for replica in plan.replicas}
        feed = StreamedFeed(Examples(features, labels), devices)
    objective = Classification()
    train = TrainingStep(
        model,
        objective,
        optimizer,
        seed=7,
        micro_batches=2,
        jit_compile=False,
        clip_norm=1.0,
    )
    timed = TrainingStep(
        model, objective, optimizer, seed=7, micro_batches=1, jit_compile=False, timed=True
    )
    steps = {"trains": train, "measures": EvaluationStep(model, objective), "is timed": timed}
    found = {}
    for name, step in steps.items():
        timing = step is timed
        calls = Calls(strategy, feed, plan.shares, objective.size, step, timed=timing)
        found[name] = {count: copied(calls, count) for count in (4, 12)}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
