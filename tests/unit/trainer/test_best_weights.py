"""The model is that of the best epoch, or of the last: measured, tested and saved alike."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpupanel.domain.best_epoch import BestMetric, Keep
from gpupanel.domain.data import NpzData
from gpupanel.domain.events import (
    EpochDone,
    ModelSaved,
    Phase,
    PhaseChanged,
    ProblemReported,
    TrainingResumed,
)
from gpupanel.domain.model import MlpModel
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.trainer.saving.checkpoint_files import STATE_FILE
from tests.grouped import Grouped, others_long
from tests.sessions.both import weights
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.test_multi_worker import on_workers, states, train_gang
from tests.unit.trainer.trained_runs import (
    all_events,
    evaluation,
    train_all,
    train_layouts,
    variables,
)

pytestmark = pytest.mark.tensorflow

EPOCHS = 9
KEPT_BEST = ("best", "mirrored")
FURTHER_BEST = ("averaged", "stopped early")
FURTHER = (*FURTHER_BEST, "by accuracy", "saved often")
"""For ``make test-slow``."""
MIRRORED = StrategySettings(kind=StrategyKind.MIRRORED)


def noisy(folder: Path) -> NpzData:
    """Little of it, and much noise: the training learns it by heart, and validates worse."""
    random = np.random.default_rng(0)
    features = random.normal(size=(140, 20)).astype(np.float32)
    labels = (features[:, 0] + random.normal(size=140) * 1.5 > 0).astype(int)
    path = folder / "noisy.npz"
    sets = {"x_train": features[:80], "y_train": labels[:80]}
    np.savez(path, **sets, x_test=features[80:], y_test=labels[80:])
    return NpzData(path=str(path), validation_fraction=0.4)


@pytest.fixture(scope="module")
def overfitting(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    return Profile(
        data=noisy(tmp_path_factory.mktemp("data")),
        model=MlpModel(hidden=(48,), batch_norm=True),
        training=TrainingSettings(
            epochs=EPOCHS,
            global_batch_size=8,
            optimizer=Optimizer.ADAM,
            learning_rate=1e-2,
            # The best epoch has no checkpoint of its own.
            checkpoint_every_epochs=EPOCHS - 2,
            tensorboard=False,
        ),
    )


def with_training(profile: Profile, **changes: Any) -> Profile:
    return profile.model_copy(update={"training": profile.training.model_copy(update=changes)})


def plans_of(overfitting: Profile) -> dict[str, tuple[Profile, list[int]]]:
    """Every run of this module."""
    last = with_training(overfitting, keep=Keep.LAST)
    mirrored = overfitting.model_copy(update={"strategy": MIRRORED})
    by_accuracy = with_training(overfitting, best_metric=BestMetric.ACCURACY, learning_rate=3e-3)
    by_accuracy = by_accuracy.model_copy(update={"model": MlpModel(hidden=(64, 64))})
    by_area = with_training(
        overfitting,
        best_metric=BestMetric.AUC,
        epochs=40,
        early_stopping_patience=3,
        # Whenever it can be, also while the best weights are tested.
        checkpoint_every_minutes=1e-6,
    )
    unvalidated = overfitting.data.model_copy(update={"validation_fraction": 0.0})
    not_validated = overfitting.model_copy(update={"data": unvalidated})
    return {
        "best": (overfitting, [8]),
        "last": (last, [8]),
        "last alone": (with_training(last, keep_best_checkpoint=False), [8]),
        "averaged": (with_training(overfitting, ema=0.9), [8]),
        "mirrored": (with_training(mirrored, ema=0.9), [5, 3]),
        "by accuracy": (by_accuracy, [8]),
        "by area": (by_area, [8]),
        "not validated": (with_training(not_validated, epochs=2), [8]),
        "stopped early": (with_training(overfitting, epochs=40, early_stopping_patience=3), [8]),
        "saved often": (with_training(overfitting, checkpoint_every_epochs=1), [8]),
    }


@pytest.fixture(scope="module")
def runs(
    tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun, overfitting: Profile
) -> dict[str, RunLayout]:
    plans = plans_of(overfitting)

    def train(names: Sequence[str]) -> dict[str, RunLayout]:
        root, chosen = tmp_path_factory.mktemp("runs"), {name: plans[name] for name in names}
        evaluated = [name for name in (*KEPT_BEST, "last") if name in names]
        return train_all(root, make_run, chosen, evaluated=evaluated, to_the_bit=True)

    few = ("best", "last")
    others = [name for name in plans if name not in (*few, *FURTHER)]
    return Grouped(train, few, others)


@pytest.fixture(scope="module")
def further_runs(
    tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun, overfitting: Profile
) -> dict[str, RunLayout]:
    further = {name: plan for name, plan in plans_of(overfitting).items() if name in FURTHER}
    root, evaluated = tmp_path_factory.mktemp("runs"), (*FURTHER_BEST, "by accuracy")
    return train_all(root, make_run, further, evaluated=evaluated, to_the_bit=True)


def epochs(layout: RunLayout) -> list[EpochDone]:
    return [event for event in all_events(layout) if isinstance(event, EpochDone)]


def least(layout: RunLayout) -> EpochDone:
    """The epoch with the least validation loss."""
    return min(epochs(layout), key=lambda done: done.metrics.val_loss or 0.0)


def saved(layout: RunLayout) -> ModelSaved:
    return [event for event in all_events(layout) if isinstance(event, ModelSaved)][-1]


def end(layout: RunLayout) -> Metrics:
    return all_events(layout)[-1].metrics  # type: ignore[union-attr]


@pytest.mark.parametrize("name", others_long(KEPT_BEST, "best"))
def test_that_the_model_is_that_of_the_best_epoch_for_keras_and_in_every_figure(
    runs: dict[str, RunLayout], name: str
) -> None:
    assert_kept_best(runs[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", FURTHER_BEST)
def test_that_the_model_of_further_runs_is_that_of_the_best_epoch(
    further_runs: dict[str, RunLayout], name: str
) -> None:
    assert_kept_best(further_runs[name])


def assert_kept_best(layout: RunLayout) -> None:
    best = least(layout)
    last = epochs(layout)[-1]
    assert best.epoch < last.epoch
    assert best.is_best
    measured = evaluation(layout)

    assert (saved(layout).epoch, saved(layout).is_best, saved(layout).is_last) == (
        best.epoch, True, False
    )  # fmt: skip
    # What plain Keras finds in model.keras.
    assert measured["validation"][0] == pytest.approx(best.metrics.val_loss, rel=1e-5)
    assert measured["validation"][1] == pytest.approx(best.metrics.val_accuracy)
    assert measured["test"][0] == pytest.approx(end(layout).test_loss, rel=1e-5)
    assert measured["test"][1] == pytest.approx(end(layout).test_accuracy)
    # What the run says that it reached.
    assert end(layout).of_part("val") == best.metrics.of_part("val")
    assert end(layout).loss == best.metrics.loss
    assert (saved(layout).other_path, saved(layout).other_epoch) == ("model-last.keras", last.epoch)


def test_that_the_last_weights_are_those_of_a_training_that_keeps_the_last(
    runs: dict[str, RunLayout],
) -> None:
    best, last = runs["best"], runs["last"]
    assert saved(last).is_last
    assert not saved(last).is_best
    assert same(weights(best.other_model(is_best=False)), weights(last.model))
    assert same(weights(last.other_model(is_best=True)), weights(best.model))
    assert not same(weights(best.model), weights(last.model))
    assert evaluation(last)["validation"][0] == pytest.approx(end(last).val_loss, rel=1e-5)
    assert end(last).val_loss == epochs(last)[-1].metrics.val_loss


@pytest.mark.long
def test_that_nothing_of_the_best_epoch_is_held_where_nobody_wants_it(
    runs: dict[str, RunLayout],
) -> None:
    layout = runs["last alone"]
    assert not saved(layout).other_path
    assert not list(layout.root.glob("model-*"))
    assert not list(layout.checkpoints.glob("best-*"))


@pytest.mark.slow
def test_that_the_accuracy_decides(further_runs: dict[str, RunLayout]) -> None:
    layout = further_runs["by accuracy"]
    greatest = max(done.metrics.val_accuracy or 0.0 for done in epochs(layout))
    first = next(done for done in epochs(layout) if done.metrics.val_accuracy == greatest)

    assert first.epoch != least(layout).epoch
    assert saved(layout).epoch == first.epoch
    assert evaluation(layout)["validation"][1] == pytest.approx(greatest)


@pytest.mark.long
def test_that_an_area_decides_and_early_stopping_watches_it(runs: dict[str, RunLayout]) -> None:
    layout = runs["by area"]
    areas = [done.metrics.val_auc or 0.0 for done in epochs(layout)]
    best = 1 + areas.index(max(areas))
    assert best != least(layout).epoch
    assert (saved(layout).epoch, len(areas)) == (best, best + 3)
    assert [done.epoch for done in epochs(layout) if done.is_best][-1] == best
    (said,) = (
        each.problem
        for each in all_events(layout)
        if isinstance(each, ProblemReported) and each.problem.code == "stopped_early"
    )
    assert f"The validation AUC has not risen since epoch {best}," in said.message


@pytest.mark.long
def test_that_a_training_without_validation_keeps_the_last(runs: dict[str, RunLayout]) -> None:
    layout = runs["not validated"]
    assert (saved(layout).epoch, saved(layout).is_best, saved(layout).is_last) == (2, False, True)
    assert not saved(layout).other_path


@pytest.mark.long
def test_that_a_checkpoint_goes_on_from_the_last_weights(runs: dict[str, RunLayout]) -> None:
    states = []
    for name in ("best", "last alone"):
        newest = sorted(runs[name].checkpoints.glob("step-*"))[-1]
        with np.load(newest / STATE_FILE) as arrays:
            states.append({each: arrays[each] for each in arrays})
    assert same(*states)


@pytest.mark.long
def test_that_a_checkpoint_saved_while_the_best_weights_are_tested_has_the_last(
    runs: dict[str, RunLayout],
) -> None:
    layout = runs["by area"]
    turned = [each.phase for each in all_events(layout) if isinstance(each, PhaseChanged)]
    assert Phase.SAVING in turned[turned.index(Phase.TESTING) :]
    last = weights(layout.other_model(is_best=False))
    # The two have other names for them.
    in_checkpoint = {array.tobytes() for array in variables(layout).values()}
    assert [name for name, array in last.items() if array.tobytes() not in in_checkpoint] == []


def test_that_the_best_weights_are_written_once_beside_the_checkpoints_that_need_them(
    runs: dict[str, RunLayout],
) -> None:
    best = least(runs["best"])
    held = [path.name for path in runs["best"].checkpoints.glob("best-*")]
    assert held == [f"best-{best.step:09d}"]


@pytest.mark.slow
def test_that_they_are_not_written_twice_where_their_epoch_has_a_checkpoint(
    further_runs: dict[str, RunLayout],
) -> None:
    often = further_runs["saved often"]
    assert not list(often.checkpoints.glob("best-*"))
    assert (often.checkpoints / f"step-{least(often).step:09d}").is_dir()


def same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    """Whether they have the same bits."""
    assert one.keys() == other.keys()
    return all(np.array_equal(array, other[name]) for name, array in one.items())


def as_if_killed(run: RunLayout, folder: Path) -> RunLayout:
    """A copy of a run that went no further than to its first checkpoint but for the last one."""
    shutil.copytree(run.root, folder)
    layout = RunLayout(folder)
    newest = sorted(layout.checkpoints.glob("step-*"))[-1]
    shutil.rmtree(newest)
    for model in layout.root.glob("model*.keras"):
        model.unlink()
    return layout


@pytest.fixture(scope="module")
def resumed(
    tmp_path_factory: pytest.TempPathFactory, runs: dict[str, RunLayout]
) -> dict[str, RunLayout]:
    """Killed after the best epoch, and trained to the end."""
    root = tmp_path_factory.mktemp("killed")

    def killed(name: str) -> RunLayout:
        layout = as_if_killed(runs["mirrored" if name == "mirrored" else "best"], root / name)
        if name == "lost":
            for held in layout.checkpoints.glob("best-*"):
                (held / STATE_FILE).write_bytes(b"damaged")
            # Nothing can be written there.
            (layout.root / ".partial-model-last.keras").mkdir()
        if name == "longer":  # it had come to its end
            shutil.copytree(runs["best"].checkpoints, layout.checkpoints, dirs_exist_ok=True)
            shutil.copy(runs["best"].other_model(is_best=False), layout.root)
        return layout

    def go_on(names: Sequence[str]) -> dict[str, RunLayout]:
        layouts = {name: killed(name) for name in names}
        train_layouts(list(layouts.values()))
        return layouts

    return Grouped(go_on, ("best",), ("mirrored", "lost", "longer"))


@pytest.mark.parametrize(
    ("name", "like"),
    [
        ("best", "best"),
        pytest.param("mirrored", "mirrored", marks=pytest.mark.long),
        pytest.param("longer", "best", marks=pytest.mark.long),
    ],
)
def test_that_a_killed_and_resumed_run_keeps_the_same_best_to_the_bit(
    runs: dict[str, RunLayout], resumed: dict[str, RunLayout], name: str, like: str
) -> None:
    assert_kept_the_same(runs[like], resumed[name])


@pytest.mark.slow
def test_that_further_runs_that_were_killed_keep_the_same_best(
    further_runs: dict[str, RunLayout], tmp_path: Path
) -> None:
    killed = {
        name: as_if_killed(further_runs[name], tmp_path / name)
        for name in ("averaged", "saved often")
    }
    train_layouts(list(killed.values()))
    for name, layout in killed.items():
        assert_kept_the_same(further_runs[name], layout)


def assert_kept_the_same(undisturbed: RunLayout, layout: RunLayout) -> None:
    said = [event for event in all_events(layout) if isinstance(event, TrainingResumed)][-1]
    best = least(undisturbed)

    assert said.step >= best.step
    assert said.best is not None
    assert said.best.epoch == best.epoch
    assert same(weights(layout.model), weights(undisturbed.model))
    last = [run.other_model(is_best=False) for run in (layout, undisturbed)]
    assert same(*map(weights, last))
    # Sums of losses are added up call by call, and how many steps a call has is a matter of time.
    reached, expected = (end(run).model_dump(exclude_none=True) for run in (layout, undisturbed))
    assert reached == pytest.approx(expected, rel=1e-6)


@pytest.mark.long
def test_that_best_weights_that_are_damaged_are_said_and_not_guessed(
    resumed: dict[str, RunLayout],
) -> None:
    layout = resumed["lost"]
    problems = [each.problem for each in all_events(layout) if isinstance(each, ProblemReported)]
    assert [each.code for each in problems].count("best_weights_lost") == 1
    again = epochs(layout)[EPOCHS:]
    # The model stands, though the other one beside it could not be written.
    assert [each.code for each in problems].count("other_model_not_saved") == 1
    assert layout.model.is_file()
    assert not saved(layout).other_path
    assert saved(layout).epoch == min(again, key=lambda done: done.metrics.val_loss or 0.0).epoch


@pytest.mark.slow
def test_that_every_worker_tests_with_the_best_weights(
    tmp_path: Path, overfitting: Profile, runs: dict[str, RunLayout]
) -> None:
    tmp_path.joinpath("gang").mkdir()
    gang = train_gang(tmp_path / "gang", {"best": on_workers(overfitting, [5, 3])})
    layout, alone = gang["best"], runs["best"]

    assert saved(layout).epoch == least(alone).epoch
    assert end(layout).test_loss == pytest.approx(end(alone).test_loss, rel=1e-4)
    held, expected = weights(layout.model), weights(alone.model)
    assert all(np.allclose(array, expected[name], atol=1e-4) for name, array in held.items())
    # They all go on from the last weights.
    assert same(*states(layout))
