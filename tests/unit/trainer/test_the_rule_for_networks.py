"""Any split is the same mathematics for networks whose layers do not follow one after the other."""

from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import DataSettings, DigitsData, TableData, TextData
from gpupanel.domain.model import ModelSettings, ResNetModel, TabularModel, TransformerModel
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.test_the_rule import CENTRAL, MIRRORED, ONE, TO_ONE_DEVICE
from tests.unit.trainer.text_folders import reviews, write_table
from tests.unit.trainer.trained_runs import (
    changed,
    furthest,
    last_metrics,
    profile,
    train_all,
)

pytestmark = pytest.mark.tensorflow

MODELS: dict[str, ModelSettings] = {
    "resnet": ResNetModel(filters=(4, 8), blocks=1),
    "transformer": TransformerModel(width=8, heads=2, hidden_units=16, dropout=0.0),
    "table": TabularModel(hidden=(8,)),
    "normalised table": TabularModel(hidden=(8,), batch_norm=True, embedding_units=3),
}
SPLITS = {
    "one device": (ONE, [64]),
    "mirrored, 60 + 4": (MIRRORED, [60, 4]),
    "mirrored, 40 + 20 + 4": (TO_ONE_DEVICE, [40, 20, 4]),
    "central storage, 60 + 4": (CENTRAL, [60, 4]),
}
ADAM = changed(optimizer=Optimizer.ADAM, momentum=0.0, learning_rate=3e-3, clip_norm=0.5, epochs=2)
# Few steps: of a million activations one is so close to 0 that the order of a sum decides
# whether a ReLU passes its gradient. Adam would enlarge such a difference.
SGD = changed(learning_rate=0.02, clip_norm=0.5, epochs=1)
ACCUMULATED = "accumulated, mirrored, 60 + 4"
ALONE = [(model, "one device") for model in MODELS]
FEW = [("transformer", "mirrored, 60 + 4")]
"""Branches that are added up, attention, rows of an embedding."""
FEW_ALONE = [(model, "one device") for model, _ in FEW]
FURTHER = [
    (model, split)
    for model in MODELS
    for split in (*SPLITS, *([ACCUMULATED] if model in ("table", "transformer") else []))
    if (model, split) not in ALONE + FEW
]


def write_prices(path: Path, rows: int = 300) -> Path:
    """Numbers and two columns of categories; a price follows from them."""
    random = np.random.default_rng(3)
    lines = ["size,city,kind,price"]
    for _ in range(rows):
        size, city, kind = random.uniform(20, 200), random.integers(0, 5), random.integers(0, 3)
        price = size * (1 + city) + 50 * kind
        lines.append(f"{size:.2f},{'ABCDE'[city]},{'' if kind == 2 else f'k{kind}'},{price:.1f}")
    path.write_text("\n".join(lines))
    return path


class Networks:
    """Trains each kind of network in a child, divided as it is asked to."""

    def __init__(self, root: Path, make_run: MakeRun) -> None:
        self._root, self._make_run = root, make_run
        reviewed = write_table(root / "reviews.csv", reviews(300), "review,stars")
        texts = TextData(path=str(reviewed), vocabulary=30, length=9, validation_fraction=0.2)
        table = TableData(path=str(write_prices(root / "prices.csv")), validation_fraction=0.2)
        self._data: dict[str, DataSettings] = {
            "resnet": DigitsData(validation_fraction=0.9),
            "transformer": texts,
            "table": table,
            "normalised table": table,
        }

    def trained(self, asked: list[tuple[str, str]]) -> dict[str, RunLayout]:
        plans = {f"{model}, {split}": self._plan(model, split) for model, split in asked}
        return train_all(self._root / "runs", self._make_run, plans)

    def _plan(self, model: str, split: str) -> tuple[Profile, list[int]]:
        strategy, shares = SPLITS["mirrored, 60 + 4" if split == ACCUMULATED else split]
        training = SGD if model == "resnet" else ADAM
        parts = 3 if split == ACCUMULATED else 1
        chosen = training.model_copy(update={"accumulation_steps": parts})
        return profile(chosen, strategy, model=MODELS[model], data=self._data[model]), shares


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> dict[str, RunLayout]:
    return Networks(tmp_path_factory.mktemp("networks"), make_run).trained(FEW_ALONE + FEW)


@pytest.fixture(scope="module")
def further_runs(
    tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun
) -> dict[str, RunLayout]:
    return Networks(tmp_path_factory.mktemp("networks"), make_run).trained(ALONE + FURTHER)


def assert_alike(runs: dict[str, RunLayout], model: str, split: str) -> None:
    """The weights and metrics of one device."""
    one_device, other = runs[f"{model}, one device"], runs[f"{model}, {split}"]
    assert furthest(one_device, other, "model/") < 1e-5
    expected = last_metrics(one_device).model_dump(exclude_none=True)
    assert last_metrics(other).model_dump(exclude_none=True) == pytest.approx(expected, rel=1e-5)


@pytest.mark.long
@pytest.mark.parametrize(("model", "split"), FEW)
def test_that_any_split_gives_the_weights_and_metrics_of_one_device(
    runs: dict[str, RunLayout], model: str, split: str
) -> None:
    assert_alike(runs, model, split)


@pytest.mark.slow
@pytest.mark.parametrize(("model", "split"), FURTHER)
def test_that_further_splits_give_the_weights_and_metrics_of_one_device(
    further_runs: dict[str, RunLayout], model: str, split: str
) -> None:
    assert_alike(further_runs, model, split)
