"""Asynchronous workers, each a real process: exact counts of what they did, and they learn."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil
import pytest

from gpupanel.domain.augmentation import Augmentation
from gpupanel.domain.best_epoch import Keep
from gpupanel.domain.data import DataCache
from gpupanel.domain.events import (
    CheckpointSaved,
    DevicesReady,
    EpochDone,
    Event,
    RunEnded,
    RunRestarted,
    RunStarted,
    StepsDone,
    TrainerStarted,
    TrainingEnded,
    TrainingResumed,
)
from gpupanel.domain.model import CnnModel, MlpModel
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.schedule import ScheduleSettings
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.prepare import prepare
from gpupanel.runs.cluster.environments import process_environments
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.following.validation_history import read_validation_history
from gpupanel.runs.launcher import create_run, launch, resume
from tests.fakes.devices import CPU_ONLY
from tests.fakes.run_networks import assert_out_of_reach
from tests.forked.processes import ForkedProcess, run_forked
from tests.forked.terminal import forked_trainers
from tests.patience import PATIENCE_S
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.test_multi_worker import images
from tests.unit.trainer.trained_runs import (
    DIGITS,
    all_events,
    evaluation,
    gradient_norm,
    last_metrics,
    profile,
    reached,
    said_of_labels,
    train_all,
    variables,
)

pytestmark = pytest.mark.tensorflow


SERVED = StrategySettings(kind=StrategyKind.PARAMETER_SERVER, workers=2)
ADAM = TrainingSettings(epochs=6, optimizer=Optimizer.ADAM, learning_rate=3e-3, keep=Keep.LAST)
FROZEN = TrainingSettings(epochs=1, optimizer=Optimizer.SGD, learning_rate=1e-30)
EVERYTHING = ADAM.model_copy(
    update={
        "epochs": 6,
        "learning_rate": 1e-2,
        "global_batch_size": 205,  # the last batch has 3 examples, too few for 5 micro-batches
        "accumulation_steps": 5,
        "clip_norm": 0.5,
        "ema": 0.9,
        "schedule": ScheduleSettings(kind="cosine", warmup_epochs=1.0, least=0.5),
        "jit_compile": True,
        "mixed_precision": True,
    }
)

EXAMPLES = {"learning": 1438, "frozen": 84, "everything": 1438, "pictures": 84}
"""Of one epoch: digits without a fifth, images without three tenths."""
FEW = ("learning", "frozen")
FURTHER = ("everything", "pictures")
"""With all settings, and with images that are read for each step and changed: for
``make test-slow``."""


def frozen(folder: Path) -> Profile:
    """With a set that is looked at once, at the end."""
    test = images(folder.with_name("test")).path
    kept = {"cache": DataCache.MEMORY, "test_path": test}
    return profile(FROZEN, SERVED, data=images(folder).model_copy(update=kept))


def further_runs_of(folder: Path) -> dict[str, Profile]:
    augmentation = Augmentation(shift=0.1, mixup=0.1)
    moved = images(folder).model_copy(update={"augmentation": augmentation})
    blended = DIGITS.model_copy(update={"augmentation": augmentation})
    many = MlpModel(hidden=(32,), batch_norm=True, dropout=0.2)
    return {
        "everything": profile(EVERYTHING, SERVED, model=many, data=blended),
        "pictures": profile(ADAM, SERVED, data=moved, model=CnnModel(filters=(4,))),
    }


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, RunLayout]]:
    root = tmp_path_factory.mktemp("served")
    few = {"learning": profile(ADAM, SERVED), "frozen": frozen(root / "pictures")}
    with trained(root, few, evaluated=["frozen"]) as layouts:
        yield layouts


@pytest.fixture(scope="module")
def further_runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, RunLayout]]:
    root = tmp_path_factory.mktemp("served")
    with trained(root, further_runs_of(root / "pictures")) as layouts:
        yield layouts


@contextmanager
def trained(
    root: Path, profiles: Mapping[str, Profile], evaluated: Sequence[str] = ()
) -> Iterator[dict[str, RunLayout]]:
    """Runs that one coordinator trains one after the other with the same gang, which waits on."""
    layouts = {}
    for name, one in profiles.items():
        plan = prepare(one, CPU_ONLY).plan
        assert plan is not None
        layouts[name] = create_run(one, plan, root)
    coordinator, *others = process_environments(plan)
    first, *_ = layouts.values()
    serve = [sys.executable, "-m", "gpupanel.trainer", str(first.root)]
    train = [
        sys.executable,
        str(Path(__file__).with_name("train_several.py")),
        *(str(layout.root) for layout in layouts.values()),
        "--as-written",
        *(f"--evaluated={layouts[name].root}" for name in evaluated),
    ]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    serving = [
        ForkedProcess(
            serve, env={**environment, **other}, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
        )
        for other in others
    ]
    try:
        done = run_forked(
            train,
            env={**environment, **coordinator},
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )
        assert done.returncode == 0, done.stderr[-4000:]
        assert [process.poll() for process in serving] == [None] * 3
        yield layouts
    finally:
        for process in serving:
            process.kill()
            process.wait()


def test_that_each_process_that_serves_reports_its_devices(runs: dict[str, RunLayout]) -> None:
    reported = [each for each in all_events(runs["learning"]) if isinstance(each, DevicesReady)]
    assert sorted(event.process for event in reported) == [1, 2, 3]
    for event in reported:
        assert [device.name for device in event.logical_devices] == ["/device:CPU:0"]


@pytest.mark.parametrize("name", FEW)
def test_that_steps_and_examples_of_every_epoch_are_counted_exactly(
    runs: dict[str, RunLayout], name: str
) -> None:
    assert_counted(runs[name], EXAMPLES[name], batch_size=64)
    assert_updates_counted(runs[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", FURTHER)
def test_that_further_steps_and_examples_are_counted_exactly(
    further_runs: dict[str, RunLayout], name: str
) -> None:
    size = 205 if name == "everything" else 64
    assert_counted(further_runs[name], EXAMPLES[name], batch_size=size)
    assert_updates_counted(further_runs[name])


def assert_counted(layout: RunLayout, examples: int, batch_size: int) -> None:
    of_epoch = -(-examples // batch_size)
    reported = all_events(layout)
    steps = [event for event in reported if isinstance(event, StepsDone)]
    epochs = [event for event in reported if isinstance(event, EpochDone)]

    assert [event.step for event in epochs] == [
        of_epoch * number for number in range(1, len(epochs) + 1)
    ]
    assert sum(event.steps for event in steps) == epochs[-1].step
    assert sum(event.examples for event in steps) == examples * len(epochs)
    position = json.loads((checkpoint(layout) / "position.json").read_text())
    assert (position["step"], position["step_in_epoch"]) == (epochs[-1].step, 0)


def checkpoint(layout: RunLayout) -> Path:
    return max(layout.checkpoints.glob("step-*"))


def assert_updates_counted(layout: RunLayout) -> None:
    """By the optimizer."""
    (counted,) = [value for path, value in variables(layout).items() if path.endswith("/iteration")]
    (*_, last) = [event for event in all_events(layout) if isinstance(event, EpochDone)]

    assert int(counted) == last.step


def test_that_steps_say_the_norm_of_the_gradient_of_their_batch(
    runs: dict[str, RunLayout], tmp_path: Path, make_run: MakeRun
) -> None:
    # Its weights stay the same: which worker takes which batch, and when, makes no difference.
    one_device = frozen(tmp_path / "pictures").model_copy(update={"strategy": StrategySettings()})
    alone = train_all(tmp_path, make_run, {"frozen": (one_device, [64])})["frozen"]

    assert gradient_norm(alone) > 0.1
    assert gradient_norm(runs["frozen"]) == pytest.approx(gradient_norm(alone), rel=1e-5)


def test_that_no_second_has_more_than_20_reports(runs: dict[str, RunLayout]) -> None:
    reported = all_events(runs["learning"])
    moments = [event.time_s for event in reported if isinstance(event, StepsDone)]

    assert all(later - first > 0.05 for first, later in itertools.pairwise(moments[:-1]))


def test_that_asynchronous_workers_learn(runs: dict[str, RunLayout]) -> None:
    metrics = last_metrics(runs["learning"])

    assert metrics.val_accuracy is not None
    assert metrics.val_accuracy > 0.88  # guessing: 0.1; one device reaches 0.93


def test_that_examples_are_predicted_by_the_weights_that_the_servers_hold(
    runs: dict[str, RunLayout],
) -> None:
    outputs = np.asarray(evaluation(runs["frozen"])["followed"])
    history = read_validation_history(runs["frozen"])
    assert {each.label for each in history.examples} == {"dark", "light"}
    wanted = [
        row[["dark", "light"].index(each.label)]
        for row, each in zip(outputs, history.examples, strict=True)
    ]
    assert said_of_labels(runs["frozen"]) == pytest.approx(wanted, abs=1e-5)
    # After each epoch others, while asynchronous workers learn.
    (_, *later) = read_validation_history(runs["learning"]).epochs
    assert len({each.model_dump_json() for each in later}) == len(later) >= 1


@pytest.mark.slow
def test_that_everything_together_learns(further_runs: dict[str, RunLayout]) -> None:
    metrics = last_metrics(further_runs["everything"])

    assert metrics.accuracy is not None
    assert metrics.accuracy > 0.4  # guessing: 0.1; Keras takes moving statistics to validate


def test_that_metrics_are_those_of_the_whole_sets(runs: dict[str, RunLayout]) -> None:
    # Its learning rate leaves the weights as they are: each step measures the same model.
    measured, metrics = evaluation(runs["frozen"]), last_metrics(runs["frozen"])

    assert [metrics.loss, metrics.accuracy] == pytest.approx(measured["train"], rel=1e-5)
    assert [metrics.val_loss, metrics.val_accuracy] == pytest.approx(
        measured["validation"], rel=1e-5
    )


def test_that_a_test_set_is_measured_as_a_whole_at_the_end(runs: dict[str, RunLayout]) -> None:
    ended = reached(runs["frozen"])

    assert [ended.test_loss, ended.test_accuracy] == pytest.approx(
        evaluation(runs["frozen"])["test"], rel=1e-5
    )
    assert last_metrics(runs["frozen"]).test_loss is None


def wait_until(layout: RunLayout, is_so: Callable[[], bool]) -> None:
    end_s = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end_s, layout.trainer_log.read_text()[-4000:]
        time.sleep(0.05)


def happened(layout: RunLayout, kind: type[Event]) -> list[Event]:
    return [event for event in all_events(layout) if isinstance(event, kind)]


def wait_for_epochs(layout: RunLayout, more: int) -> None:
    wanted = len(happened(layout, EpochDone)) + more
    wait_until(layout, lambda: len(happened(layout, EpochDone)) >= wanted)


def pids(layout: RunLayout) -> dict[str, int]:
    """Of the gang that was started last, by name."""
    started = happened(layout, TrainerStarted)[-4:]
    return {event.name: event.pid for event in started if isinstance(event, TrainerStarted)}


def launched(runs_dir: Path) -> RunLayout:
    """A run that ends in days, after some epochs."""
    endless = TrainingSettings(epochs=100_000, max_restarts=1, checkpoint_every_epochs=2)
    chosen = profile(endless, SERVED, model=MlpModel(hidden=(32,), dropout=0.2))
    plan = prepare(chosen, CPU_ONLY).plan
    assert plan is not None
    layout = launch(chosen, plan, runs_dir)
    wait_until(layout, layout.events.exists)
    wait_for_epochs(layout, 3)
    return layout


def assert_ends_when_left_alone(layout: RunLayout) -> None:
    gang = [psutil.Process(pid) for pid in pids(layout).values()]
    os.kill(happened(layout, RunStarted)[-1].supervisor_pid, signal.SIGKILL)

    _, left = psutil.wait_procs(gang, timeout=30.0)
    assert left == []
    last = happened(layout, TrainingEnded)[-1]
    assert (last.outcome, last.problem.code) == (Outcome.STOPPED, "supervisor_gone")
    assert happened(layout, CheckpointSaved)[-1].step == happened(layout, StepsDone)[-1].step


@pytest.mark.slow
def test_that_a_gang_stops_and_goes_on(runs_dir: Path) -> None:
    with forked_trainers():
        layout = launched(runs_dir)
        ask(layout, Request.STOP)
    assert_stopped(layout)
    step = happened(layout, StepsDone)[-1].step
    with forked_trainers():
        resume(layout)
        wait_for_epochs(layout, 2)
        assert_out_of_reach(tuple(pids(layout).values()))
        ask(layout, Request.STOP)
    assert [event.step for event in happened(layout, TrainingResumed)] == [step]
    assert_stopped(layout)


def assert_stopped(layout: RunLayout) -> None:
    stopped = happened(layout, RunEnded)[-1]
    assert (stopped.outcome, stopped.problem) == (Outcome.STOPPED, None)
    # What was under way when the stop was asked for is done, counted and saved.
    assert happened(layout, CheckpointSaved)[-1].step == happened(layout, StepsDone)[-1].step


@pytest.mark.slow
def test_that_a_gang_starts_again_without_a_parameter_server_and_is_never_left_alone(
    runs_dir: Path,
) -> None:
    layout = launched(runs_dir)
    os.kill(pids(layout)["parameter server 0"], signal.SIGKILL)
    wait_until(layout, lambda: bool(happened(layout, TrainingResumed)))

    (restarted,) = happened(layout, RunRestarted)
    assert restarted.problem.message.startswith("Parameter server 0 was killed by SIGKILL")
    wait_for_epochs(layout, 2)
    assert_ends_when_left_alone(layout)
