"""The real training process: its events in order, and how it ends, whatever happens."""

import itertools
import os
import re
import signal
import subprocess
import sys
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gpupanel.domain import events
from gpupanel.domain.data import DataCache, DigitsData, ImagesData, KerasData
from gpupanel.domain.events import Phase
from gpupanel.domain.model import CnnModel, MlpModel
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.process_environment import NO_SPACE_STATUS
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.training import TrainingSettings
from gpupanel.trainer.saving.checkpoints import Checkpoints
from gpupanel.trainer.saving.position import Position
from tests.fakes.small_disks import (  # noqa: F401 - fixtures
    disk_for_a_run,
    fill,
    kept_on_a_full_disk,
    small_disk,
)
from tests.unit.trainer.conftest import MakeRun, StartTrainer, Trainer

pytestmark = pytest.mark.tensorflow

DIGITS = Profile(
    data=DigitsData(validation_fraction=0.2),
    model=MlpModel(hidden=(128,)),
    training=TrainingSettings(epochs=25, checkpoint_every_epochs=1),
)
ENDLESS = DIGITS.model_copy(update={"training": TrainingSettings(epochs=1_000_000)})
WIDEST = 2**31 - 1
"""Units of a layer: what a profile may ask for at most."""


def test_that_digits_are_learned_and_every_event_is_in_order(
    tmp_path: Path, make_run: MakeRun, start_new_trainer: StartTrainer
) -> None:
    trainer = start_new_trainer(make_run(tmp_path / "run", DIGITS, [32, 32]))

    end = trainer.ended()

    assert trainer.process.returncode == 0
    assert end.outcome is Outcome.COMPLETED
    assert end.metrics.val_accuracy is not None
    assert end.metrics.val_accuracy >= 0.95
    assert end.examples_per_second is not None
    assert end.examples_per_second > 1_000
    written = trainer.events()
    assert_phases_in_order(written)
    assert_steps_add_up(written)
    assert_files_are_there(trainer.layout, written)
    assert "Traceback" not in trainer.log()


def assert_phases_in_order(written: list[events.Event]) -> None:
    phases = [event.phase for event in written if isinstance(event, events.PhaseChanged)]
    assert phases[:6] == [
        Phase.IMPORTING_TENSORFLOW,
        Phase.CONFIGURING_DEVICES,
        Phase.LOADING_DATA,
        Phase.BUILDING_MODEL,
        Phase.TRACING,
        Phase.TRAINING,
    ]
    assert phases[6:] == [
        *[Phase.VALIDATING, Phase.SAVING, Phase.TRAINING] * 24,
        *[Phase.VALIDATING, Phase.SAVING],
    ]
    devices = next(event for event in written if isinstance(event, events.DevicesReady))
    assert [device.name for device in devices.logical_devices] == ["/device:CPU:0", "/device:CPU:1"]
    data = next(event for event in written if isinstance(event, events.DataReady))
    assert (data.training_examples, data.validation_examples) == (1438, 359)
    assert (data.feature_shape, data.steps_per_epoch) == ((8, 8), 23)
    model = next(event for event in written if isinstance(event, events.ModelReady))
    assert model.parameters == model.trainable_parameters == 64 * 128 + 128 + 128 * 10 + 10


def assert_steps_add_up(written: list[events.Event]) -> None:
    steps = [event for event in written if isinstance(event, events.StepsDone)]
    assert steps[0].step == 1
    assert sum(event.steps for event in steps) == steps[-1].step == 25 * 23
    assert sum(event.examples for event in steps) == 25 * 1438
    times = [event.time_s for event in steps]
    assert all(later - earlier > 0.04 for earlier, later in itertools.pairwise(times[:-1]))
    epochs = [event for event in written if isinstance(event, events.EpochDone)]
    assert [event.epoch for event in epochs] == list(range(1, 26))
    assert [event.step for event in epochs] == [23 * epoch for epoch in range(1, 26)]
    checkpoints = [event for event in written if isinstance(event, events.CheckpointSaved)]
    assert [event.epoch for event in checkpoints] == list(range(1, 26))


