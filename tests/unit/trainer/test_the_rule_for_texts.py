"""Any split of a batch of texts is the same mathematics, though a gradient comes as rows."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from gpupanel.domain.data import TextData
from gpupanel.domain.model import MlpModel
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.test_the_rule import CENTRAL, HIERARCHICAL, MIRRORED, ONE, TO_ONE_DEVICE
from tests.unit.trainer.text_folders import reviews, write_table
from tests.unit.trainer.trained_runs import (
    changed,
    furthest,
    last_metrics,
    profile,
    train_all,
    variables,
)

if TYPE_CHECKING:
    from gpupanel.domain.training import TrainingSettings

pytestmark = pytest.mark.tensorflow

SETTINGS = {
    "sgd": changed(clip_norm=0.05, learning_rate=0.5),
    "adam": changed(optimizer=Optimizer.ADAM, momentum=0.0, learning_rate=3e-3, clip_norm=0.5),
    "adamw": changed(optimizer=Optimizer.ADAMW, momentum=0.0, learning_rate=3e-3),
    "compiled": changed(jit_compile=True, learning_rate=0.5),
}
SPLITS = {
    "one device": (ONE, [64]),
    "mirrored, 60 + 4": (MIRRORED, [60, 4]),
    "mirrored, 64 + 0": (MIRRORED, [64, 0]),
    "mirrored, 40 + 20 + 4": (TO_ONE_DEVICE, [40, 20, 4]),
    "mirrored, 30 + 20 + 10 + 4": (HIERARCHICAL, [30, 20, 10, 4]),
    "central storage, 60 + 4": (CENTRAL, [60, 4]),
}
ALONE = [f"{optimizer}, one device" for optimizer in ("sgd", "adam")]
CHOSEN = (
    "sgd, mirrored, 64 + 0, accumulated",
    "sgd, central storage, 60 + 4",
    "adam, mirrored, 60 + 4",
)
OTHERS_ALONE = [f"{optimizer}, one device" for optimizer in ("sgd", "adam", "adamw", "compiled")]
OTHERS = [
    *(
        name
        for split in SPLITS
        for more in ("", ", accumulated")
        if (name := f"sgd, {split}{more}") not in (*ALONE, *CHOSEN)
    ),
    "adam, central storage, 60 + 4",
    "adamw, mirrored, 60 + 4, accumulated",
    "compiled, mirrored, 60 + 4",
]
"""For ``make test-slow``."""


def texts(root: Path, cache: str) -> TextData:
    path = write_table(root / "reviews.csv", reviews(300), "review,stars")
    settings = {"vocabulary": 12, "length": 9, "validation_fraction": 0.2, "cache": cache}
    return TextData(path=str(path), **settings)


def plan_of(name: str, root: Path) -> tuple[Profile, list[int]]:
    optimizer, _, split = name.partition(", ")
    strategy, shares = SPLITS[split.removesuffix(", accumulated")]
    training: TrainingSettings = SETTINGS[optimizer]
    if split.endswith("accumulated"):
        training = training.model_copy(update={"accumulation_steps": 3})
    cache = "none" if len(shares) == 3 else "memory"
    model = MlpModel(hidden=(8,), batch_norm=optimizer == "adam")
    return profile(training, strategy, model=model, data=texts(root, cache)), shares


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> dict[str, RunLayout]:
    root = tmp_path_factory.mktemp("texts")
    plans = {name: plan_of(name, root) for name in (*ALONE, *CHOSEN)}
    return train_all(root / "runs", make_run, {**plans, "many words": (many_words(root), [64])})


@pytest.fixture(scope="module")
def other_runs(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> dict[str, RunLayout]:
    root = tmp_path_factory.mktemp("texts")
    plans = {name: plan_of(name, root) for name in (*OTHERS_ALONE, *OTHERS)}
    return train_all(root / "runs", make_run, plans)


def many_words(root: Path) -> Profile:
    """Of each of 700 words nothing but itself shows its class."""
    odd = np.random.default_rng(2).integers(0, 2, 700)
    rows = [(f"w{number}", odd[number % 700]) for number in range(1400)]
    data = TextData(path=str(write_table(root / "many.csv", rows)), vocabulary=2000, length=2)
    settings = {"mixed_precision": True, "optimizer": Optimizer.ADAM, "learning_rate": 0.03}
    return profile(changed(epochs=8, momentum=0.0, **settings), data=data)


def assert_as_on_one_device(runs: dict[str, RunLayout], name: str) -> None:
    one_device = runs[f"{name.partition(',')[0]}, one device"]
    assert furthest(one_device, runs[name]) < 1e-5
    expected = last_metrics(one_device).model_dump(exclude_none=True)
    measured = last_metrics(runs[name]).model_dump(exclude_none=True)
    assert measured == pytest.approx(expected, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", CHOSEN)
def test_that_any_split_of_texts_gives_the_weights_and_metrics_of_one_device(
    runs: dict[str, RunLayout], name: str
) -> None:
    assert_as_on_one_device(runs, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_that_other_splits_of_texts_give_the_weights_and_metrics_of_one_device(
    other_runs: dict[str, RunLayout], name: str
) -> None:
    assert_as_on_one_device(other_runs, name)


@pytest.mark.slow
def test_that_something_is_learned_of_words(runs: dict[str, RunLayout]) -> None:
    assert last_metrics(runs["adam, one device"]).loss < 1.3
    first = variables(runs["sgd, one device"])["model/embedding/embeddings"]
    other = variables(runs["adam, one device"])["model/embedding/embeddings"]
    assert first.shape == (12, 64)
    assert abs(first - other).max() > 1e-3


@pytest.mark.slow
def test_that_words_are_distinguished_under_mixed_precision(runs: dict[str, RunLayout]) -> None:
    """A half holds whole numbers up to 256 only."""
    assert last_metrics(runs["many words"]).accuracy > 0.95
