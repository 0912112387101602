"""Activations that are computed again change no bit of what is learned."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import DigitsData, TextData
from gpupanel.domain.model import (
    CnnModel,
    MlpModel,
    ModelSettings,
    PythonModel,
    ResNetModel,
    TransformerModel,
)
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import Recompute, TrainingSettings
from tests.grouped import Grouped, others_long
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.text_folders import reviews, write_table
from tests.unit.trainer.trained_runs import (
    furthest,
    last_metrics,
    profile,
    train_all,
    train_layouts,
)

pytestmark = pytest.mark.tensorflow

FEW = TrainingSettings(
    epochs=1, optimizer=Optimizer.SGD, learning_rate=0.02, momentum=0.9, tensorboard=False
)
NORMED = CnnModel(filters=(4, 4), batch_norm=True, dropout=0.2)
DIGITS = DigitsData(validation_fraction=0.6)
MIRRORED = StrategySettings(kind=StrategyKind.MIRRORED)
CENTRAL = StrategySettings(kind=StrategyKind.CENTRAL_STORAGE)


OWN_MODEL = """
import keras


class Own(keras.Model):
    def __init__(self, outputs):
        super().__init__()
        self.hidden = keras.layers.Dense(8, activation="relu")
        self.last = keras.layers.Dense(outputs)

    def call(self, inputs):
        return self.last(self.hidden(keras.ops.reshape(inputs, (-1, 64))))


def build_model(input_shape, outputs):
    inputs = keras.Input(input_shape)
    return keras.Model(inputs, Own(outputs)(inputs))
"""


def of(
    model: ModelSettings, strategy: StrategySettings | None = None, **changes: object
) -> Profile:
    training = FEW.model_copy(update=changes)
    return profile(training, strategy or StrategySettings(), model=model, data=DIGITS)


PLANS: dict[str, tuple[Profile, Sequence[int]]] = {
    "dropout and normalisation": (of(NORMED), [64]),
    "residual blocks": (of(ResNetModel(filters=(4, 8), blocks=1)), [64]),
    # Enough of them that several segments draw.
    "layers one after the other": (of(MlpModel(hidden=(64,) * 8, dropout=0.3)), [64]),
    "normalised over two replicas": (of(NORMED, MIRRORED), [48, 16]),
    "micro-batches, clipped, averaged": (
        of(NORMED, MIRRORED, accumulation_steps=3, clip_norm=0.5, ema=0.9),
        [40, 24],
    ),
    "central storage": (of(MlpModel(hidden=(16, 16, 16)), CENTRAL), [32, 32]),
    "half precision": (of(NORMED, mixed_precision=True), [64]),
    "float16": (of(NORMED, MIRRORED, mixed_precision=True, half_precision="float16"), [48, 16]),
    "compiled": (of(MlpModel(hidden=(16, 16, 16), dropout=0.3), jit_compile=True), [64]),
}


def recomputed(one: Profile, blocks: Recompute | tuple[str, ...] = Recompute.BLOCKS) -> Profile:
    training = one.training.model_copy(update={"recompute": blocks})
    return one.model_copy(update={"training": training})


QUICK = ("layers one after the other", "normalised over two replicas")
FURTHER = (*(name for name in PLANS if name not in QUICK), "texts")
"""For ``make test-slow``."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> dict[str, RunLayout]:
    def train(names: Sequence[str]) -> dict[str, RunLayout]:
        chosen = [name for name in QUICK if name in names]
        return trained(tmp_path_factory.mktemp("recomputed"), make_run, chosen)

    return Grouped(train, *((name, f"{name}, again") for name in QUICK))


@pytest.fixture(scope="module")
def further_runs(
    tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun
) -> dict[str, RunLayout]:
    return trained(tmp_path_factory.mktemp("recomputed"), make_run, FURTHER)


def trained(root: Path, make_run: MakeRun, names: Sequence[str]) -> dict[str, RunLayout]:
    """Each with activations that are kept, and with some that are computed again."""
    every = {**PLANS, "texts": write_texts(root)}
    plans = {name: every[name] for name in names}
    again = {f"{name}, again": (recomputed(one), shares) for name, (one, shares) in plans.items()}
    if "layers one after the other" in plans:
        one, shares = plans["layers one after the other"]
        named = ("dense_2_relu", "dense_5_relu")
        again["layers one after the other, named"] = (recomputed(one, named), shares)
    return train_all(root, make_run, {**plans, **again}, to_the_bit=True)


def write_texts(root: Path) -> tuple[Profile, Sequence[int]]:
    """Padded ones: which words count has to reach every segment."""
    write_table(root / "reviews.csv", reviews(300), "review,stars")
    data = TextData(
        path=str(root / "reviews.csv"), vocabulary=30, length=9, validation_fraction=0.6
    )
    model = TransformerModel(width=8, heads=2, hidden_units=16, blocks=4, dropout=0.1)
    return profile(FEW, model=model, data=data), [64]


@pytest.mark.parametrize("name", others_long(QUICK, QUICK[0]))
def test_that_weights_and_metrics_are_those_of_kept_activations(
    runs: dict[str, RunLayout], name: str
) -> None:
    assert_alike(runs[name], runs[f"{name}, again"])


def test_that_blocks_end_after_layers_that_are_named(runs: dict[str, RunLayout]) -> None:
    name = "layers one after the other"
    assert_alike(runs[name], runs[f"{name}, named"])


@pytest.mark.slow
@pytest.mark.parametrize("name", FURTHER)
def test_that_weights_and_metrics_of_further_runs_are_those_of_kept_activations(
    further_runs: dict[str, RunLayout], name: str
) -> None:
    assert_alike(further_runs[name], further_runs[f"{name}, again"])


def assert_alike(kept: RunLayout, again: RunLayout) -> None:
    assert furthest(kept, again) < 1e-6
    expected = last_metrics(kept).model_dump(exclude_none=True)
    assert np.isfinite(expected["loss"])
    assert last_metrics(again).model_dump(exclude_none=True) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("nothing",), "it has no layer nothing; it divides after"),
        (("stage_1_block_1_1_norm",), "gives is needed later; it divides after"),
    ],
)
def test_that_names_after_which_nothing_divides_are_refused_with_those_that_do(
    tmp_path: Path, make_run: MakeRun, names: tuple[str, ...], words: str
) -> None:
    one = recomputed(of(ResNetModel(filters=(4,), blocks=2)), names)
    layout = make_run(tmp_path / "run", one, [64])
    with pytest.raises(AssertionError, match=words):
        train_layouts([layout])


def test_that_a_model_whose_inside_is_not_known_is_refused(
    tmp_path: Path, make_run: MakeRun
) -> None:
    code = tmp_path / "own.py"
    code.write_text(OWN_MODEL, encoding="utf-8")
    layout = make_run(tmp_path / "run", recomputed(of(PythonModel(path=str(code)))), [64])
    layout.code.mkdir()
    layout.model_code.write_text(OWN_MODEL, encoding="utf-8")
    with pytest.raises(AssertionError, match="no graph of layers"):
        train_layouts([layout])
