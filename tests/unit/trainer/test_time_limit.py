"""A training that may take only so long: as many epochs as fit, and the schedule follows."""

import shutil
from pathlib import Path

import pytest

from gpupanel.domain.data import DigitsData
from gpupanel.domain.events import (
    EpochDone,
    EpochsFitted,
    ModelSaved,
    ProblemReported,
    StepsDone,
    TrainingResumed,
)
from gpupanel.domain.model import MlpModel
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.schedule import ScheduleSettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.files.guarded_files import remove
from gpupanel.runs.directory.requests import write_suspend_after
from gpupanel.trainer.loop.training_time import TrainingTime
from gpupanel.trainer.saving.position import Position
from tests.unit.trainer.conftest import MakeRun, StartTrainer
from tests.unit.trainer.trained_runs import all_events, variables

pytestmark = pytest.mark.tensorflow

_MANY = 100_000


def limited(limit: str, **changes: object) -> Profile:
    training = TrainingSettings(
        epochs=_MANY,
        global_batch_size=128,
        schedule=ScheduleSettings(kind="cosine"),
        checkpoint_every_epochs=50,
        time_limit=limit,
        deterministic=True,
    )
    return Profile(
        data=DigitsData(validation_fraction=0.2),
        model=MlpModel(hidden=(16,), batch_norm=True),
        training=training.model_copy(update=changes),
    )


def problem_codes(layout: RunLayout) -> list[str]:
    events = all_events(layout)
    return [event.problem.code for event in events if isinstance(event, ProblemReported)]


def epochs_of(layout: RunLayout) -> list[int]:
    return [event.epoch for event in all_events(layout) if isinstance(event, EpochDone)]


@pytest.mark.long
def test_that_as_many_epochs_are_trained_as_fit_and_the_rate_falls_to_its_end(
    tmp_path: Path, make_run: MakeRun, start_trainer: StartTrainer
) -> None:
    layout = make_run(tmp_path / "run", limited("8s"), (128,))
    assert start_trainer(layout).ended().outcome is Outcome.COMPLETED
    events = all_events(layout)
    (fitted,) = [event for event in events if isinstance(event, EpochsFitted)]
    epochs = epochs_of(layout)
    assert 1 < fitted.epochs < _MANY
    assert epochs == [*range(1, len(epochs) + 1)]
    # It may have got slower meanwhile, and is cut then; never later.
    assert 0.5 * fitted.epochs < epochs[-1] <= fitted.epochs
    rates = [event.learning_rate for event in events if isinstance(event, StepsDone)]
    assert rates[0] == pytest.approx(1e-3, rel=0.01)
    if epochs[-1] == fitted.epochs:
        assert rates[-1] is not None
        assert rates[-1] < 1e-6
    assert problem_codes(layout) == ["epochs_fitted", "time_limit_reached"]
    assert any(isinstance(event, ModelSaved) for event in events)
    seconds = sum(event.seconds for event in events if isinstance(event, EpochDone))
    assert 4.0 < seconds < 9.0


@pytest.mark.long
def test_that_a_run_that_is_resumed_trains_the_epochs_that_were_decided_to_the_same_bits(
    tmp_path: Path, make_run: MakeRun, start_trainer: StartTrainer
) -> None:
    first = make_run(tmp_path / "first", limited("30s", epochs=400), (128,))
    write_suspend_after(first, 1)
    assert start_trainer(first).ended().outcome is Outcome.SUSPENDED
    # As if these had been the first ones: how many fit depends on the clock.
    while not any(isinstance(event, EpochsFitted) for event in all_events(first)):
        done = epochs_of(first)[-1]
        write_suspend_after(first, done + 20)
        assert start_trainer(first).ended().outcome is Outcome.SUSPENDED
    fitted = next(event for event in all_events(first) if isinstance(event, EpochsFitted))
    done = epochs_of(first)[-1]
    second = RunLayout(tmp_path / "second")
    shutil.copytree(first.root, second.root)
    remove(first.requests / Request.SUSPEND_AFTER_EPOCH)
    assert start_trainer(first).ended().outcome is Outcome.COMPLETED
    write_suspend_after(second, done + 3)
    assert start_trainer(second).ended().outcome is Outcome.SUSPENDED
    remove(second.requests / Request.SUSPEND_AFTER_EPOCH)
    assert start_trainer(second).ended().outcome is Outcome.COMPLETED
    assert epochs_of(first)[-1] == epochs_of(second)[-1] == fitted.epochs
    assert {event.epochs for event in all_events(second) if isinstance(event, EpochsFitted)} == {
        fitted.epochs
    }
    one, other = variables(first), variables(second)
    assert one.keys() == other.keys()
    assert [key for key in one if one[key].tobytes() != other[key].tobytes()] == []


