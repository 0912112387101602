"""A loss that is scaled for float16: what overflows is left out, on every replica alike."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from gpupanel.domain.data import DigitsData
from gpupanel.domain.model import CnnModel, PythonModel
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import dump_profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from tests.forked.processes import run_forked
from tests.unit.trainer.conftest import MakeRun, cpu_plan
from tests.unit.trainer.trained_runs import (
    changed,
    last_metrics,
    profile,
    train_all,
    train_layouts,
    variables,
)

pytestmark = pytest.mark.tensorflow

STEPS = """
import json
import keras, numpy as np, tensorflow as tf
from gpupanel.trainer.parts.loss_scale import LossScale
from gpupanel.trainer.steps.contribution import Contribution, Variables
from gpupanel.trainer.steps.update import Update

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
one = tf.distribute.OneDeviceStrategy("/cpu:0")
two = tf.distribute.MirroredStrategy(
    ["/cpu:0", "/cpu:1"], cross_device_ops=tf.distribute.ReductionToOneDevice()
)
central = tf.distribute.experimental.CentralStorageStrategy(["/cpu:0", "/cpu:1"], "/cpu:0")
STEPS, COUNTED = 12, 1_998
SPOILED = {4: np.inf, 5: np.nan}
gradients = np.random.default_rng(0).normal(size=(STEPS, 7, 5)).astype(np.float32)

def model_of():
    inputs = keras.Input((7,))
    dense = keras.layers.Dense(5, use_bias=False, kernel_initializer="ones")
    return keras.Model(inputs, dense(inputs))

def by_keras():
    model = model_of()
    inner = keras.optimizers.Adam(0.01)
    optimizer = keras.optimizers.LossScaleOptimizer(inner, dynamic_growth_steps=2_000)
    optimizer.build(model.trainable_variables)
    optimizer.step_counter.assign(COUNTED)
    scales = []
    for step, gradient in enumerate(gradients):
        scale = np.asarray(optimizer.dynamic_scale)
        scaled = tf.constant(gradient) * float(scale) + SPOILED.get(step, 0.0)
        optimizer.apply([scaled], model.trainable_variables)
        scales.append(float(np.asarray(optimizer.dynamic_scale)))
    return np.asarray(model.trainable_variables[0].value), scales, int(inner.iterations)

def ours(strategy):
    with strategy.scope():
        model = model_of()
        optimizer = keras.optimizers.Adam(0.01)
        optimizer.build(model.trainable_variables)
        loss_scale = LossScale()
    loss_scale.updates.assign(COUNTED)
    update = Update(Variables(model), optimizer, clip_norm=None, loss_scale=loss_scale)
    count = strategy.num_replicas_in_sync

    @tf.function(autograph=False)
    def step(gradient, spoiled):
        def in_replica():
            scaled = gradient * update.state().scale / count
            replica = tf.distribute.get_replica_context().replica_id_in_sync_group
            # On the last replica alone: what the others have is finite.
            if int(tf.get_static_value(replica)) == count - 1:
                scaled += spoiled
            return update(Contribution(tf.zeros([2]), [scaled], []))[0]
        return strategy.experimental_local_results(strategy.run(in_replica))[0]

    scales, norms = [], []
    for number, gradient in enumerate(gradients):
        spoiled = tf.constant(SPOILED.get(number, 0.0), tf.float32)
        norms.append(float(step(tf.constant(gradient), spoiled)))
        scales.append(float(np.asarray(loss_scale.scale.value)))
    weight = model.trainable_variables[0].value
    copies = [np.asarray(each) for each in strategy.experimental_local_results(weight)]
    assert all((copy == copies[0]).all() for copy in copies)
    is_spent = [loss_scale.is_spent]
    loss_scale.scale.assign(2.0**-15)
    is_spent.append(loss_scale.is_spent)
    return copies[0], scales, int(np.asarray(optimizer.iterations.value)), norms, is_spent

weight, scales, iterations = by_keras()
found = {"keras": [scales, iterations]}
for name, strategy in {"one": one, "two": two, "central": central}.items():
    own, own_scales, own_iterations, norms, is_spent = ours(strategy)
    found[name] = [own_scales, own_iterations]
    found[f"{name}, apart"] = float(np.abs(own - weight).max())
    found[f"{name}, norms"] = [repr(norm) for norm in norms]
    found[f"{name}, spent"] = is_spent
