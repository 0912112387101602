"""The optimizer's state divided among replicas: one copy in all, and the same bits as undivided."""

import json
import os
import sys
from collections.abc import Sequence
from typing import Any

import pytest

from gpupanel.domain.model import MlpModel
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.schedule import ScheduleSettings
from gpupanel.domain.strategy import AllReduce, StrategyKind, StrategySettings
from tests.forked.processes import run_forked
from tests.grouped import Grouped, others_long
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.trained_runs import changed, profile, train_all, variables

pytestmark = pytest.mark.tensorflow

SHARES = [36, 12, 12]
QUOTAS = (60, 20, 20)
ADAM = {"optimizer": Optimizer.ADAM, "momentum": 0.0, "learning_rate": 3e-3}
DENSE = MlpModel(hidden=(64, 32))
TRAININGS = {
    "adam": changed(**ADAM, clip_norm=0.5),
    "adamw, averaged": changed(
        **{**ADAM, "optimizer": Optimizer.ADAMW},
        ema=0.9,
        schedule=ScheduleSettings(kind="cosine", warmup_epochs=0.5),
    ),
    "adam as keras has it": changed(**ADAM, beta_2=0.99999, clip_norm=0.5),
    "sgd": changed(momentum=0.0, clip_norm=0.5),
    "sgd, accumulated": changed(nesterov=True, weight_decay=1e-2, accumulation_steps=3),
    "rmsprop": changed(optimizer=Optimizer.RMSPROP, learning_rate=1e-3, weight_decay=1e-2),
    "lion": changed(optimizer=Optimizer.LION, momentum=0.0, learning_rate=1e-3, clip_norm=0.5),
    "compiled": changed(**ADAM, jit_compile=True, clip_norm=0.5),
    "float16": changed(**ADAM, mixed_precision=True, half_precision="float16"),
}
FIRST, *LATER = TRAININGS


def on_three(one: Profile, state: str | tuple[int, ...], *, to_one: bool = True) -> Profile:
    way = AllReduce.REDUCTION_TO_ONE_DEVICE if to_one else AllReduce.AUTO
    strategy = StrategySettings(kind=StrategyKind.MIRRORED, all_reduce=way, optimizer_state=state)
    return one.model_copy(update={"strategy": strategy})


def both(names: Sequence[str]) -> dict[str, tuple[Profile, Sequence[int]]]:
    """Each training with the state whole, and divided."""
    return {
        f"{name}, {kind}": (on_three(profile(TRAININGS[name], model=DENSE), state), SHARES)
        for name in names
        for kind, state in (("whole", "replicated"), ("divided", QUOTAS))
    }


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> dict[str, RunLayout]:
    def train(names: Sequence[str]) -> dict[str, RunLayout]:
        plans = both([FIRST] if names[0].startswith(f"{FIRST}, ") else LATER)
        return train_all(tmp_path_factory.mktemp("runs"), make_run, plans, to_the_bit=True)

    return Grouped(train, list(both([FIRST])), list(both(LATER)))


@pytest.mark.parametrize("name", others_long(TRAININGS, FIRST))
def test_that_weights_and_state_are_those_of_the_undivided_form_to_the_last_bit(
    runs: dict[str, RunLayout], name: str
) -> None:
    whole, divided = variables(runs[f"{name}, whole"]), variables(runs[f"{name}, divided"])
    assert whole.keys() == divided.keys()
    assert {key: value.shape for key, value in whole.items()} == {
        key: value.shape for key, value in divided.items()
    }
    assert [key for key in whole if whole[key].tobytes() != divided[key].tobytes()] == []