def assert_files_are_there(layout: RunLayout, written: list[events.Event]) -> None:
    saved = [event.path for event in written if isinstance(event, events.CheckpointSaved)]
    kept = [f"checkpoints/{path.name}" for path in Checkpoints(layout.checkpoints).saved()]
    assert kept == saved[-3:]
    assert layout.model.is_file()
    for part in ("train", "validation"):
        (board,) = (layout.tensorboard / part).iterdir()
        assert b"epoch_accuracy" in board.read_bytes()
    assert not list(layout.root.glob(".partial*"))


@pytest.mark.parametrize("how", ["request", "signal"])
def test_that_a_stop_saves_and_ends(
    tmp_path: Path, make_run: MakeRun, start_trainer: StartTrainer, how: str
) -> None:
    trainer = start_trainer(make_run(tmp_path / "run", ENDLESS, [64]))
    trainer.wait_for(events.EpochDone)
    if how == "request":
        (trainer.layout.requests / Request.CHECKPOINT).touch()
        trainer.wait_for(events.RequestAnswered)
        (trainer.layout.requests / Request.STOP).touch()
    else:
        trainer.process.send_signal(signal.SIGTERM)

    end = trainer.ended()

    assert (trainer.process.returncode, end.outcome, end.problem) == (0, Outcome.STOPPED, None)
    assert end.metrics.loss is not None
    answered = [event.request for event in trainer.events() if event.kind == "request_answered"]
    wanted = [Request.CHECKPOINT, Request.STOP] if how == "request" else [Request.STOP]
    assert answered == wanted
    assert_saved_last(trainer)


@pytest.mark.parametrize("stop_follows", [False, True])
def test_that_a_suspend_saves_a_checkpoint_and_no_model_unless_a_stop_follows(
    tmp_path: Path, make_run: MakeRun, start_trainer: StartTrainer, stop_follows: bool
) -> None:
    trainer = start_trainer(make_run(tmp_path / "run", ENDLESS, [64]))
    trainer.wait_for(events.EpochDone)
    (trainer.layout.requests / Request.SUSPEND).touch()
    if stop_follows:
        (trainer.layout.requests / Request.STOP).touch()

    end = trainer.ended()

    assert (trainer.process.returncode, end.problem) == (0, None)
    assert end.outcome is (Outcome.STOPPED if stop_follows else Outcome.SUSPENDED)
    assert trainer.layout.model.exists() is stop_follows
    written = trainer.events()
    last_step = [event for event in written if isinstance(event, events.StepsDone)][-1].step
    saved = [event for event in written if isinstance(event, events.CheckpointSaved)][-1]
    assert (saved.step, saved.reason) == (last_step, "end")
    if not stop_follows:
        answered = [event.request for event in written if isinstance(event, events.RequestAnswered)]
        assert answered == [Request.SUSPEND]


@pytest.mark.parametrize("saved_before", [False, True])
def test_that_a_suspend_during_start_up_is_one_only_where_there_is_something_to_go_on_from(
    tmp_path: Path, make_run: MakeRun, start_new_trainer: StartTrainer, saved_before: bool
) -> None:
    layout = make_run(tmp_path / "run", DIGITS, [64])
    for request in (Request.SUSPEND, Request.CHECKPOINT):
        (layout.requests / request).touch()
    if saved_before:
        layout.checkpoints.mkdir()
        Checkpoints(layout.checkpoints).save({}, Position(step=23))
    trainer = start_new_trainer(layout)

    wanted = Outcome.SUSPENDED if saved_before else Outcome.STOPPED
    assert (trainer.ended().outcome, trainer.process.returncode) == (wanted, 0)
    answered = [one.request for one in trainer.events() if isinstance(one, events.RequestAnswered)]
    # Nothing is answered that was not done.
    assert answered == [Request.SUSPEND]


def assert_saved_last(trainer: Trainer) -> None:
    """The last checkpoint is of the last step, and the model is there."""
    written = trainer.events()
    last_step = [event for event in written if isinstance(event, events.StepsDone)][-1].step
    saved = [event for event in written if isinstance(event, events.CheckpointSaved)][-1]
    assert saved.step == last_step
    assert (trainer.layout.root / saved.path).is_dir()
    assert isinstance(written[-2], events.ModelSaved)
    assert trainer.layout.model.is_file()


