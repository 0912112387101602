"""Any split draws the same random numbers: dropout, noise, spatial dropout, stochastic depth."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from gpupanel.domain.events import ProblemReported
from gpupanel.domain.model import MlpModel, ModelSettings, PythonModel
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.test_the_rule import CENTRAL, MIRRORED, ONE, TO_ONE_DEVICE
from tests.unit.trainer.trained_runs import (
    all_events,
    changed,
    furthest,
    last_metrics,
    profile,
    train_all,
    train_layouts,
)

pytestmark = pytest.mark.tensorflow

NAMED = "/home/someone/code.py"
EVERY_LAYER = """
import keras
from keras import layers
from keras.src.applications.convnext import StochasticDepth


class Shaken(layers.Layer):
    def __init__(self, **settings):
        super().__init__(**settings)
        self.seeds = keras.random.SeedGenerator(3)

    def call(self, inputs, training=False):
        if not training:
            return inputs
        size = keras.ops.shape(inputs)
        return inputs * keras.random.uniform(size, 0.9, 1.1, seed=self.seeds)


def build_model(input_shape, outputs):
    inputs = keras.Input(input_shape)
    hidden = layers.Reshape((*input_shape[:2], 1))(layers.GaussianNoise(0.1)(inputs))
    hidden = layers.Conv2D(6, 3, padding="same", activation="tanh", name="first")(hidden)
    deeper = layers.Conv2D(6, 3, padding="same", activation="tanh", name="second")(hidden)
    deeper = layers.Dropout(0.3, noise_shape=(None, 1, 1, 1))(deeper)
    hidden = layers.Add()([hidden, StochasticDepth(0.4)(deeper)])
    hidden = layers.SpatialDropout2D(0.2)(hidden)
    hidden = layers.Flatten()(hidden)
    hidden = Shaken()(layers.GaussianDropout(0.2)(layers.Dropout(0.2)(hidden)))
    return keras.Model(inputs, layers.Dense(outputs, name="last")(hidden))
"""
FURTHER_LAYERS = """
import keras
import tensorflow as tf
from keras import layers, ops, random


class Drawing(layers.Layer):
    def __init__(self, **settings):
        super().__init__(**settings)
        self.seeds = random.SeedGenerator(3)

    def call(self, inputs, training=False):
        if not training:
            return inputs
        shape = ops.shape(inputs)
        hidden = inputs * random.beta(shape, 2.0, 2.0, seed=self.seeds)
        hidden += 0.1 * random.gamma(shape, 2.0, seed=self.seeds)
        hidden += 0.01 * ops.cast(random.categorical(inputs, 1, seed=self.seeds), "float32")

        def once(number, dropped):
            return number + 1, random.dropout(dropped, 0.1, seed=self.seeds)

        return tf.while_loop(lambda number, _: number < 2, once, (tf.constant(0), hidden))[1]


def build_model(input_shape, outputs):
    inputs = keras.Input(input_shape)
    images = layers.Reshape((*input_shape[:2], 1))(inputs)
    images = layers.RandomRotation(0.05)(layers.RandomFlip("horizontal")(images))
    images = layers.RandomContrast(0.2, value_range=(0, 1))(layers.RandomZoom(0.1)(images))
    images = layers.RandomBrightness(0.1, value_range=(0, 1))(images)
    rows = layers.Reshape(input_shape[:2])(images)
    rows = layers.TimeDistributed(layers.AlphaDropout(0.1))(rows)
    # A bias of keys has no gradient but rounding.
    attention = layers.MultiHeadAttention(2, 3, dropout=0.2, use_bias=False, name="attention")
    attended = attention(rows, rows)
    settings = {"dropout": 0.2, "recurrent_dropout": 0.2, "return_sequences": True}
    cells = layers.LSTM(5, name="cells", **settings)
    hidden = layers.Bidirectional(cells, name="both")(layers.Add()([rows, attended]))
    hidden = layers.GRU(6, dropout=0.2, recurrent_dropout=0.1, name="gru")(hidden)
    inner = [layers.Dense(12, activation="tanh", name="inner"), layers.GaussianDropout(0.1)]
    inner = keras.Sequential(inner, name="within")
    hidden = keras.Sequential([inner, layers.Dropout(0.1)], name="around")(hidden)
    return keras.Model(inputs, layers.Dense(outputs, name="last")(Drawing()(hidden)))
"""
OTHERWISE = """
import keras
import tensorflow as tf


class Shaken(keras.layers.Layer):
    def call(self, inputs):
        return inputs + tf.random.normal(tf.shape(inputs))

    def compute_output_shape(self, input_shape):
        return input_shape


def build_model(input_shape, outputs):
    inputs = keras.Input(input_shape)
    hidden = Shaken(name="shaken")(keras.layers.Flatten()(inputs))
    return keras.Model(inputs, keras.layers.Dense(outputs)(hidden))
