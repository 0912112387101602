"""How fast the same training was before."""

from pathlib import Path

import pytest

from gpupanel.domain.data import DigitsData
from gpupanel.domain.model import CnnModel
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.time_spent import TimeSpent
from gpupanel.domain.training import TrainingSettings
from gpupanel.runs.history.past_speed import PastSpeed, PastSpeeds
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.runs.history.summaries import RunLister
from tests.fakes.run_directory import WrittenRun

CPU = frozenset({"cpu"})
WRITTEN = Profile(name="written")
RATE = 1234.0
"""Of a :class:`WrittenRun` that has ended."""


def ended(runs_dir: Path, profile: Profile = WRITTEN) -> tuple[RunSummary, ...]:
    with WrittenRun(runs_dir, profile) as run:
        run.begin()
        run.step(10)
        run.end()
    return RunLister(runs_dir).list()


def training(**changes: object) -> Profile:
    return WRITTEN.model_copy(update={"training": TrainingSettings(**changes)})


@pytest.mark.parametrize(
    "profile",
    [
        WRITTEN,
        Profile(name="another name"),
        training(epochs=100, learning_rate=0.5, seed=3),
        training(checkpoint_every_epochs=0, early_stopping_patience=2),
    ],
)
def test_that_what_changes_no_step_is_as_fast(tmp_path: Path, profile: Profile) -> None:
    runs = ended(tmp_path)
    assert PastSpeeds().find(profile, CPU, runs) == PastSpeed("written", RATE)


@pytest.mark.parametrize(
    "profile",
    [
        Profile(model=CnnModel()),
        Profile(data=DigitsData(validation_fraction=0.5)),
        Profile(devices=DeviceSettings(cpu_replicas=2)),
        Profile(strategy=StrategySettings(kind=StrategyKind.MIRRORED)),
        training(global_batch_size=128),
        training(mixed_precision=True),
    ],
)
def test_that_another_training_says_nothing(tmp_path: Path, profile: Profile) -> None:
    assert PastSpeeds().find(profile, CPU, ended(tmp_path)) is None


def test_that_only_the_same_devices_count(tmp_path: Path) -> None:
    assert PastSpeeds().find(WRITTEN, frozenset({"GPU-1"}), ended(tmp_path)) is None
    assert PastSpeeds().find(WRITTEN, CPU, ()) is None


def test_that_the_newest_run_counts_and_one_that_goes_on_or_is_broken_does_not(
    tmp_path: Path,
) -> None:
    first = ended(tmp_path)
    newest = first[0].model_copy(update={"label": "newest", "examples_per_second": 10.0})
    going = newest.model_copy(update={"is_running": True})
    unknown = newest.model_copy(update={"examples_per_second": None, "outcome": Outcome.FAILED})
    gone = newest.model_copy(update={"path": tmp_path / "gone"})
    speeds = PastSpeeds()
    assert speeds.find(WRITTEN, CPU, (going, unknown, gone, newest, *first)) == PastSpeed(
        "newest", 10.0
    )
    assert speeds.find(WRITTEN, CPU, (going, unknown, gone)) is None


def test_that_start_validation_and_saving_belong_to_the_time_of_a_run(tmp_path: Path) -> None:
    (run,) = ended(tmp_path)
    spent = TimeSpent(seconds=60.0, validating_s=15.0, saving_s=5.0)
    times = {"started_s": 100.0, "ended_s": 215.0, "active_s": 115.0, "restarts": 0}
    whole = run.model_copy(update={**times, "time_spent": spent, "examples_per_second": 100.0})
    speed = PastSpeeds().find(WRITTEN, CPU, (whole,))
    assert speed == PastSpeed("written", 100.0, training_fraction=40 / 60, around_s=55.0)
    # As many examples as it trained on: as long as it took.
    assert speed.seconds(4_000) == pytest.approx(115.0)
    assert speed.seconds(8_000) == pytest.approx(175.0)
    unknown: tuple[dict[str, object], ...] = (
        {"time_spent": None},
        {"restarts": 1},
        {"active_s": 80.0},  # it was suspended in between
        {"time_spent": TimeSpent(seconds=20.0, validating_s=20.0)},
        {"time_spent": TimeSpent()},
        {"ended_s": None, "active_s": None},
    )
    for changes in unknown:
        found = PastSpeeds().find(WRITTEN, CPU, (whole.model_copy(update=changes),))
        assert found == PastSpeed("written", 100.0), changes
        assert found.seconds(4_000) == pytest.approx(40.0)


def test_that_a_training_that_validates_less_often_takes_less_long(tmp_path: Path) -> None:
    (run,) = ended(tmp_path)
    spent = TimeSpent(seconds=60.0, validating_s=30.0)
    times = {"started_s": 100.0, "ended_s": 160.0, "active_s": 60.0, "restarts": 0}
    whole = run.model_copy(update={**times, "time_spent": spent, "examples_per_second": 100.0})
    epochs = WRITTEN.training.epochs
    seldom = WRITTEN.training.model_copy(update={"validate_every": epochs})
    wanted = WRITTEN.model_copy(update={"training": seldom})
    speed = PastSpeeds().find(wanted, CPU, (whole,))
    assert speed is not None
    # Half a minute of steps, and one validation of as many as there are epochs.
    assert speed.seconds(3_000) == pytest.approx(30.0 + 30.0 / epochs)


def test_that_no_more_profiles_are_read_than_a_person_waits_for(tmp_path: Path) -> None:
    (run,) = ended(tmp_path)
    others = tuple(run.model_copy(update={"path": tmp_path / f"{each}"}) for each in range(100))
    assert PastSpeeds().find(WRITTEN, CPU, (*others, run)) is None
