"""What the trainer reads and writes in a run's folder, where somebody put something else."""

import os
import time
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.checked_files import digest_of
from gpupanel.domain.data import ImagesData
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import UnsafeFileError
from gpupanel.trainer.datasets.arrays.files import check_file
from gpupanel.trainer.datasets.sources.images import read_images
from gpupanel.trainer.device_log import DeviceLog
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.failures import problems_of
from gpupanel.trainer.inference.predictions import write_predictions
from gpupanel.trainer.interruptions import Interruption, Interruptions
from gpupanel.trainer.leader import LeadersHeart
from gpupanel.trainer.models.model_file import check_model_file
from gpupanel.trainer.parts.predictions import Predictions
from gpupanel.trainer.saving.checkpoint_files import CheckpointDamaged, read_checkpoint
from gpupanel.trainer.saving.checkpoints import Checkpoints
from gpupanel.trainer.saving.position import Position
from gpupanel.trainer.started_run import read_started_run
from gpupanel.trainer.user_code import RunCode
from tests.fakes.hostile_files import IN_PLACE_OF_A_FILE, IN_PLACE_OF_A_FOLDER, Plant
from tests.fakes.run_directory import WrittenRun

pytestmark = pytest.mark.timeout(60)

STATE = {"w": np.ones(3, np.float32)}
NO_FILES = [IN_PLACE_OF_A_FILE[name] for name in ("fifo", "unix_socket", "endless", "folder")]

READERS = {"model.keras": lambda path: check_model_file(str(path)), "x.npz": check_file}


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    (home / ".step-000000001.partial").mkdir(parents=True)
    (home / "step-000000001").mkdir()
    (home / "checkpoint").write_text("kept")
    path = home / "model.py"
    path.write_text("def build_model(shape, classes): ...\n")
    return path


@pytest.fixture
def layout(runs_dir: Path) -> RunLayout:
    return WrittenRun(runs_dir, Profile(name="run")).layout


def assert_untouched(victim: Path) -> None:
    assert victim.read_text().startswith("def build_model")
    names = {".step-000000001.partial", "step-000000001", "checkpoint", "model.py"}
    assert {path.name for path in victim.parent.iterdir()} == names


@pytest.mark.parametrize("plant", IN_PLACE_OF_A_FOLDER.values())
def test_that_checkpoints_are_kept_in_a_folder_of_the_runs_own(
    layout: RunLayout, victim: Path, plant: Plant
) -> None:
    plant(layout.checkpoints, victim)
    checkpoints = Checkpoints(layout.checkpoints, kept=1)
    checkpoints.clean_up()
    assert checkpoints.saved() == []
    assert checkpoints.newest_whole().checkpoint is None
    with pytest.raises(UnsafeFileError) as caught:
        checkpoints.save(STATE, Position(step=1))
    assert problems_of(caught.value)[0].code == "run_folder_unsafe"
    assert_untouched(victim)


@pytest.mark.parametrize("name", ["state.npz", "position.json", "checksums.json"])
@pytest.mark.parametrize("plant", IN_PLACE_OF_A_FILE.values())
def test_that_a_checkpoint_with_something_else_in_it_is_damaged(
    layout: RunLayout, victim: Path, plant: Plant, name: str
) -> None:
    place = Checkpoints(layout.checkpoints).save(STATE, Position(step=1)).place
    (place / name).unlink()
    plant(place / name, victim)
    with pytest.raises(CheckpointDamaged, match="UnsafeFileError"):
        read_checkpoint(place)


def test_that_checksums_lead_to_no_other_file(layout: RunLayout) -> None:
    place = Checkpoints(layout.checkpoints).save(STATE, Position(step=1)).place
    (place / "checksums.json").write_text('{"/dev/zero": "0"}')
    with pytest.raises(CheckpointDamaged, match="not a file of a checkpoint"):
        read_checkpoint(place)


@pytest.mark.parametrize("plant", IN_PLACE_OF_A_FOLDER.values())
def test_that_requests_and_heartbeats_are_those_of_the_run(
    layout: RunLayout, victim: Path, plant: Plant
) -> None:
    layout.requests.rmdir()
    plant(layout.requests, victim)
    plant(layout.heartbeats, victim)
    with EventWriter(layout.events) as events:
        assert Interruptions(layout.requests, events).pending() is None
    assert LeadersHeart(layout.heartbeats / "0", 0.0).has_ceased(time.monotonic())
    assert_untouched(victim)


def test_that_a_request_is_heard_and_taken_back(layout: RunLayout) -> None:
    (layout.requests / Request.CHECKPOINT).touch()
    with EventWriter(layout.events) as events:
        interruptions = Interruptions(layout.requests, events)
        assert interruptions.pending() is Interruption.CHECKPOINT
        assert interruptions.pending() is None


@pytest.mark.parametrize("plant", IN_PLACE_OF_A_FILE.values())
def test_that_profile_plan_code_and_log_are_read_as_the_runs_own(
    layout: RunLayout, victim: Path, plant: Plant
) -> None:
    layout.code.mkdir()
    plant(layout.model_code, victim)
    with pytest.raises(ProblemError) as caught:
        RunCode("model.path", "model.py", layout.model_code, digest_of(b"")).function("build_model")
    assert caught.value.problems[0].code == "code_missing"
    layout.trainer_log.unlink()
    plant(layout.trainer_log, victim)
    assert DeviceLog(layout.trainer_log).created() == {}
    layout.plan.unlink()
    plant(layout.plan, victim)
    with pytest.raises(ProblemError) as caught:
        read_started_run(layout)
    assert caught.value.problems[0].code == "run_unreadable"


def test_that_predictions_take_the_place_of_a_link(layout: RunLayout, victim: Path) -> None:
    path = layout.predictions("csv")
    path.symlink_to(victim)
    (layout.root / ".partial-predictions.csv").symlink_to(victim)
    numbers = np.ones((1, 1), np.float32)
    write_predictions(Predictions(np.zeros(1, np.int32), None, (), numbers), path)
    assert path.read_text().startswith("index,value")
    assert_untouched(victim)


@pytest.mark.parametrize("plant", NO_FILES)
@pytest.mark.parametrize("read", READERS)
def test_that_no_model_and_no_data_is_waited_for(
    tmp_path: Path, victim: Path, plant: Plant, read: str
) -> None:
    path = tmp_path / read
    plant(path, victim)
    with pytest.raises(ProblemError) as caught:
        READERS[read](path)
    assert caught.value.problems[0].code in (
        "model_file_unreadable",
        "model_file_not_keras",
        "data_file_unreadable",
    )


def test_that_an_image_that_is_a_fifo_is_reported(tmp_path: Path) -> None:
    for name in ("cat", "dog"):
        (tmp_path / name).mkdir()
        os.mkfifo(tmp_path / name / "a.png")
    with pytest.raises(ProblemError) as caught:
        read_images(ImagesData(path=str(tmp_path)))
    assert caught.value.problems[0].code == "data_image_unreadable"
    assert "FIFO" in caught.value.problems[0].detail
