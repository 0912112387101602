"""What the terminal says of a run that it follows."""

import os
import shutil
import signal
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import typer

from gpupanel.cli import run_watcher
from gpupanel.cli.run_end import follow
from gpupanel.cli.run_watcher import watch_to_its_end
from gpupanel.domain.event_details import LogicalDeviceAnswer, ReturnedMemory
from gpupanel.domain.events import (
    DevicesReady,
    EpochDone,
    FineTuningBegan,
    MemoryReturned,
    ProblemReported,
    RequestAnswered,
    RunEnded,
    RunRestarted,
    StepsDone,
    TrainingResumed,
)
from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.problem import Change, Problem, Severity
from gpupanel.domain.request import Request
from gpupanel.runs.directory.requests import is_asked
from tests.fakes.run_directory import WrittenRun

EPOCHS = 5_000


def epoch(number: int) -> EpochDone:
    metrics = Metrics(loss=1.0 / number, accuracy=0.5)
    return EpochDone(time_s=float(number), epoch=number, step=number, metrics=metrics, seconds=1.0)


def warning(code: str, message: str) -> ProblemReported:
    problem = Problem(code=code, severity=Severity.WARNING, message=message)
    return ProblemReported(time_s=1.0, problem=problem)


def devices_ready() -> DevicesReady:
    answer = LogicalDeviceAnswer(name="CPU:0", device_key="cpu")
    return DevicesReady(time_s=1.0, tensorflow_version="2.21", logical_devices=(answer,))


def step(number: int) -> StepsDone:
    return StepsDone(
        time_s=float(number),
        step=number,
        steps=1,
        epoch=1,
        step_in_epoch=number,
        examples=64,
        loss=1.0,
        examples_per_second=1.0,
    )


ENDED = RunEnded(time_s=1.0, outcome=Outcome.COMPLETED)