"""
FURTHER = "/home/someone/further.py"
CODE = {NAMED: EVERY_LAYER, "/home/someone/otherwise.py": OTHERWISE}
MODELS: dict[str, ModelSettings] = {
    "dropout": MlpModel(hidden=(24,), dropout=0.4),
    "every layer": PythonModel(path=NAMED),
}
SPLITS = {
    "one device": (ONE, [64]),
    "mirrored, 60 + 4": (MIRRORED, [60, 4]),
    "mirrored, 40 + 20 + 4": (TO_ONE_DEVICE, [40, 20, 4]),
    "central storage, 44 + 20": (CENTRAL, [44, 20]),
}
ACCUMULATION = {"": {}, ", accumulated": {"accumulation_steps": 3}}
COMPILED = ", compiled"
FEW = ("dropout, mirrored, 40 + 20 + 4", "every layer, mirrored, 60 + 4, accumulated")
ALONE = tuple(f"{model}, one device" for model in MODELS)
DIVIDED = "otherwise, accumulated"
WARNED = ("otherwise, one device", DIVIDED)


def plans() -> dict[str, tuple[Profile, Sequence[int]]]:
    found: dict[str, tuple[Profile, Sequence[int]]] = {}
    otherwise = PythonModel(path="/home/someone/otherwise.py")
    for name, steps in (("otherwise, one device", 1), (DIVIDED, 2)):
        training = changed(epochs=1, accumulation_steps=steps)
        found[name] = profile(training, model=otherwise), [64]
    for model, settings in MODELS.items():
        for split, (strategy, shares) in SPLITS.items():
            for suffix, more in ACCUMULATION.items():
                training = changed(epochs=1, clip_norm=0.5, **more)
                found[f"{model}, {split}{suffix}"] = (
                    profile(training, strategy, model=settings),
                    shares,
                )
            compiled = changed(epochs=1, clip_norm=0.5, jit_compile=True)
            found[f"{model}, {split}{COMPILED}"] = (
                profile(compiled, strategy, model=settings),
                shares,
            )
    return found


FURTHER_SPLITS = (
    (ONE, [16], 1),
    (MIRRORED, [11, 5], 2),
)
"""Strategy, shares and accumulation steps."""
OTHERS = tuple(name for name in plans() if name not in FEW + ALONE + WARNED)
"""For ``make test-slow``; a compiled one is compared with a compiled one."""

Train = Callable[[Sequence[str]], dict[str, RunLayout]]


@pytest.fixture(scope="module")
def train(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> Train:
    def with_code(path: Path, one: Profile, shares: Sequence[int]) -> RunLayout:
        layout = make_run(path, one, shares)
        if isinstance(one.model, PythonModel):
            layout.code.mkdir()
            layout.model_code.write_text(CODE[one.model.path])
        return layout

    def trained(names: Sequence[str]) -> dict[str, RunLayout]:
        every = plans()
        root = tmp_path_factory.mktemp("random")
        return train_all(root, with_code, {name: every[name] for name in names})

    return trained


@pytest.fixture(scope="module")
def runs(train: Train) -> dict[str, RunLayout]:
    return train(ALONE + FEW)


@pytest.fixture(scope="module")
def warned_runs(train: Train) -> dict[str, RunLayout]:
    return train(WARNED + FEW[:1])


@pytest.fixture(scope="module")
def other_runs(train: Train) -> dict[str, RunLayout]:
    return train(OTHERS)


def assert_alike(one_device: RunLayout, other: RunLayout) -> None:
    assert furthest(one_device, other, "model/") < 1e-5
    expected = last_metrics(one_device).model_dump(exclude_none=True)
    assert last_metrics(other).model_dump(exclude_none=True) == pytest.approx(expected, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", FEW)
def test_that_any_split_draws_what_one_device_draws(runs: dict[str, RunLayout], name: str) -> None:
    model, _, _ = name.partition(", ")

    assert_alike(runs[f"{model}, one device"], runs[name])


def test_that_layers_that_draw_otherwise_are_named_where_the_batch_is_divided(
    warned_runs: dict[str, RunLayout],
) -> None:
    warned = {
        name: event.problem.message
        for name, layout in warned_runs.items()
        for event in all_events(layout)
        if isinstance(event, ProblemReported) and event.problem.code == "random_numbers_by_split"
    }

    assert list(warned) == [DIVIDED]
    assert warned[DIVIDED].startswith("shaken: ")


def test_that_layers_that_draw_when_the_model_predicts_are_named_however_it_is_divided(
    warned_runs: dict[str, RunLayout],
) -> None:
    warned = {
        name: event.problem.message
        for name, layout in warned_runs.items()
        for event in all_events(layout)
        if isinstance(event, ProblemReported) and event.problem.code == "predictions_at_random"
    }

    assert list(warned) == list(WARNED)
    assert warned[DIVIDED].startswith("shaken: the model draws at random there also when")


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_that_every_other_split_draws_what_one_device_draws(
    runs: dict[str, RunLayout], other_runs: dict[str, RunLayout], name: str
) -> None:
    model, _, _ = name.partition(", ")
    # XLA draws other numbers, which are the same for every split as well.
    suffix = COMPILED if name.endswith(COMPILED) else ""
    one_device = f"{model}, one device{suffix}"

    assert_alike((runs | other_runs)[one_device], other_runs[name])


@pytest.mark.slow
def test_that_further_layers_draw_the_same_in_any_split(tmp_path: Path, make_run: MakeRun) -> None:
    layouts = []
    for number, (strategy, shares, steps) in enumerate(FURTHER_SPLITS):
        training = changed(epochs=1, global_batch_size=16, accumulation_steps=steps)
        one = profile(training, strategy, model=PythonModel(path=FURTHER))
        layouts.append(make_run(tmp_path / str(number), one, shares))
        layouts[-1].code.mkdir()
        layouts[-1].model_code.write_text(FURTHER_LAYERS)
    train_layouts(layouts)
    for layout in layouts[1:]:
        assert_alike(layouts[0], layout)
