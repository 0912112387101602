"""Steps over two cards, of which the second one sleeps: prints what their calls measured."""

import json
import time

import keras
import numpy as np

from gpupanel.trainer.datasets.examples import HeldRows
from gpupanel.trainer.models.objectives import Classification
from gpupanel.trainer.steps.calls import Calls
from gpupanel.trainer.steps.data_copies import DataCopies
from gpupanel.trainer.steps.replica_steps import TrainingStep
from gpupanel.trainer.steps.resident_feed import ResidentFeed
from gpupanel.trainer.strategies.make_strategy import make_strategy
from tests.tensorflow_gpu.count_copies import BATCH, CLASSES, EXAMPLES, NUMBERS, plan_of
from tests.unit.trainer.time_replicas import SleepingOnSecond


def main() -> None:
    plan = plan_of(2)
    strategy = make_strategy(plan)
    random = np.random.default_rng(0)
    features = random.normal(size=(EXAMPLES, NUMBERS)).astype(np.float32)
    labels = random.integers(0, CLASSES, EXAMPLES).astype(np.int32)
    with strategy.scope():
        layers = [keras.Input((NUMBERS,)), SleepingOnSecond(), keras.layers.Dense(CLASSES)]
        model = keras.Sequential(layers)
        optimizer = keras.optimizers.SGD(0.001)
        optimizer.build(model.trainable_variables)
    objective = Classification()
    step = TrainingStep(
        model, objective, optimizer, seed=7, micro_batches=1, jit_compile=False, timed=True
    )
    feed = ResidentFeed(HeldRows(features), labels, plan, DataCopies())
    calls = Calls(strategy, feed, plan.shares, objective.size, step, timed=True)
    rows = np.arange(EXAMPLES, dtype=np.int32).reshape(-1, BATCH)
    found = []
    for steps in (2, 1, 4, 12):
        begun_s = time.perf_counter()
        sums = calls(rows[:steps])
        took_s = time.perf_counter() - begun_s
        found.append({"steps": steps, "seconds": sums.replica_seconds, "took_s": took_s})
    print(json.dumps(found))


if __name__ == "__main__":
    main()
