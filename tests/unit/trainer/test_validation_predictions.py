"""The same validation examples, predicted after epochs, as plain Keras predicts them."""

import json
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.best_epoch import Keep
from gpupanel.domain.data import NpzData
from gpupanel.domain.events import EpochDone, ProblemReported
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.runs.following.validation_history import read_validation_history
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.trained_runs import (
    all_events,
    evaluation,
    profile,
    said_of_labels,
    train_all,
    train_layouts,
    variables,
)

pytestmark = [pytest.mark.tensorflow, pytest.mark.long]

MIRRORED = StrategySettings(kind=StrategyKind.MIRRORED)
CENTRAL = StrategySettings(kind=StrategyKind.CENTRAL_STORAGE)
TRAINING = TrainingSettings(
    epochs=2, optimizer=Optimizer.ADAM, learning_rate=1e-2, keep=Keep.LAST, tensorboard=False
)
AVERAGED = TRAINING.model_copy(update={"ema": 0.9, "global_batch_size": 32})
EVALUATED = ("classes", "averaged", "central", "labels", "values")


def arrays(folder: Path, name: str, labels: np.ndarray) -> NpzData:
    features = np.random.default_rng(3).normal(size=(len(labels), 6)).astype(np.float32)
    np.savez(folder / f"{name}.npz", x=features, y=labels)
    return NpzData(path=str(folder / f"{name}.npz"), validation_fraction=0.25)


def profiles(folder: Path) -> dict[str, tuple[Profile, list[int]]]:
    random = np.random.default_rng(2)
    rare = np.array([0] * 180 + [1] * 20)
    flags = random.integers(0, 2, (200, 3)).astype(np.float32)
    values = random.normal(100.0, 7.0, (200, 2)).astype(np.float32)
    classes = arrays(folder, "classes", rare)
    labels = arrays(folder, "labels", flags).model_copy(update={"predicts": "labels"})
    return {
        "classes": (profile(TRAINING, data=classes), [64]),
        "averaged": (profile(AVERAGED, MIRRORED, data=classes), [24, 8]),
        "central": (profile(TRAINING, CENTRAL, data=classes), [32, 32]),
        "labels": (profile(TRAINING, data=labels), [64]),
        "values": (profile(TRAINING, data=arrays(folder, "values", values)), [64]),
        "nothing": (
            profile(TRAINING, data=classes.model_copy(update={"validation_fraction": 0.0})),
            [64],
        ),
    }


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> dict[str, RunLayout]:
    root = tmp_path_factory.mktemp("followed")
    return train_all(root, make_run, profiles(root), evaluated=EVALUATED)


def predicted_by_keras(layout: RunLayout) -> np.ndarray:
    return np.asarray(evaluation(layout)["followed"])


@pytest.mark.parametrize("name", ["classes", "averaged", "central"])
def test_that_the_last_epoch_says_of_classes_what_the_model_does(
    runs: dict[str, RunLayout], name: str
) -> None:
    history = read_validation_history(runs[name])
    found = predicted_by_keras(runs[name])
    assert [each.epoch for each in history.epochs] == [1, 2]
    labels = [int(each.label) for each in history.examples]
    wanted = [float(row[label]) for row, label in zip(found, labels, strict=True)]
    assert said_of_labels(runs[name]) == pytest.approx(wanted, abs=1e-5)
    for said, row in zip(history.epochs[-1].predictions, found, strict=True):
        assert said.predicted[0].name == str(row.argmax())
        assert said.predicted[0].probability == pytest.approx(row.max(), abs=1e-5)
    right = [int(row.argmax()) == label for row, label in zip(found, labels, strict=True)]
    assert [each.is_right for each in history.epochs[-1].predictions] == right
    assert history.epochs[-1].right_count == sum(right)


def test_that_a_rare_class_is_among_them(runs: dict[str, RunLayout]) -> None:
    history = read_validation_history(runs["classes"])
    labels = [each.label for each in history.examples]
    assert history.validation_examples == 50
    # The set has some five of them: each is taken, or as many as of the others.
    assert labels.count("1") >= 3
    assert len({each.index for each in history.examples}) == 16


def test_that_of_several_labels_those_are_said_that_are_more_likely_than_not(
    runs: dict[str, RunLayout],
) -> None:
    history = read_validation_history(runs["labels"])
    for said, example, row in zip(
        history.epochs[-1].predictions,
        history.examples,
        predicted_by_keras(runs["labels"]),
        strict=True,
    ):
        names = [str(place) for place in np.flatnonzero(row > 0.5)]
        assert [each.name for each in said.predicted] == names
        assert said.is_right == ((", ".join(names) or "none") == example.label)
        assert said.label_probability is None


def test_that_values_are_in_their_own_units(runs: dict[str, RunLayout]) -> None:
    history = read_validation_history(runs["values"])
    for said, example, row in zip(
        history.epochs[-1].predictions,
        history.examples,
        predicted_by_keras(runs["values"]),
        strict=True,
    ):
        found = [float(each.name) for each in said.predicted]
        assert found == pytest.approx(row.tolist(), rel=1e-4)
        true = [float(value) for value in example.label.split("; ")]
        assert said.error == pytest.approx(float(np.abs(row - true).mean()), rel=1e-3)
        assert said.is_right is None
    assert history.epochs[-1].right_count is None


def test_that_nothing_is_followed_where_nothing_is_validated(runs: dict[str, RunLayout]) -> None:
    assert not runs["nothing"].validation_examples.exists()
    assert read_validation_history(runs["nothing"]).examples == ()


def test_that_a_training_that_goes_on_follows_the_same_ones(
    runs: dict[str, RunLayout], tmp_path: Path, make_run: MakeRun
) -> None:
    one, shares = profiles(tmp_path)["classes"]
    layout = make_run(tmp_path / "run", one, shares)
    train_layouts([layout])
    first = read_validation_history(layout)
    longer = one.training.model_copy(update={"epochs": 4})
    text = one.model_copy(update={"training": longer})
    again = make_run(tmp_path / "other", text, shares)
    for name in ("profile", "plan"):
        getattr(layout, name).write_bytes(getattr(again, name).read_bytes())
    # A line that was not finished, and one about an epoch that is trained again.
    with layout.validation_examples.open("a") as file:
        stale = json.loads(layout.validation_examples.read_text().splitlines()[-1])
        file.write(json.dumps({**stale, "epoch": 3}) + '\n{"kind":"epo')
    assert [each.epoch for each in read_validation_history(layout).epochs] == [1, 2, 3]
    train_layouts([layout])
    history = read_validation_history(layout)
    assert [each.epoch for each in history.epochs] == [1, 2, 3, 4]
    assert history.examples == first.examples
    assert history.epochs[:2] == first.epochs
    assert history.epochs[2] != history.epochs[1]


def test_that_what_cannot_be_written_ends_no_training(tmp_path: Path, make_run: MakeRun) -> None:
    one, shares = profiles(tmp_path)["classes"]
    layout, whole = (make_run(tmp_path / name, one, shares) for name in ("hindered", "whole"))
    layout.validation_examples.mkdir()
    train_layouts([layout, whole])
    (said,) = [each.problem for each in all_events(layout) if isinstance(each, ProblemReported)]
    assert said.code == "examples_not_predicted"
    epochs = [each for each in all_events(layout) if isinstance(each, EpochDone)]
    assert len(epochs) == 2
    # And nothing is learned otherwise for it.
    for name, value in variables(whole).items():
        assert np.array_equal(variables(layout)[name], value), name