def test_that_a_trainer_whose_supervisor_is_gone_saves_and_ends(
    tmp_path: Path, make_run: MakeRun
) -> None:
    layout = make_run(tmp_path / "run", ENDLESS, [64])
    supervisor = (
        "import os, subprocess, sys, time\n"
        "os.environ.update(GPUPANEL_SUPERVISOR_PID=str(os.getpid()), CUDA_VISIBLE_DEVICES='-1')\n"
        "log = open(sys.argv[2], 'wb')\n"
        "command = [sys.executable, '-m', 'gpupanel.trainer', sys.argv[1]]\n"
        "subprocess.Popen(command, stdout=log, stderr=log)\n"
        "time.sleep(600)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", supervisor, str(layout.root), str(layout.trainer_log)]
    )
    trainer = Trainer(layout, process)
    trainer.wait_for(events.EpochDone)

    process.kill()
    process.wait()

    end = trainer.wait_for(events.TrainingEnded)
    assert isinstance(end, events.TrainingEnded)
    assert end.outcome is Outcome.STOPPED
    assert end.problem is not None
    assert end.problem.code == "supervisor_gone"
    assert_saved_last(trainer)


def test_that_a_stop_during_start_up_ends_it_with_nothing_to_save(
    tmp_path: Path, make_run: MakeRun, start_new_trainer: StartTrainer
) -> None:
    layout = make_run(tmp_path / "run", DIGITS, [64])
    (layout.requests / Request.STOP).touch()
    trainer = start_new_trainer(layout)

    assert trainer.ended().outcome is Outcome.STOPPED
    assert trainer.process.returncode == 0
    assert not layout.model.exists()


def failed(trainer: Trainer, code: str) -> events.TrainingEnded:
    end = trainer.ended()
    assert trainer.process.returncode == 1
    assert end.outcome is Outcome.FAILED
    assert end.problem is not None
    assert end.problem.code == code, end.problem
    assert end.problem.message in trainer.log()
    return end


def test_that_a_loss_that_is_not_finite_ends_the_training_and_names_the_step(
    tmp_path: Path, make_run: MakeRun, start_trainer: StartTrainer
) -> None:
    cache = tmp_path / "datasets"
    cache.mkdir()
    random = np.random.default_rng(0)
    np.savez(cache / "boston_housing.npz", x=random.random((500, 3)), y=random.random(500))
    # The error of a linear model grows by half in each step at this rate, until it overflows.
    wild = Profile(
        data=KerasData(source="boston_housing"),
        model=MlpModel(hidden=()),
        training=TrainingSettings(
            epochs=200, optimizer=Optimizer.SGD, learning_rate=1.2, checkpoint_every_epochs=1
        ),
    )
    layout = make_run(tmp_path / "run", wild, [64])
    trainer = start_trainer(layout, KERAS_HOME=str(tmp_path))

    end = failed(trainer, "loss_not_finite")

    assert end.problem is not None
    last = [event for event in trainer.events() if isinstance(event, events.EpochDone)][-1]
    (step,) = re.findall(r"at step (\d+)", end.problem.message)
    assert last.step < int(step) <= last.step + 7
    checkpoints = Checkpoints(layout.checkpoints).saved()
    assert len(checkpoints) == 4  # the newest three and the best
    for checkpoint in checkpoints:
        with np.load(checkpoint / "state.npz") as state:
            assert all(np.isfinite(state[name]).all() for name in state)
    assert not layout.model.exists()


def test_that_a_loss_that_is_no_number_within_the_first_epoch_is_called_so(
    tmp_path: Path, make_run: MakeRun, start_trainer: StartTrainer
) -> None:
    settings = TrainingSettings(epochs=5, optimizer=Optimizer.SGD, learning_rate=1e30)
    wild = DIGITS.model_copy(update={"training": settings})
    end = failed(start_trainer(make_run(tmp_path / "run", wild, [64])), "loss_not_finite")

    assert end.problem is not None
    assert "NaN or infinity in the loss at step" in end.problem.message


