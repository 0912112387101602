"""What computing activations again saves and costs: peak of TensorFlow's allocator, processor time.

Each step is measured in a process of its own; both forms of a model in turn, so that what else the
machine does meets both.
"""

import json
import os
import subprocess
import sys

MODELS = {
    "ResNet50": 16,
    "EfficientNetB0": 16,
    "ConvNeXtTiny": 8,
    "six blocks of a transformer": 32,
}
"""With examples a batch."""
SIDE = 224
LENGTH, WIDTH = 256, 128
STEPS, ROUNDS = 2, 2
LESS, LONGER = 0.5, 1.45
"""What is wanted: of the memory at most, of the time at most."""


def network(name: str):
    import keras

    if name in ("ResNet50", "EfficientNetB0", "ConvNeXtTiny"):
        inputs = keras.Input((SIDE, SIDE, 3))
        make = getattr(keras.applications, name)
        base = make(include_top=False, weights=None, input_shape=(SIDE, SIDE, 3))
        hidden = keras.layers.GlobalAveragePooling2D()(base(inputs))
        return keras.Model(inputs, keras.layers.Dense(10)(hidden))
    inputs = hidden = keras.Input((LENGTH, WIDTH))
    for _ in range(6):
        normed = keras.layers.LayerNormalization()(hidden)
        attended = keras.layers.MultiHeadAttention(4, WIDTH // 4)(normed, normed)
        hidden = keras.layers.Add()([hidden, keras.layers.Dropout(0.1)(attended)])
        units = keras.layers.Dense(4 * WIDTH, activation="gelu")(
            keras.layers.LayerNormalization()(hidden)
        )
        hidden = keras.layers.Add()([hidden, keras.layers.Dense(WIDTH)(units)])
    hidden = keras.layers.GlobalAveragePooling1D()(hidden)
    return keras.Model(inputs, keras.layers.Dense(10)(hidden))


def measure(name: str, *, again: bool) -> None:
    import time

    import keras
    import numpy as np
    import tensorflow as tf

    from gpupanel.domain.training import Recompute
    from gpupanel.trainer.models.objectives import Classification
    from gpupanel.trainer.models.recomputed import recomputed_segments
    from gpupanel.trainer.parts.batch_norm import prepare_batch_norms
    from gpupanel.trainer.steps.batch_part import BatchPart
    from gpupanel.trainer.steps.contribution import ContributionOf, State, Variables

    keras.utils.set_random_seed(7)
    model = network(name)
    prepare_batch_norms(model, across_replicas=False)
    variables = Variables(model)
    segments = recomputed_segments(model, Recompute.BLOCKS if again else Recompute.NONE)
    contribution = ContributionOf(
        model, variables, Classification(), seed=1, jit_compile=False, segments=segments
    )
    count = MODELS[name]
    random = np.random.default_rng(0)
    features = tf.constant(random.normal(size=(count, *model.inputs[0].shape[1:])), tf.float32)
    labels = tf.constant(random.integers(0, 10, count), tf.int32)

    @tf.function(autograph=False)
    def step(features: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        state = State(
            [each.value for each in variables.weights], [each.value for each in variables.fixed]
        )
        part = BatchPart(tf.constant(float(count)), tf.zeros([], tf.int32), tf.zeros([], tf.int64))
        found = contribution(state, features, labels, part)
        # As an optimizer without slots would take them, one after the other.
        return found.sums, [tf.reduce_sum(tf.abs(each)) for each in found.gradients]

    step(features, labels)
    tf.config.experimental.reset_memory_stats("CPU:0")
    begun_s = time.process_time()
    for _ in range(STEPS):
        sums, norms = step(features, labels)
    found = {
        "peak": tf.config.experimental.get_memory_info("CPU:0")["peak"],
        "processor_s": (time.process_time() - begun_s) / STEPS,
        "loss": float(sums[0]),
        "norm": float(sum(norms)),
        "segments": len(segments),
    }
    sys.stdout.write(json.dumps(found))


def measured(name: str, *, again: bool) -> dict[str, float]:
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, __file__, name, "again" if again else "kept"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> int:
    if len(sys.argv) == 3:
        measure(sys.argv[1], again=sys.argv[2] == "again")
        return 0
    missed = 0
    for name in MODELS:
        rounds = [(measured(name, again=False), measured(name, again=True)) for _ in range(ROUNDS)]
        peaks = [again["peak"] / kept["peak"] for kept, again in rounds]
        times = [again["processor_s"] / kept["processor_s"] for kept, again in rounds]
        kept, again = rounds[-1]
        missed += min(peaks) > LESS or min(times) > LONGER
        print(
            f"{name}: {again['segments']} segments, peak {kept['peak'] / 2**20:,.0f} MiB to "
            f"{again['peak'] / 2**20:,.0f} MiB, {min(peaks):.2f}; time {min(times):.2f} times; "
            f"loss {kept['loss']:.6f} and {again['loss']:.6f}, gradients {kept['norm']:.6g} and "
            f"{again['norm']:.6g}"
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
