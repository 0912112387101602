"""How fast a saved model predicts, against Keras's ``predict`` with the same batch size.

Both run in one process, by turns; the median of the ratios is told. Logical devices of one CPU
share its cores, so that two of them show what dividing costs, not what a second device gives.
"""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf

sys.path.insert(0, str(Path(__file__).parents[2]))

from gpupanel.domain.data import Target
from gpupanel.domain.profile import Profile
from gpupanel.trainer.inference.examples import InferenceExamples
from gpupanel.trainer.inference.replicas import load_replicas
from gpupanel.trainer.inference.spread import Spread
from tests.unit.trainer.conftest import cpu_plan

BATCH, REPETITIONS = 256, 5
EXAMPLES = {"784-128-10 network": 60_000, "28x28 CNN, 32 filters": 20_000}
SHARES = {"one device": (256,), "two, 192 + 64": (192, 64)}


def build(name: str) -> keras.Model:
    layers, inputs = keras.layers, keras.Input((28, 28))
    if name.startswith("784"):
        hidden = layers.Dense(128, activation="relu")(layers.Flatten()(inputs))
    else:
        images = layers.Reshape((28, 28, 1))(inputs)
        hidden = layers.Conv2D(32, 3, activation="relu")(images)
        hidden = layers.Flatten()(layers.MaxPooling2D()(hidden))
    return keras.Model(inputs, layers.Dense(10, activation="softmax")(hidden))


def rate(examples: int, predict: Callable[[], object]) -> float:
    start_s = time.perf_counter()
    predict()
    return examples / (time.perf_counter() - start_s)


def compare(name: str, folder: Path) -> None:
    model, path = build(name), folder / "model.keras"
    model.save(path)
    features = np.random.default_rng(0).random((EXAMPLES[name], 28, 28), np.float32)
    indices = np.arange(len(features), dtype=np.int32)
    examples = InferenceExamples(
        features, None, indices, Target.CLASSES, (), class_count_is_known=False
    )
    for kind, shares in SHARES.items():
        replicas = load_replicas(str(path), cpu_plan(Profile(), shares), examples)
        spread = Spread(replicas, shares, examples.read, lambda outputs, _first: outputs)

        def ours(spread: Spread[np.ndarray] = spread) -> None:
            list(spread.batches(len(features)))

        def plain() -> None:
            model.predict(features, batch_size=BATCH, verbose=0)

        ours()
        plain()
        pairs = [
            (rate(len(features), ours), rate(len(features), plain)) for _ in range(REPETITIONS)
        ]
        here, there = (statistics.median(each) for each in zip(*pairs, strict=True))
        ratio = statistics.median(first / second for first, second in pairs)
        print(
            f"{name}, {kind}: {here:,.0f} examples/s, Keras predict {there:,.0f}: {ratio:.2f} times"
        )


def main() -> None:
    cpu = tf.config.list_physical_devices("CPU")[0]
    logical = [tf.config.LogicalDeviceConfiguration()] * 2
    tf.config.set_logical_device_configuration(cpu, logical)
    with tempfile.TemporaryDirectory() as folder:
        for name in EXAMPLES:
            compare(name, Path(folder))


if __name__ == "__main__":
    main()