def test_that_a_full_disk_is_reported_and_the_checkpoint_kept(
    disk_for_a_run: Path,  # noqa: F811
    make_run: MakeRun,
    start_trainer: StartTrainer,
) -> None:
    short = DIGITS.model_copy(
        update={"training": TrainingSettings(epochs=1), "model": MlpModel(hidden=(4096,))}
    )
    layout = make_run(disk_for_a_run / "run", short, [64])
    # Room for the checkpoint, of three numbers a parameter, and for half of the model, of one.
    parameters = 64 * 4096 + 4096 + 4096 * 10 + 10
    filler = fill(disk_for_a_run)
    os.truncate(filler, filler.stat().st_size - int(3.5 * 4 * parameters))
    trainer = start_trainer(layout)

    end = failed(trainer, "no_space")

    assert end.metrics.val_accuracy is not None
    assert len(Checkpoints(layout.checkpoints).saved()) == 1
    assert not layout.model.exists()


def test_that_a_model_is_saved_into_the_run_whatever_links_stand_in_its_place(
    tmp_path: Path, make_run: MakeRun, start_trainer: StartTrainer
) -> None:
    short = DIGITS.model_copy(update={"training": TrainingSettings(epochs=1)})
    layout = make_run(tmp_path / "run", short, [64])
    victim = tmp_path / "bashrc"
    victim.write_text("alias ls=ls\n")
    for path in (layout.root / ".partial-model.keras", layout.model):
        path.symlink_to(victim)
    trainer = start_trainer(layout)

    assert trainer.ended().outcome is Outcome.COMPLETED

    assert victim.read_text() == "alias ls=ls\n"
    assert zipfile.is_zipfile(layout.model)
    assert not layout.model.is_symlink()


def told_problems(trainer: Trainer, code: str) -> list[Problem]:
    reported = [one for one in trainer.events() if isinstance(one, events.ProblemReported)]
    return [one.problem for one in reported if one.problem.code == code]


def test_that_training_goes_on_without_a_checkpoint_that_cannot_be_written_but_not_the_last(
    tmp_path: Path, make_run: MakeRun, start_trainer: StartTrainer
) -> None:
    training = ENDLESS.training.model_copy(update={"checkpoint_every_epochs": 5})
    profile = ENDLESS.model_copy(update={"training": training})
    trainer = start_trainer(make_run(tmp_path / "run", profile, [64]))
    trainer.layout.checkpoints.write_text("a file where the folder should be")
    trainer.wait_for(events.EpochDone, 20)

    (warning,) = told_problems(trainer, "checkpoint_not_saved")  # once, of at least three
    assert (warning.severity, "step 115 " in warning.message) == (Severity.WARNING, True)
    (trainer.layout.requests / Request.CHECKPOINT).touch()
    trainer.wait_for(events.ProblemReported, 2)  # who asks for one is answered
    trainer.layout.checkpoints.unlink()
    trainer.wait_for(events.CheckpointSaved)
    put_a_file_in_the_place_of(trainer.layout.checkpoints)
    trainer.wait_for(events.ProblemReported, 3)
    (trainer.layout.requests / Request.STOP).touch()

    end = failed(trainer, "last_checkpoint_not_saved")
    assert end.problem is not None
    assert "something else stands where a folder of the run is to be" in end.problem.message
    # What was learned is there all the same.
    assert trainer.layout.model.is_file()


def put_a_file_in_the_place_of(folder: Path) -> None:
    """While somebody writes into it, and makes it when it is not there."""
    for number in itertools.count():
        folder.rename(folder.with_name(f"aside-{number}"))
        with suppress(FileExistsError):
            folder.touch(exist_ok=False)
            return


@pytest.mark.slow
def test_that_too_little_memory_is_reported_with_the_device(
    tmp_path: Path, make_run: MakeRun, start_trainer: StartTrainer
) -> None:
    # Its weights want half a terabyte at once.
    vast = DIGITS.model_copy(update={"model": MlpModel(hidden=(WIDEST,))})
    trainer = start_trainer(make_run(tmp_path / "run", vast, [64]))

    end = failed(trainer, "out_of_memory")

    assert end.problem is not None
    assert "the CPU (/device:CPU:0)" in end.problem.message