STEPS = """
import json, sys
from collections import Counter
import keras, numpy as np, tensorflow as tf
from gpupanel.trainer.models.divided_optimizer import DividedOptimizer, DividedSlot
from gpupanel.trainer.parts.fused_adam import FusedAdam, FusedAdamW
from gpupanel.trainer.parts.loss_scale import LossScale
from gpupanel.trainer.steps.contribution import Contribution, Variables
from gpupanel.trainer.steps.update import Update

QUOTAS, REPLICAS = (60, 20, 20), 3
SPOILED = {4: np.inf, 5: np.nan}
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * REPLICAS)
three = tf.distribute.MirroredStrategy(
    [f"/cpu:{index}" for index in range(REPLICAS)],
    cross_device_ops=tf.distribute.ReductionToOneDevice(),
)
random = np.random.default_rng(0)
here = three.experimental_local_results

def model_of():
    keras.utils.set_random_seed(3)
    layers = [keras.layers.Dense(units, name=f"dense_{units}") for units in (512, 63, 1)]
    return keras.Sequential([keras.Input((61,)), *layers], name="model")

def bytes_of(variables):
    held = Counter()
    for variable in variables:
        held[variable.device[-1]] += int(np.prod(variable.shape)) * variable.dtype.size
    return [held[str(index)] for index in range(REPLICAS)]

def learned(make, quotas, gradients):
    with three.scope():
        model, optimizer, scale = model_of(), make(), LossScale()
        if quotas is None:
            optimizer.build(model.trainable_variables)
    weights = model.trainable_variables
    if quotas is None:
        slots = [
            each for slot in optimizer.variables if slot.shape.rank for each in here(slot.value)
        ]
    else:
        optimizer = DividedOptimizer(three, optimizer, weights, make, quotas, 0)
        divided = [each for each in optimizer.variables if isinstance(each, DividedSlot)]
        slots = [variable.value for slot in divided for _, variable in slot.pieces]
    update = Update(Variables(model), optimizer, clip_norm=0.5, loss_scale=scale)

    @tf.function(autograph=False)
    def step(gradients, spoiled):
        def in_replica():
            own = [each * update.state().scale / REPLICAS for each in gradients]
            own[0] += spoiled
            return update(Contribution(tf.zeros([2]), own, []))[0]
        return here(three.run(in_replica))[0]

    changed, before = [], None
    for number, each in enumerate(gradients):
        step(each, tf.constant(SPOILED.get(number, 0.0), tf.float32))
        now = [np.asarray(each.value).tobytes() for each in [*weights, *optimizer.variables]]
        changed.append(now != before)
        before = now
    copies = all(
        np.array_equal(copy, here(each.value)[0]) for each in weights for copy in here(each.value)
    )
    named = {
        each.path: np.asarray(each.value).tobytes().hex()
        for each in [*weights, *optimizer.variables]
    }
    return named, bytes_of(slots), copies, changed

OPTIMIZERS = {
    "adam": lambda: FusedAdam(0.01, name="its"),
    "adamw": lambda: FusedAdamW(0.01, weight_decay=0.01, name="its"),
    "adam as keras has it": lambda: keras.optimizers.Adam(0.01, name="its"),
    "plain sgd": lambda: keras.optimizers.SGD(0.01, weight_decay=0.01, name="its"),
    "sgd": lambda: keras.optimizers.SGD(0.01, momentum=0.9, nesterov=True, name="its"),
    "rmsprop": lambda: keras.optimizers.RMSprop(0.01, momentum=0.9, weight_decay=0.01, name="its"),
    "lion": lambda: keras.optimizers.Lion(0.001, name="its"),
}
found = {}
for name in sys.argv[1:]:
    make = OPTIMIZERS[name]
    shapes = [each.shape for each in model_of().trainable_variables]
    gradients = [
        [tf.constant(random.normal(size=shape), tf.float32) for shape in shapes] for _ in range(9)
    ]
    whole, held, are_copies, _ = learned(make, None, gradients)
    divided, parts, copies, changed = learned(make, QUOTAS, gradients)
    unlike = sorted(key for key in {*whole, *divided} if whole.get(key) != divided.get(key))
    found[name] = {
        "unlike": unlike, "whole": held, "parts": parts,
        "copies": copies and are_copies, "changed": changed,
    }
print(json.dumps(found))
"""


KEEPING = ("adam", "adamw", "adam as keras has it", "sgd", "rmsprop", "lion")
STEPPED = (*KEEPING, "plain sgd")


@pytest.fixture(scope="module")
def steps() -> dict[str, Any]:
    def stepped(names: Sequence[str]) -> dict[str, Any]:
        done = run_forked(
            [sys.executable, "-c", STEPS, *names],
            env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return dict(json.loads(done.stdout.splitlines()[-1]))

    return Grouped(stepped, STEPPED[:1], STEPPED[1:])


@pytest.mark.parametrize("name", others_long(KEEPING, STEPPED[0]))
def test_that_each_device_keeps_its_quota_and_all_together_one_copy(
    steps: dict[str, Any], name: str
) -> None:
    one_copy, *others = steps[name]["whole"]
    parts = steps[name]["parts"]
    assert others == [one_copy] * 2
    assert sum(parts) <= 1.05 * one_copy
    for part, quota in zip(parts, QUOTAS, strict=True):
        assert part == pytest.approx(one_copy * quota / sum(QUOTAS), rel=0.05)


@pytest.mark.parametrize("name", others_long(STEPPED, STEPPED[0]))
def test_that_every_step_is_that_of_the_undivided_form_on_all_devices(
    steps: dict[str, Any], name: str
) -> None:
    assert steps[name]["unlike"] == []
    assert steps[name]["copies"]


@pytest.mark.parametrize("name", others_long(STEPPED, STEPPED[0]))
def test_that_an_update_that_overflows_changes_nothing(steps: dict[str, Any], name: str) -> None:
    assert [number for number, is_so in enumerate(steps[name]["changed"]) if not is_so] == [4, 5]
