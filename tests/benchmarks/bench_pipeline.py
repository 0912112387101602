"""How busy devices are that hold the layers of one model, one after the other and as a pipeline.

Each stage sleeps on its logical device, forward and backward, and a device does one thing at a
time: so the figures do not depend on what this machine does besides. They are those of the loop's
own step. Ideal: ``2 (M + S - 1)`` sleeps for M micro-batches and S stages; wanted are 0.85 of it.
"""

import json
import os
import subprocess
import sys
from typing import Any

MICRO_BATCHES = 8
STAGES = (2, 3)
SLEEP_S = 0.1
WANTED = 0.85


def measure(stages: int, *, pipelined: bool) -> dict[str, object]:
    """Seconds of a step, what was learned in two, and how many micro-batches each stage held."""
    import threading
    import time

    import keras
    import numpy as np
    import tensorflow as tf

    from gpupanel.trainer.models.objectives import Classification
    from gpupanel.trainer.parts.placed_layer import put_on_device
    from gpupanel.trainer.steps.batch_part import BatchPart
    from gpupanel.trainer.steps.replica_steps import TrainingStep

    # A stage that sleeps holds a thread, of which there are as many as cores.
    tf.config.threading.set_inter_op_parallelism_threads(4 * max(STAGES))
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(
        cpu, [tf.config.LogicalDeviceConfiguration()] * stages
    )

    def sleeping(stage, value, more):
        def sleep(array):
            with stage.one_at_a_time:
                # From its first layer on until its gradient is there, a micro-batch is held.
                stage.held += more > 0
                stage.most_held = max(stage.most_held, stage.held)
                time.sleep(SLEEP_S)
                stage.held -= more < 0
            return array

        slept = tf.numpy_function(sleep, [value], tf.float32, stateful=False)
        slept.set_shape(value.shape)
        return slept

    class Slow(keras.layers.Layer):
        def __init__(self, **named):
            super().__init__(**named)
            self.one_at_a_time = threading.Lock()
            self.held = self.most_held = 0

        def call(self, inputs):
            @tf.custom_gradient
            def slow(value):
                return sleeping(self, value, 1), lambda upstream: sleeping(self, upstream, -1)

            return slow(inputs)

    keras.utils.set_random_seed(7)
    inputs = hidden = keras.Input((8,))
    for stage in range(stages):
        for layer in (keras.layers.Dense(8), keras.layers.Dropout(0.2), Slow()):
            put_on_device(layer, f"/device:CPU:{stage}")
            hidden = layer(hidden)
    model = keras.Model(inputs, hidden)
    optimizer = keras.optimizers.SGD(0.1)
    optimizer.build(model.trainable_variables)
    step = tf.function(
        TrainingStep(
            model,
            Classification(),
            optimizer,
            seed=7,
            micro_batches=MICRO_BATCHES,
            pipelined=pipelined,
            jit_compile=False,
        ),
        autograph=False,
    )
    random = np.random.default_rng(0)
    features = tf.constant(random.normal(size=(4 * MICRO_BATCHES, 8)), tf.float32)
    labels = tf.constant(random.integers(0, 8, 4 * MICRO_BATCHES), tf.int32)
    seconds = []
    for number in range(2):
        part = BatchPart(
            tf.constant(4.0 * MICRO_BATCHES), tf.zeros([], tf.int32), tf.constant(number, tf.int64)
        )
        begun_s = time.monotonic()
        float(step(features, labels, part).sums[0])
        [each.numpy() for each in model.trainable_variables]
        seconds.append(time.monotonic() - begun_s)
    learned = [float(np.abs(each.numpy()).sum(dtype=np.float64)) for each in model.weights]
    held = [layer.most_held for layer in model.layers if isinstance(layer, Slow)]
    return {"seconds": seconds[-1], "learned": repr(sum(learned)), "held": held}


def measured(stages: int, *, pipelined: bool) -> dict[str, Any]:
    """The same, in a process of its own."""
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, __file__, str(stages), "pipeline" if pipelined else "in turn"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> int:
    """Print the figures of each number of stages."""
    if len(sys.argv) == 3:
        sys.stdout.write(json.dumps(measure(int(sys.argv[1]), pipelined=sys.argv[2] == "pipeline")))
        return 0
    missed = 0
    for stages in STAGES:
        in_turn, pipelined = (measured(stages, pipelined=each) for each in (False, True))
        ideal_s = 2 * SLEEP_S * (MICRO_BATCHES + stages - 1)
        reached = [ideal_s / each["seconds"] for each in (in_turn, pipelined)]
        alike = in_turn["learned"] == pipelined["learned"]
        most = list(range(stages, 0, -1))
        few = all(one <= each for one, each in zip(pipelined["held"], most, strict=True))
        missed += reached[1] < WANTED or not alike or not few
        print(
            f"{stages} stages, {MICRO_BATCHES} micro-batches: ideal {ideal_s:.2f} s, in turn "
            f"{in_turn['seconds']:.2f} s ({reached[0]:.2f} of it), as a pipeline "
            f"{pipelined['seconds']:.2f} s ({reached[1]:.2f}); weights "
            f"{'to the bit' if alike else 'differ'}; held at once {pipelined['held']}"
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
