"""Any split is the same mathematics for arrays, several inputs, and a loss of one's own."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import DigitsData
from gpupanel.domain.model import Head, SavedModel
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.following.validation_history import read_validation_history
from gpupanel.runs.trust.trusted import trust
from gpupanel.runs.trust.user_code import code_of_profile
from gpupanel.trainer.models.kept_head import kept_classes
from gpupanel.trainer.models.model_classes import known_classes
from gpupanel.trainer.tools.preview.preview import preview
from tests.grouped import Grouped, others_long
from tests.unit.trainer.array_code import CODE, array_profile, with_code
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.test_multi_worker import on_workers, train_gang
from tests.unit.trainer.test_the_rule import CENTRAL, MIRRORED, ONE, TO_ONE_DEVICE
from tests.unit.trainer.trained_runs import (
    changed,
    evaluation,
    last_metrics,
    state,
    train_all,
)

pytestmark = pytest.mark.tensorflow

SGD = changed(learning_rate=0.02, clip_norm=0.5, epochs=2)
ACCUMULATED = SGD.model_copy(update={"accumulation_steps": 3})
COMPILED = ACCUMULATED.model_copy(update={"jit_compile": True})
ONE_DEVICE = "one device"
SPLITS = {
    ONE_DEVICE: (SGD, ONE, [64]),
    "60 + 4": (SGD, MIRRORED, [60, 4]),
    "64 + 0, accumulated": (ACCUMULATED, MIRRORED, [64, 0]),
    "40 + 20 + 4": (SGD, TO_ONE_DEVICE, [40, 20, 4]),
    "central, 60 + 4": (SGD, CENTRAL, [60, 4]),
    "central, 60 + 4, accumulated": (ACCUMULATED, CENTRAL, [60, 4]),
    "60 + 4, compiled": (COMPILED, MIRRORED, [60, 4]),
}
NORMALISED = ("masks", "flags", "inputs", "inputs, one by one")
"""By micro-batches where gradients are accumulated, and by replicas that XLA cannot compile."""
RECURRENT = ("series", "own", "own, one by one", "squares")
"""Their loops over steps of time take minutes to compile."""


def is_compared(name: str, split: str) -> bool:
    if split == ONE_DEVICE or (name in NORMALISED and SPLITS[split][0] is not SGD):
        return False
    return "compiled" not in split or name not in RECURRENT


ALIKE = [(name, split) for name in CODE for split in SPLITS if is_compared(name, split)]
QUICK = [("masks", "60 + 4"), ("inputs", "60 + 4")]
QUICK_ALONE = ("masks", "inputs", "pixels")
OF_WORKERS = (*QUICK_ALONE, "own", "pixel squares", "pixels one by one")
CHOSEN = [
    ("own", "64 + 0, accumulated"),
    ("pixels", "60 + 4"),
    ("flags", "40 + 20 + 4"),
    ("pixels one by one", "central, 60 + 4, accumulated"),
    ("series", "60 + 4"),
    ("rows", "40 + 20 + 4"),
    ("tasks", "central, 60 + 4, accumulated"),
    ("two pictures", "64 + 0, accumulated"),
    ("inputs, one by one", "central, 60 + 4"),
    ("own, one by one", "60 + 4"),
    ("pixel squares", "60 + 4, compiled"),
]
"""One split of each kind of data, for ``make test-long``; all others are slow."""
OTHERS = [each for each in ALIKE if each not in QUICK + CHOSEN]
EVALUATED = ("masks", "inputs", "flags", "series", "two pictures")
"""By plain Keras, too."""


def apart(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(one - other).max() / max(np.abs(one).max(), 1e-12))


def named(name: str, split: str) -> str:
    return f"{name}: {split}"


def names_of(chosen: Sequence[tuple[str, str]]) -> list[str]:
    return [named(*each) for each in chosen]


def trained(names: Sequence[str], folder: Path, make_run: MakeRun) -> dict[str, RunLayout]:
    plans = {}
    for name in names:
        code, split = name.split(": ")
        training, strategy, shares = SPLITS[split]
        plans[name] = array_profile(code, folder, training, strategy), shares
    evaluated = [named(each, ONE_DEVICE) for each in EVALUATED]
    return train_all(
        folder, with_code(make_run), plans, evaluated=[each for each in evaluated if each in names]
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> dict[str, RunLayout]:
    def train(names: Sequence[str]) -> dict[str, RunLayout]:
        return trained(names, tmp_path_factory.mktemp("arrays"), make_run)

    quick = [*QUICK, *((name, ONE_DEVICE) for name in QUICK_ALONE)]
    further = [[(name, split), (name, ONE_DEVICE)] for name, split in CHOSEN]
    further += [[("squares", ONE_DEVICE)], [("own tasks", ONE_DEVICE)]]
    known = {*names_of(quick)}
    groups = [[each for each in names_of(group) if each not in known] for group in further]
    return Grouped(train, names_of(quick), *groups)


@pytest.fixture(scope="module")
def other_runs(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> dict[str, RunLayout]:
    def train(names: Sequence[str]) -> dict[str, RunLayout]:
        return trained(names, tmp_path_factory.mktemp("arrays"), make_run)

    groups = [[each for each in OTHERS if each[0] == name] for name in CODE]
    return Grouped(train, *(names_of([(each[0][0], ONE_DEVICE), *each]) for each in groups))


@pytest.mark.parametrize("name", others_long(names_of(QUICK + CHOSEN), *names_of(QUICK)))
def test_that_any_split_gives_the_weights_and_metrics_of_one_device(
    runs: dict[str, RunLayout], name: str
) -> None:
    assert_like_one_device(runs, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", names_of(OTHERS))
def test_that_every_other_split_gives_the_weights_and_metrics_of_one_device(
    other_runs: dict[str, RunLayout], name: str
) -> None:
    assert_like_one_device(other_runs, name)


def assert_like_one_device(runs: dict[str, RunLayout], name: str) -> None:
    one_device, other = runs[named(name.split(": ")[0], ONE_DEVICE)], runs[name]

    # Keras numbers layers of one's own through the whole process: not by their names.
    pairs = zip(state(one_device), state(other), strict=True)
    assert max(apart(*pair) for pair in pairs) < 1e-5
    expected = last_metrics(one_device).model_dump(exclude_none=True)
    assert expected["val_loss"] > 0.0
    assert last_metrics(other).model_dump(exclude_none=True) == pytest.approx(expected, rel=1e-5)


@pytest.mark.long
def test_that_workers_give_the_weights_and_metrics_of_one_device(
    tmp_path: Path, runs: dict[str, RunLayout]
) -> None:
    profiles = {
        name: on_workers(array_profile(name, tmp_path, SGD), [48, 16]) for name in OF_WORKERS
    }
    for profile in profiles.values():
        trust(code_of_profile(profile))
    gang = train_gang(tmp_path / "runs", profiles)

    for name, run in gang.items():
        one_device = runs[named(name, ONE_DEVICE)]
        pairs = zip(state(one_device), state(run), strict=True)
        assert max(apart(*pair) for pair in pairs) < 1e-5
        expected = last_metrics(one_device).model_dump(exclude_none=True)
        assert last_metrics(run).model_dump(exclude_none=True) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("name", others_long(EVALUATED, "masks", "inputs"))
def test_that_plain_keras_measures_the_same_of_the_saved_model(
    runs: dict[str, RunLayout], name: str
) -> None:
    run = runs[named(name, ONE_DEVICE)]
    measured = last_metrics(run)

    second = measured.val_mean_absolute_error if name == "series" else measured.val_accuracy
    assert evaluation(run)["validation"] == pytest.approx([measured.val_loss, second], rel=1e-5)


def test_that_a_metric_of_ones_own_is_the_mean_over_the_examples(
    runs: dict[str, RunLayout],
) -> None:
    for split in (ONE_DEVICE, "60 + 4"):
        measured = last_metrics(runs[named("masks", split)])
        assert measured.own == {
            "right": pytest.approx(measured.accuracy),
            "val_right": pytest.approx(measured.val_accuracy),
        }


@pytest.mark.parametrize(
    ("own", "built_in"),
    [
        ("pixel squares", "pixels"),
        pytest.param("squares", "series", marks=pytest.mark.long),
    ],
)
def test_that_a_loss_of_ones_own_is_learned_as_the_same_one_of_the_program(
    runs: dict[str, RunLayout], own: str, built_in: str
) -> None:
    one, other = (runs[named(name, ONE_DEVICE)] for name in (own, built_in))

    pairs = zip(state(one), state(other), strict=True)
    assert max(apart(*pair) for pair in pairs) < 1e-6
    measured, expected = last_metrics(one), last_metrics(other)
    assert measured.val_loss == pytest.approx(expected.val_loss, rel=1e-6)
    # What its outputs mean nobody knows.
    assert (measured.mean_absolute_error, measured.val_root_mean_squared_error) == (None, None)


def test_that_an_autoencoder_learns_its_examples_as_a_model_takes_them(
    runs: dict[str, RunLayout],
) -> None:
    run = last_metrics(runs[named("pixels", ONE_DEVICE)])

    # Pixels are from 0 to 1, evenly spread: their variance is a twelfth.
    assert run.val_loss == pytest.approx(1 / 12, rel=0.1)
    assert run.val_root_mean_squared_error == pytest.approx(run.val_loss**0.5)


@pytest.mark.parametrize("name", ["masks", "own"])
def test_that_what_is_no_row_of_outputs_is_read_as_none(
    runs: dict[str, RunLayout], name: str
) -> None:
    path = str(runs[named(name, ONE_DEVICE)].model)
    model, data = SavedModel(path=path), DigitsData()
    with pytest.raises(ProblemError) as caught:
        known_classes(model)
    (problem,) = caught.value.problems
    assert problem.code == "model_outputs_not_rows"

    for task in ("evaluate", "train"):
        said = preview(PreviewRequest(data=data, model=model, task=task, example_limit=1, seed=7))
        assert problem.code in [each.code for each in said.model_problems]
    with pytest.raises(ProblemError):
        kept_classes(model, data)
    # Its layers are a base like any other.
    assert kept_classes(model.model_copy(update={"head": Head.NEW}), data) is None


def test_that_a_model_of_several_inputs_is_refused_where_one_is_needed(
    runs: dict[str, RunLayout],
) -> None:
    path = str(runs[named("inputs", ONE_DEVICE)].model)
    model, data = SavedModel(path=path), DigitsData()
    for task in ("evaluate", "predict", "train"):
        said = preview(PreviewRequest(data=data, model=model, task=task, example_limit=1, seed=7))
        assert "model_not_single" in [each.code for each in said.model_problems]


def test_that_what_a_run_follows_of_several_inputs_is_the_first_one(
    runs: dict[str, RunLayout],
) -> None:
    history = read_validation_history(runs[named("inputs", ONE_DEVICE)])

    assert len(history.examples) == 16
    # Five whole numbers below 20: words.
    for each in history.examples:
        words = [float(number) for number in each.image.text.split(", ")]
        assert len(words) == 5
        assert all(word in range(20) for word in words)
    said = evaluation(runs[named("inputs", ONE_DEVICE)])["followed"]
    for each, row in zip(history.epochs[-1].predictions, said, strict=True):
        probable = {shown.name: shown.probability for shown in each.predicted}
        assert [probable[str(number)] for number in range(3)] == pytest.approx(row, abs=1e-5)


@pytest.mark.long
def test_that_the_loss_of_several_outputs_is_the_weighted_sum_of_theirs(
    runs: dict[str, RunLayout],
) -> None:
    one, own = (runs[named(name, ONE_DEVICE)] for name in ("tasks", "own tasks"))
    measured = last_metrics(one)

    weights = {"corner": 1.0, "mask": 0.5, "spread": 0.25, "tags": 1.0}
    for prefix, loss in (("", measured.loss), ("val_", measured.val_loss)):
        parts = [weight * measured.own[f"{prefix}{name}_loss"] for name, weight in weights.items()]
        assert sum(parts) == pytest.approx(loss, rel=1e-5)
    assert 0.0 < measured.own["val_mask_accuracy"] < 1.0
    # Written by a person, of probabilities; Keras clips these.
    pairs = zip(state(one), state(own), strict=True)
    assert max(apart(*pair) for pair in pairs) < 1e-4
    assert last_metrics(own).own["val_off"] == pytest.approx(
        measured.own["val_spread_error"], rel=1e-4
    )