def test_that_layers_that_begin_to_learn_are_reported(
    runs_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    began = FineTuningBegan(
        time_s=1.0, epoch=5, layers=3, trainable_parameters=9, learning_rate=1e-5
    )
    with WrittenRun(runs_dir) as run:
        run.write(began, ENDED)
        watch_to_its_end(run.layout, 1, ctrl_c_stops=False)
    err = capsys.readouterr().err
    assert "fine-tuning from epoch 5: 3 layers of the base learn" in " ".join(err.split())


def test_that_memory_that_came_back_is_reported_on_standard_error(
    runs_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    devices = (ReturnedMemory(device_key="cpu", freed_mib=21_811),)
    with WrittenRun(runs_dir) as run:
        run.write(
            MemoryReturned(time_s=1.0, seconds=1.24, devices=devices),
            RunEnded(time_s=1.0, outcome=Outcome.COMPLETED),
        )
        status = watch_to_its_end(run.layout, 1, ctrl_c_stops=False)
    assert status.outcome is Outcome.COMPLETED
    out, err = capsys.readouterr()
    assert "21.3 GiB freed in 1.2 s." in err
    assert out == ""


def test_that_watching_begun_late_sums_up_what_was_before_and_then_reports_each_epoch(
    runs_dir: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.write(devices_ready(), *map(epoch, range(1, 3_001)))

        def go_on(_seconds: float) -> None:
            run.write(*map(epoch, range(3_001, 3_004)), ENDED)

        # It pauses once it has caught up.
        monkeypatch.setattr(run_watcher.time, "sleep", go_on)
        monkeypatch.setattr(run_watcher, "_READ_S", 0.0)
        watch_to_its_end(run.layout, EPOCHS, ctrl_c_stops=False)
    err = capsys.readouterr().err
    told = [line.strip() for line in err.splitlines() if "epoch" in line and "step" not in line]
    assert told == [
        "3,000 of 5,000 epochs done, the last with  loss 3.3e-04  accuracy 0.5000",
        "epoch 3,001/5,000  loss 3.3e-04  accuracy 0.5000",
        "epoch 3,002/5,000  loss 3.3e-04  accuracy 0.5000",
        "epoch 3,003/5,000  loss 3.3e-04  accuracy 0.5000",
    ]
    assert err.count("TensorFlow 2.21") == 1


def test_that_epochs_which_are_done_again_are_not_reported_as_done(
    runs_dir: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    resumed = partial(TrainingResumed, time_s=1.0, path="checkpoints/step-460")
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.write(*map(epoch, range(1, 51)), RunRestarted(time_s=1.0, attempt=0))
        run.write(resumed(epoch=21, step=460))

        def go_on(_seconds: float) -> None:
            run.write(epoch(21), RunRestarted(time_s=1.0, attempt=0))
            run.write(resumed(epoch=22, step=483), epoch(22), ENDED)

        # It pauses once it has caught up.
        monkeypatch.setattr(run_watcher.time, "sleep", go_on)
        monkeypatch.setattr(run_watcher, "_READ_S", 0.0)
        watch_to_its_end(run.layout, EPOCHS, ctrl_c_stops=False)
    err = capsys.readouterr().err
    reported = [line.strip() for line in err.splitlines() if "epoch" in line and "   " not in line]
    assert reported == [
        "Resumed in epoch 21, after step 460.",
        "epoch 21/5,000  loss 0.0476  accuracy 0.5000",
        "Resumed in epoch 22, after step 483.",
        "epoch 22/5,000  loss 0.0455  accuracy 0.5000",
    ]


def test_that_epochs_before_a_checkpoint_are_reported_after_a_restart(
    runs_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with WrittenRun(runs_dir) as run:
        run.write(*map(epoch, range(1, 21)), RunRestarted(time_s=1.0, attempt=0))
        run.write(
            TrainingResumed(time_s=1.0, path="checkpoints/step-460", epoch=21, step=460), ENDED
        )
        watch_to_its_end(run.layout, EPOCHS, ctrl_c_stops=False)
    err = capsys.readouterr().err
    assert "20 of 5,000 epochs done" in err
    assert "Resumed in epoch 21, after step 460." in err


@pytest.mark.parametrize("json", [False, True])
def test_that_a_run_whose_folder_goes_while_it_is_watched_is_reported_in_one_sentence(
    runs_dir: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, json: bool
) -> None:
    monkeypatch.setattr(run_watcher, "_SUPERVISOR_INTERVAL_S", 0.0)
    with WrittenRun(runs_dir) as run:
        run.begin()
        monkeypatch.setattr(
            run_watcher.time,
            "sleep",
            lambda _seconds: shutil.rmtree(run.layout.root, ignore_errors=True),
        )
        with pytest.raises(typer.Exit) as left:
            follow(run.layout, EPOCHS, json=json, ctrl_c_stops=False)
    assert left.value.exit_code == 1
    told = capsys.readouterr()
    assert " ".join(told.err.split()).count("is gone: it was deleted, or moved elsewhere.") == 1
    assert ('"code": "run_gone"' in told.out) is json
    assert not run.layout.root.exists()


def test_that_one_epoch_before_is_reported_as_it_would_have_been(
    runs_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with WrittenRun(runs_dir) as run:
        run.write(epoch(1), ENDED)
        watch_to_its_end(run.layout, EPOCHS, ctrl_c_stops=False)
    assert "epoch 1/5,000  loss 1.000  accuracy 0.5000" in capsys.readouterr().err


def test_that_of_what_was_before_a_restart_only_the_restart_is_reported(
    runs_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    died = Problem(code="trainer_lost", message="The trainer was killed.")
    changes = (Change(path=("training", "epochs"), value=40),)
    with WrittenRun(runs_dir) as run:
        run.write(
            devices_ready(),
            warning("disk_slow", "Saving was slow."),
            epoch(1),
            epoch(2),
            RunRestarted(time_s=1.0, attempt=1, problem=died),
            devices_ready(),
            RunRestarted(time_s=1.0, attempt=2, problem=died, changes=changes),
            *(warning("disk_full", f"Attempt {attempt} to save failed.") for attempt in range(9)),
            ENDED,
        )
        watch_to_its_end(run.layout, 30, ctrl_c_stops=False)
    err = capsys.readouterr().err
    assert err.count("The trainer was killed.") == 1
    assert "(attempt 2)" in err
    assert "It continues with training.epochs = 40." in err
    assert "2 of 40 epochs done" in err
    assert "TensorFlow" not in err, "it has not answered yet since it was started again"
    assert "Saving was slow." not in err
    assert "Attempt 8 to save failed." in err
    assert "Attempt 7" not in err


@pytest.fixture
def listens_to_sigint() -> Iterator[None]:
    """SIGINT as in a terminal, also where whoever started the tests ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Pressing:
    """Presses Ctrl+C at given moments while a run is watched, and ends the run after them."""

    def __init__(self, run: WrittenRun, moments_s: tuple[float, ...]) -> None:
        self._run, self._moments = run, list(moments_s)
        self._begin_s = time.monotonic()
        self.ended_s: float | None = None

    def sleep(self, seconds: float) -> None:
        """What the watcher does between two looks."""
        SLEEP(seconds)
        now_s = time.monotonic() - self._begin_s
        if self._moments and now_s >= self._moments[0]:
            self._moments.pop(0)
            os.kill(os.getpid(), signal.SIGINT)
        elif not self._moments and (self.ended_s is None or now_s > self.ended_s):
            if self.ended_s is None:
                self.ended_s = now_s + 0.5
            else:
                self._run.write(RunEnded(time_s=1.0, outcome=Outcome.STOPPED))


SLEEP = time.sleep


@pytest.mark.parametrize(
    ("moments_s", "stops", "ends"),
    [
        ((0.0,), True, False),
        ((0.0, 0.5), True, False),
        ((0.0, 0.3, 0.6), True, True),
        ((0.0, 2.3), True, True),
    ],
)
@pytest.mark.usefixtures("listens_to_sigint")
def test_that_ctrl_c_twice_within_two_seconds_ends_nothing(
    runs_dir: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    moments_s: tuple[float, ...],
    stops: bool,
    ends: bool,
) -> None:
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.write(step(1), step(2))
        monkeypatch.setattr(run_watcher.time, "sleep", Pressing(run, moments_s).sleep)
        watch_to_its_end(run.layout, EPOCHS, ctrl_c_stops=True)
    assert is_asked(run.layout, Request.STOP) is stops
    assert is_asked(run.layout, Request.END) is ends
    told = " ".join(capsys.readouterr().err.split())
    assert "Stopping after this step, and saving." in told
    assert ("Ending it without saving. It has saved no checkpoint" in told) is ends


@pytest.mark.usefixtures("listens_to_sigint")
def test_that_ctrl_c_held_down_ends_nothing(
    runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def press(_seconds: float) -> None:
        for _ in range(30):
            os.kill(os.getpid(), signal.SIGINT)
            SLEEP(0.01)
        run.write(ENDED)

    with WrittenRun(runs_dir) as run:
        run.begin()
        monkeypatch.setattr(run_watcher.time, "sleep", press)
        status = watch_to_its_end(run.layout, EPOCHS, ctrl_c_stops=True)
    assert status.has_ended
    assert not is_asked(run.layout, Request.END)


@pytest.mark.usefixtures("listens_to_sigint")
def test_that_ctrl_c_only_stops_watching_where_it_does_not_stop_the_run(
    runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with WrittenRun(runs_dir) as run:
        run.begin()
        monkeypatch.setattr(
            run_watcher.time, "sleep", lambda _seconds: os.kill(os.getpid(), signal.SIGINT)
        )
        status = watch_to_its_end(run.layout, EPOCHS, ctrl_c_stops=False)
    assert not status.has_ended
    assert not is_asked(run.layout, Request.STOP)


def test_that_an_end_says_what_is_lost(runs_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.write(
            step(7),
            RequestAnswered(time_s=1.0, request=Request.END),
            RunEnded(time_s=1.0, outcome=Outcome.STOPPED),
        )
        with pytest.raises(typer.Exit) as left:
            follow(run.layout, EPOCHS, json=False)
    assert left.value.exit_code == 130
    assert "Ended without saving; its 7 steps are lost." in capsys.readouterr().out
