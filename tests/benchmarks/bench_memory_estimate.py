"""What a step is estimated to hold in memory, over the peak that TensorFlow reports of one.

Ten networks and three numbers of examples each, forward and backward on the CPU, in one process
each: what ``gpupanel summary`` says before a run, beside what a step of it takes.
"""

import json
import os
import statistics
import subprocess
import sys
import time

NETWORKS = (
    "mlp",
    "cnn",
    "cnn, batch normalisation",
    "resnet",
    "transformer",
    "MobileNetV3Small",
    "ResNet50",
    "EfficientNetB0",
    "DenseNet121",
    "VGG16",
)
BATCHES = (8, 32, 64)
ROUNDS = 3

MEASURE = r"""
import json, sys, time
import keras, numpy as np, tensorflow as tf
from gpupanel.domain.model import (
    ApplicationModel, CnnModel, MlpModel, ResNetModel, TransformerModel,
)
from gpupanel.trainer.datasets.examples import DataSet, Examples, Scaling
from gpupanel.trainer.memory_estimate.step_memory import step_memory
from gpupanel.trainer.models.build import build_model
from gpupanel.trainer.models.network import Building
from gpupanel.trainer.models.objectives import Classification
from gpupanel.trainer.steps.batch_part import BatchPart
from gpupanel.trainer.steps.contribution import ContributionOf, State, Variables

name, rounds, *batches = json.loads(sys.argv[1])
model, shape, kind = {
    "mlp": (MlpModel(hidden=(1024, 1024)), (28, 28), np.uint8),
    "cnn": (CnnModel(filters=(16, 32)), (64, 64, 3), np.uint8),
    "cnn, batch normalisation": (
        CnnModel(filters=(16, 32), batch_norm=True), (64, 64, 3), np.uint8
    ),
    "resnet": (ResNetModel(), (32, 32, 3), np.uint8),
    "transformer": (TransformerModel(), (100,), np.int32),
}.get(name, (None, (64, 64, 3), np.uint8))
if model is None:
    model = ApplicationModel(source=name)
random = np.random.default_rng(0)
features = random.integers(0, 100, (max(batches), *shape)).astype(kind)
labels = (np.arange(max(batches)) % 4).astype(np.int32)
examples = Examples(features, labels)
data = DataSet(
    examples,
    class_names=tuple("abcd"),
    scaling=Scaling.NONE if kind == np.int32 else Scaling.DIVIDE,
    greatest=255.0,
    token_count=100 if kind == np.int32 else 0,
)
built = build_model(model, Building(data, examples)).trained
start = time.perf_counter()
step = step_memory(built, Classification(), examples)
seconds = time.perf_counter() - start
variables = Variables(built)
compute = ContributionOf(built, variables, Classification(), seed=7, jit_compile=False)
call = tf.function(compute, autograph=False)
parts = (variables.weights, variables.fixed)
state = State(*([each.value + 0 for each in part] for part in parts))
rows = []
for batch in batches:
    given = [tf.constant(each[:batch]) for each in (features, labels)]
    numbers = (np.float32(batch), np.int32(0), np.int64(0))
    given = (state, *given, BatchPart(*map(tf.constant, numbers)))
    peaks, before = [], []
    for _ in range(rounds + 1):
        before.append(tf.config.experimental.get_memory_info("CPU:0")["current"])
        tf.config.experimental.reset_memory_stats("CPU:0")
        float(call(*given).sums[0])
        peaks.append(tf.config.experimental.get_memory_info("CPU:0")["peak"])
    # What a step before has not given back yet is none of its own.
    peak = sorted(peaks[1:])[rounds // 2] - min(before)
    rows.append((batch, step.held_bytes(batch), peak, step.weight_bytes))
print(json.dumps({"rows": rows, "seconds": seconds}))
"""


def measured(name: str) -> dict[str, object]:
    """Rows of batch, estimated and measured bytes, and bytes of weights; seconds to estimate."""
    command = [sys.executable, "-c", MEASURE, json.dumps([name, ROUNDS, *BATCHES])]
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main() -> None:
    """A line for each network."""
    print(f"{'estimated / measured':26}" + "".join(f"{batch:>9}" for batch in BATCHES), end="")
    print(f"{'weights':>12}{'estimate':>11}")
    ratios, whole = [], []
    start = time.perf_counter()
    for name in NETWORKS:
        found = measured(name)
        own = [estimated / peak for _, estimated, peak, _ in found["rows"]]
        ratios += own
        # With the weights and Adam's two numbers for each, which are exact.
        whole += [(e + 3 * w) / (m + 3 * w) for _, e, m, w in found["rows"]]
        cells = "".join(f"{ratio:9.2f}" for ratio in own)
        weights = found["rows"][0][3] / 2**20
        print(f"{name:26}{cells}{weights:8.1f} MiB{found['seconds']:9.1f} s", flush=True)
    for what, each in (("step alone", ratios), ("with weights, optimizer", whole)):
        near = sum(abs(ratio - 1.0) <= 0.15 for ratio in each)
        print(
            f"{what}: median {statistics.median(each):.2f}, {min(each):.2f} to {max(each):.2f}, "
            f"{near} of {len(each)} within 15 %"
        )
    print(f"{time.perf_counter() - start:.0f} s in all")


if __name__ == "__main__":
    main()
