"""Validation after some epochs: what is learned stays, and what goes by it knows of the others."""

import shutil
from pathlib import Path

import pytest

from gpupanel.domain.best_epoch import Keep
from gpupanel.domain.events import EpochDone, ModelSaved, ProblemReported, TrainingResumed
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.schedule import ScheduleSettings
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.runs.following.validation_history import read_validation_history
from gpupanel.trainer.loop.early_stopping import after_epoch, reason_to_stop
from gpupanel.trainer.saving.position import Position
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.test_best_weights import noisy, same
from tests.unit.trainer.trained_runs import (
    ONE_DEVICE,
    all_events,
    changed,
    profile,
    train_all,
    train_layouts,
    variables,
)

SEVERAL = StrategySettings(kind=StrategyKind.MIRRORED)
SEVEN = {"epochs": 7, "learning_rate": 0.02, "checkpoint_every_epochs": 1, "checkpoints_kept": 9}


def course(
    losses: dict[int, float], epochs: int, training: TrainingSettings
) -> tuple[list[int], list[float]]:
    """After which of these epochs a training would end, and the rate's factor after each.

    Args:
        losses: The validation loss after the epochs that are validated, from 1.
        epochs: That are trained.
        training: Stops early, or lowers its rate.
    """
    position, stops, factors = Position(), [], []
    for epoch in range(1, epochs + 1):
        # What is learned gets better all the time, and decides nothing.
        metrics = Metrics(loss=1.0 / epoch, val_loss=losses.get(epoch))
        position = after_epoch(position, metrics, training.schedule, validates=True)
        # A process that goes on from here counts on.
        position = Position.model_validate_json(position.model_dump_json())
        if reason_to_stop(position, training, validates=True) is not None:
            stops.append(epoch)
        factors.append(position.rate_factor)
    return stops, factors


@pytest.mark.parametrize(("patience", "stops"), [(2, [6, 9]), (4, [9]), (6, [9]), (7, [])])
def test_that_patience_counts_epochs_and_is_looked_at_after_a_validation(
    patience: int, stops: list[int]
) -> None:
    training = TrainingSettings(epochs=20, validate_every=3, early_stopping_patience=patience)
    assert course({3: 0.5, 6: 0.6, 9: 0.55}, 11, training)[0] == stops


def test_that_epochs_before_the_first_validation_end_no_training() -> None:
    training = TrainingSettings(epochs=20, validate_every=5, early_stopping_patience=1)
    assert course({5: 0.5, 10: 0.4}, 14, training)[0] == []


def test_that_the_epoch_that_was_best_is_named_where_a_training_ends_early() -> None:
    training = TrainingSettings(epochs=20, validate_every=3, early_stopping_patience=3)
    position = Position()
    for epoch in range(1, 7):
        metrics = Metrics(loss=1.0, val_loss={3: 0.5, 6: 0.6}.get(epoch))
        position = after_epoch(position, metrics, validates=True)
    problem = reason_to_stop(position, training, validates=True)
    assert problem is not None
    assert "The validation loss has not fallen since epoch 3" in problem.message
    assert position.best is not None
    assert position.best.epoch == 3


def test_that_a_rate_falls_after_a_validation_only() -> None:
    schedule = ScheduleSettings(kind="reduce_on_plateau", factor=0.5, patience_epochs=2)
    training = TrainingSettings(epochs=20, validate_every=3, schedule=schedule)
    factors = course({3: 0.5, 6: 0.6, 9: 0.6, 12: 0.4}, 13, training)[1]
    assert factors == [1.0] * 5 + [0.5] * 3 + [0.25] * 5


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> dict[str, RunLayout]:
    data = noisy(tmp_path_factory.mktemp("data"))
    some = changed(**SEVEN, validate_every=3)
    best = some.model_copy(update={"keep": Keep.BEST})
    stopped = {"epochs": 30, "validate_every": 4, "early_stopping_patience": 5}
    stopping = changed(learning_rate=0.3, keep=Keep.BEST, **stopped)
    nothing = data.model_copy(update={"validation_fraction": 0.0})

    def of(training: TrainingSettings, strategy: StrategySettings = ONE_DEVICE) -> Profile:
        return profile(training, strategy, data=data)

    plans = {
        "each": (of(changed(**SEVEN)), [64]),
        "some": (of(some), [64]),
        "best": (of(best), [64]),
        "last": (of(changed(**SEVEN, validate_every=99)), [64]),
        "stopped": (of(stopping), [64]),
        "two": (of(best, SEVERAL), [40, 24]),
        "nothing": (profile(some, data=nothing), [64]),
    }
    return train_all(tmp_path_factory.mktemp("runs"), make_run, plans, to_the_bit=True)