@pytest.mark.long
def test_that_a_training_ends_within_an_epoch_that_does_not_fit_and_can_be_trained_on(
    tmp_path: Path, make_run: MakeRun, start_trainer: StartTrainer
) -> None:
    slow = limited("0.01s", global_batch_size=1, epochs=1)
    layout = make_run(tmp_path / "run", slow, (1,))
    assert start_trainer(layout).ended().outcome is Outcome.COMPLETED
    assert epochs_of(layout) == []
    assert problem_codes(layout) == ["time_limit_reached"]
    assert layout.model.exists()
    longer = make_run(tmp_path / "longer", limited("1h", global_batch_size=1, epochs=1), (1,))
    shutil.copytree(layout.checkpoints, longer.checkpoints, dirs_exist_ok=True)
    assert start_trainer(longer).ended().outcome is Outcome.COMPLETED
    (resumed,) = [event for event in all_events(longer) if isinstance(event, TrainingResumed)]
    assert resumed.step > 0
    assert epochs_of(longer) == [1]


def test_that_time_counts_on_from_the_checkpoint() -> None:
    now = iter([100.0, 103.0, 105.0])
    time = TrainingTime(
        TrainingSettings(time_limit="10s"), Position(trained_s=5.0), lambda: next(now)
    )
    assert time.own_s == 8.0
    assert not time.is_up(8.0)
    assert time.is_up(time.own_s)


def test_that_how_many_fit_is_decided_once_for_each_limit() -> None:
    time = TrainingTime(TrainingSettings(time_limit="100s", epochs=90), Position())
    first = time.fitted(Position(epoch=2, trained_s=2.0))
    assert (first.each_epoch_s, first.fitted_epochs) == (None, None)
    third = time.fitted(first.model_copy(update={"epoch": 3, "trained_s": 4.0}))
    assert (third.each_epoch_s, third.fitted_epochs) == (2.0, None)
    third = time.fitted(third.model_copy(update={"epoch": 4, "trained_s": 6.0}))
    assert third.fitted_epochs == 3 + 46
    later = time.fitted(third.model_copy(update={"epoch": 5, "trained_s": 90.0}))
    assert (later.fitted_epochs, later.each_epoch_s) == (3 + 46, 88.0 / 3)
    longer = TrainingTime(TrainingSettings(time_limit="1000s", epochs=90), later)
    assert longer.fitted(later).fitted_epochs == 4 + 30
    unlimited = TrainingTime(TrainingSettings(epochs=90), later)
    assert unlimited.fitted(later) == later
    assert not unlimited.is_up(1e9)


def test_that_the_first_epoch_of_no_process_is_measured() -> None:
    # Graphs are built in it: a run that is resumed early would fit far fewer.
    settings = TrainingSettings(time_limit="100s", epochs=1000)
    first = TrainingTime(settings, Position()).fitted(Position(epoch=2, trained_s=5.0))
    resumed = TrainingTime(settings, first)
    second = resumed.fitted(first.model_copy(update={"epoch": 3, "trained_s": 10.0}))
    assert (second.each_epoch_s, second.fitted_epochs) == (None, None)
    third = resumed.fitted(second.model_copy(update={"epoch": 4, "trained_s": 10.1}))
    assert third.fitted_epochs == pytest.approx(3 + 881, abs=1)