found["moved"] = float(np.abs(weight - 1.0).max())
found["lengths"] = [float(np.linalg.norm(each)) for each in gradients]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def steps() -> dict[str, Any]:
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = run_forked(
        [sys.executable, "-c", STEPS], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("strategy", ["one", "two", "central"])
def test_that_scale_and_weights_are_those_of_keras(steps: dict[str, Any], strategy: str) -> None:
    scales, iterations = steps["keras"]
    # Doubled after the 2,000th in a row, then halved by two that overflow.
    assert (scales[0], scales[1], scales[5], iterations) == (2.0**15, 2.0**16, 2.0**14, 10)
    assert steps[strategy] == [scales, iterations]
    assert steps[f"{strategy}, apart"] < 1e-6 < steps["moved"]


@pytest.mark.parametrize("strategy", ["one", "two", "central"])
def test_that_the_norm_is_that_of_the_loss_itself_and_nan_where_nothing_is_updated(
    steps: dict[str, Any], strategy: str
) -> None:
    norms = steps[f"{strategy}, norms"]
    assert [number for number, norm in enumerate(norms) if norm == "nan"] == [4, 5]
    assert float(norms[6]) == pytest.approx(steps["lengths"][6], rel=1e-6)
    assert steps[f"{strategy}, spent"] == [False, True]


MIRRORED = StrategySettings(kind=StrategyKind.MIRRORED)
FLOAT16 = {"mixed_precision": True, "half_precision": "float16", "learning_rate": 0.02}
DIGITS = DigitsData(validation_fraction=0.6)
NORMED = CnnModel(filters=(4,), batch_norm=True)
FLAT = """
import keras


def build_model(input_shape, outputs):
    inputs = keras.Input(input_shape)
    hidden = keras.layers.Dense(8)(keras.layers.Flatten()(inputs))
    # The root of 0 has an infinite slope: the loss is a number, its gradient is none.
    flat = keras.ops.sqrt(keras.ops.relu(hidden) * 0.0)
    return keras.Model(inputs, keras.layers.Dense(outputs)(flat))
"""


def session(**changes: object) -> Profile:
    training = changed(**{**FLOAT16, "epochs": 2, "tensorboard": False, **changes})
    return profile(training, MIRRORED, model=NORMED, data=DIGITS)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> dict[str, RunLayout]:
    plans = {
        "float16": (session(), (48, 16)),
        "float32": (session(mixed_precision=False), (48, 16)),
        "float16, an epoch": (session(epochs=1), (48, 16)),
    }
    return train_all(tmp_path_factory.mktemp("scaled"), make_run, plans, to_the_bit=True)


@pytest.mark.long
def test_that_float16_learns_what_float32_does_but_for_its_rounding(
    runs: dict[str, RunLayout],
) -> None:
    half, whole = last_metrics(runs["float16"]), last_metrics(runs["float32"])
    assert half.loss == pytest.approx(whole.loss, rel=0.02)
    assert half.loss != whole.loss
    assert half.accuracy == pytest.approx(whole.accuracy, abs=0.02)


@pytest.mark.long
def test_that_a_run_goes_on_with_its_scale_to_the_bit(
    tmp_path: Path, make_run: MakeRun, runs: dict[str, RunLayout]
) -> None:
    before = variables(runs["float16, an epoch"])
    assert before["loss_scale/scale"] == 2.0**15
    assert before["loss_scale/updates"] > 0

    gone_on(runs["float16, an epoch"], session())

    one, other = variables(runs["float16"]), variables(runs["float16, an epoch"])
    assert one.keys() == other.keys()
    assert [key for key in one if one[key].tobytes() != other[key].tobytes()] == []


@pytest.mark.long
@pytest.mark.parametrize(("before", "after"), [("float16", "bfloat16"), ("bfloat16", "float16")])
def test_that_a_run_may_go_on_in_other_16_bit_floats(
    tmp_path: Path, make_run: MakeRun, runs: dict[str, RunLayout], before: str, after: str
) -> None:
    one = session(epochs=1, half_precision=before)
    layout = train_all(tmp_path, make_run, {"one": (one, (48, 16))}, to_the_bit=True)["one"]

    gone_on(layout, session(half_precision=after))

    has_scale = {"loss_scale/scale", "loss_scale/updates"} <= variables(layout).keys()
    assert has_scale == (after == "float16")
    assert last_metrics(layout).loss == pytest.approx(last_metrics(runs["float16"]).loss, rel=0.05)


def gone_on(layout: RunLayout, longer: Profile) -> None:
    layout.profile.write_text(dump_profile(longer), encoding="utf-8")
    plan = cpu_plan(longer, (48, 16)).model_dump_json()
    layout.plan.write_text(plan, encoding="utf-8")
    train_layouts([layout])


@pytest.mark.long
def test_that_gradients_that_are_never_finite_end_the_training(
    tmp_path: Path, make_run: MakeRun
) -> None:
    code = tmp_path / "flat.py"
    code.write_text(FLAT, encoding="utf-8")
    training = changed(**FLOAT16, tensorboard=False)
    flat = profile(training, model=PythonModel(path=str(code)), data=DIGITS)
    layout = make_run(tmp_path / "run", flat, [16])
    layout.code.mkdir()
    layout.model_code.write_text(FLAT, encoding="utf-8")
    with pytest.raises(AssertionError, match="NaN or infinity in the gradients at step"):
        train_layouts([layout])