def test_that_a_run_leaves_no_decoded_images_in_its_directory(
    tmp_path: Path, make_run: MakeRun, start_trainer: StartTrainer
) -> None:
    for brightness, name in enumerate(("dark", "light"), start=1):
        (tmp_path / "images" / name).mkdir(parents=True)
        for number in range(8):
            image = Image.new("L", (8, 8), 100 * brightness + number)
            image.save(tmp_path / "images" / name / f"{number}.png")
    images = ImagesData(path=str(tmp_path / "images"), image_size=(8, 8), cache=DataCache.DISK)
    profile = DIGITS.model_copy(
        update={
            "data": images,
            "model": CnnModel(filters=(2,)),
            "training": TrainingSettings(epochs=1, global_batch_size=5),
        }
    )
    trainer = start_trainer(make_run(tmp_path / "run", profile, [3, 2]))

    assert trainer.ended().outcome is Outcome.COMPLETED
    assert {path.name for path in trainer.layout.root.iterdir()} == {
        *["profile.toml", "plan.json", "events.jsonl", "trainer.log", "model.keras"],
        *["requests", "checkpoints", "tensorboard", "data.json"],
    }


def test_that_no_space_for_events_ends_the_process_with_a_word_in_the_log(
    tmp_path: Path,
    small_disk: Path,  # noqa: F811
    make_run: MakeRun,
    start_trainer: StartTrainer,
) -> None:
    layout = make_run(tmp_path / "run", DIGITS, [64])
    with kept_on_a_full_disk(layout.events, small_disk):
        trainer = start_trainer(layout)

        assert trainer.process.wait(60) == NO_SPACE_STATUS
    assert "No space left" in trainer.log()


def test_that_events_that_are_a_link_are_not_written(
    tmp_path: Path, make_run: MakeRun, start_trainer: StartTrainer
) -> None:
    layout = make_run(tmp_path / "run", DIGITS, [64])
    layout.events.symlink_to(tmp_path / "made")
    trainer = start_trainer(layout)

    assert trainer.process.wait(60) == 1
    assert f"{layout.events} is a symbolic link" in trainer.log()
    assert "Traceback" not in trainer.log()
    assert not (tmp_path / "made").exists()


def test_that_the_status_reports_no_space_where_the_log_has_none_either(
    tmp_path: Path,
    small_disk: Path,  # noqa: F811
    make_run: MakeRun,
) -> None:
    layout = make_run(tmp_path / "run", DIGITS, [64])
    layout.plan.unlink()
    # What is printed without a word to flush it waits for the end.
    (tmp_path / "sitecustomize.py").write_text("print('something')")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(tmp_path), str(Path.cwd())]),
        "PYTHONUNBUFFERED": "",
    }
    with kept_on_a_full_disk(layout.events, small_disk), Path("/dev/full").open("wb") as log:
        command = [sys.executable, "-m", "gpupanel.trainer", str(layout.root)]
        ended = subprocess.run(
            command, stdout=log, stderr=log, env=environment, timeout=60, check=False
        )

    assert ended.returncode == NO_SPACE_STATUS


def test_that_a_tensorflow_that_cannot_be_imported_is_reported(
    tmp_path: Path, make_run: MakeRun, start_new_trainer: StartTrainer
) -> None:
    broken = tmp_path / "site" / "tensorflow"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text(
        "raise ImportError('libcudart.so.99: cannot open shared object file')", encoding="utf-8"
    )
    path = os.pathsep.join([str(broken.parent), str(Path.cwd())])
    layout = make_run(tmp_path / "run", DIGITS, [64])
    trainer = start_new_trainer(layout, PYTHONPATH=path)

    end = failed(trainer, "tensorflow_not_importable")

    assert end.problem is not None
    assert "libcudart.so.99" in end.problem.message
    assert "Traceback" in end.problem.detail
    assert end.metrics == Metrics()


def test_that_a_bad_profile_or_plan_is_reported(
    tmp_path: Path, make_run: MakeRun, start_trainer: StartTrainer
) -> None:
    layout = make_run(tmp_path / "run", DIGITS, [64])
    layout.plan.write_text('{"environment": {}}', encoding="utf-8")

    failed(start_trainer(layout), "run_unreadable")


def test_that_a_download_without_a_network_is_reported(
    tmp_path: Path, make_run: MakeRun, start_trainer: StartTrainer
) -> None:
    mnist = DIGITS.model_copy(update={"data": KerasData(source="mnist")})
    layout = make_run(tmp_path / "run", mnist, [64])
    # A proxy that nobody listens at: no request leaves this machine.
    trainer = start_trainer(
        layout, KERAS_HOME=str(tmp_path / "keras"), https_proxy="http://127.0.0.1:9"
    )

    failed(trainer, "data_download_failed")
