"""Steps over two replicas of which the second one sleeps; prints what their calls measured."""

import json
import sys
import time
from dataclasses import asdict

import keras
import numpy as np
import tensorflow as tf

from gpupanel.trainer.datasets.examples import HeldRows
from gpupanel.trainer.models.objectives import Classification
from gpupanel.trainer.steps.calls import Calls
from gpupanel.trainer.steps.data_copies import DataCopies
from gpupanel.trainer.steps.replica_steps import TrainingStep
from gpupanel.trainer.steps.resident_feed import ResidentFeed
from gpupanel.trainer.strategies.make_strategy import make_strategy
from tests.unit.trainer.call_steps import BATCH, plan_of

SLEEP_S = 0.03
STEPS = 4


class SleepingOnSecond(keras.layers.Layer):
    """Passes on what it gets, later on the second replica."""

    def call(self, inputs: tf.Tensor) -> tf.Tensor:
        context = tf.distribute.get_replica_context()
        if context is None or tf.get_static_value(context.replica_id_in_sync_group) != 1:
            return inputs
        # When its part is there, as a computation begins: not at the beginning of the step.
        with tf.control_dependencies([inputs]):
            slept = tf.py_function(lambda: time.sleep(SLEEP_S), [], [])
        with tf.control_dependencies([slept]):
            return tf.identity(inputs)


def main() -> None:
    tf.config.set_logical_device_configuration(
        tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
    )
    plan = plan_of(2)
    strategy = make_strategy(plan)
    random = np.random.default_rng(0)
    features = random.normal(size=(128, 8)).astype(np.float32)
    labels = random.integers(0, 3, 128).astype(np.int32)
    with strategy.scope():
        model = keras.Sequential([keras.Input((8,)), SleepingOnSecond(), keras.layers.Dense(3)])
        optimizer = keras.optimizers.SGD(0.001)
        optimizer.build(model.trainable_variables)
    step = TrainingStep(
        model,
        Classification(),
        optimizer,
        seed=7,
        micro_batches=1,
        jit_compile=False,
        timed=True,
    )
    calls = Calls(
        strategy,
        ResidentFeed(HeldRows(features), labels, plan, DataCopies()),
        plan.shares,
        Classification.size,
        step,
        timed=True,
    )
    batches = np.arange(BATCH * STEPS, dtype=np.int32).reshape(STEPS, BATCH)
    measured = []
    for _ in range(int(sys.argv[1])):
        begun_s = time.perf_counter()
        sums = asdict(calls(batches))
        measured.append({**sums, "took_s": time.perf_counter() - begun_s})
    json.dump(measured, sys.stdout)


if __name__ == "__main__":
    main()