def losses(layout: RunLayout) -> dict[int, float]:
    """The validation losses of a run by the epochs that have one; the last word of each counts."""
    found = {each.epoch: each for each in all_events(layout) if isinstance(each, EpochDone)}
    known = {epoch: each.metrics.val_loss for epoch, each in found.items()}
    return {epoch: loss for epoch, loss in known.items() if loss is not None}


def resumed_at(layout: RunLayout) -> list[int]:
    """The steps of the checkpoints that it went on from."""
    return [each.step for each in all_events(layout) if isinstance(each, TrainingResumed)]


@pytest.mark.long
@pytest.mark.tensorflow
def test_that_what_is_learned_and_measured_is_the_same_to_the_bit(
    runs: dict[str, RunLayout],
) -> None:
    each, some, last = (losses(runs[name]) for name in ("each", "some", "last"))
    assert list(each) == [1, 2, 3, 4, 5, 6, 7]
    assert some == {epoch: each[epoch] for epoch in (3, 6, 7)}
    assert last == {7: each[7]}
    assert losses(runs["nothing"]) == {}
    for name in ("some", "last"):
        assert same(variables(runs["each"]), variables(runs[name]))


@pytest.mark.long
@pytest.mark.tensorflow
@pytest.mark.parametrize("name", ["best", "two"])
def test_that_the_model_is_of_the_best_epoch_that_was_validated(
    runs: dict[str, RunLayout], name: str
) -> None:
    validated = losses(runs[name])
    assert list(validated) == [3, 6, 7]
    saved = [event for event in all_events(runs[name]) if isinstance(event, ModelSaved)][-1]
    assert saved.epoch == min(validated, key=validated.__getitem__)
    marked = [each.epoch for each in all_events(runs[name]) if isinstance(each, EpochDone)]
    assert marked == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.long
@pytest.mark.tensorflow
def test_that_a_training_ends_early_after_an_epoch_that_was_validated(
    runs: dict[str, RunLayout],
) -> None:
    events = all_events(runs["stopped"])
    done = [event for event in events if isinstance(event, EpochDone)]
    validated = losses(runs["stopped"])
    best = min(validated, key=validated.__getitem__)
    assert done[-1].epoch < 30
    # The first multiple of four that is five epochs or more after the best one.
    assert done[-1].epoch == best + 8
    (problem,) = (event.problem for event in events if isinstance(event, ProblemReported))
    assert f"since epoch {best}," in problem.message


@pytest.mark.long
@pytest.mark.tensorflow
def test_that_examples_are_followed_through_the_epochs_that_were_validated(
    runs: dict[str, RunLayout],
) -> None:
    history = read_validation_history(runs["some"])
    assert [each.epoch for each in history.epochs] == [3, 6, 7]


@pytest.mark.long
@pytest.mark.tensorflow
def test_that_a_run_that_was_killed_between_validations_goes_on_to_the_same_bits(
    runs: dict[str, RunLayout], tmp_path: Path
) -> None:
    killed = [RunLayout(tmp_path / str(after)) for after in (2, 3, 4)]
    for after, layout in enumerate(killed, start=2):
        shutil.copytree(runs["best"].root, layout.root)
        for place in sorted(layout.checkpoints.glob("step-*"))[after:]:
            shutil.rmtree(place)

    train_layouts(killed)

    for after, layout in enumerate(killed, start=2):
        assert resumed_at(layout) == [after]
        assert losses(layout) == losses(runs["best"])
        assert same(variables(layout), variables(runs["best"]))


@pytest.mark.long
@pytest.mark.tensorflow
def test_that_a_run_that_was_killed_within_an_epoch_goes_on_to_the_same_bits(
    tmp_path: Path, make_run: MakeRun
) -> None:
    stepwise = {**SEVEN, "global_batch_size": 16, "checkpoints_kept": 99}
    training = changed(**stepwise, validate_every=3, keep=Keep.BEST)
    plans = {"whole": (profile(training, data=noisy(tmp_path)), [16])}
    whole = train_all(tmp_path, make_run, plans, each_step_saved=True)["whole"]
    within = {"in one that is validated": 7, "in one that is not": 10}
    killed = [RunLayout(tmp_path / name) for name in within]
    for layout, steps in zip(killed, within.values(), strict=True):
        shutil.copytree(whole.root, layout.root)
        for place in layout.checkpoints.glob("step-*"):
            if int(place.name.split("-")[1]) > steps:
                shutil.rmtree(place)

    train_layouts(killed, "--as-written", "--each-step-saved")

    for layout, steps in zip(killed, within.values(), strict=True):
        assert resumed_at(layout) == [steps]
        assert losses(layout) == losses(whole)
        assert same(variables(layout), variables(whole))
