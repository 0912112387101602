"""A run of two workers under its supervisor: killed, started again, stopped, resumed.

Its processes are forked ones but where the supervisor is killed: how a real gang starts is seen in
``tests/e2e/test_private_runs.py``.
"""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import psutil
import pytest

from gpupanel.domain import events
from gpupanel.domain.events import (
    Event,
    RunEnded,
    RunRestarted,
    RunStarted,
    TrainerStarted,
    TrainingResumed,
)
from gpupanel.domain.model import MlpModel
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.planning.prepare import prepare
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.launcher import create_run, resume
from gpupanel.runs.supervision.supervisor import Supervisor
from tests.fakes.devices import CPU_ONLY
from tests.fakes.run_networks import assert_out_of_reach
from tests.forked.terminal import forked_trainers
from tests.patience import PATIENCE_S
from tests.unit.trainer.trained_runs import changed, profile, variables

pytestmark = [pytest.mark.slow, pytest.mark.tensorflow]

_EPOCHS = 8
_STEPS_AN_EPOCH = 23

WORKERS = StrategySettings(kind=StrategyKind.MULTI_WORKER, workers=2, shares=(48, 16))
ALL_STATES = MlpModel(hidden=(32,), batch_norm=True, dropout=0.2)
"""Weights, slots, moving statistics and random numbers: all must come back."""


def new_run(runs_dir: Path, *, every_minutes: float | None = None) -> RunLayout:
    training = changed(
        epochs=_EPOCHS,
        max_restarts=1,
        accumulation_steps=2,
        checkpoint_every_epochs=2,
        checkpoint_every_minutes=every_minutes,
    )
    chosen = profile(training, WORKERS, model=ALL_STATES)
    plan = prepare(chosen, CPU_ONLY).plan
    assert plan is not None
    return create_run(chosen, plan, runs_dir)


def events_of(layout: RunLayout) -> tuple[Event, ...]:
    return RunFollower(layout).poll().events


def count(layout: RunLayout, kind: type[Event]) -> int:
    return sum(isinstance(event, kind) for event in events_of(layout))


def pids(layout: RunLayout) -> list[int]:
    """Of the workers that were started last."""
    return [event.pid for event in events_of(layout) if isinstance(event, TrainerStarted)][-2:]


def supervisor_pid(layout: RunLayout) -> int:
    return [event for event in events_of(layout) if isinstance(event, RunStarted)][
        -1
    ].supervisor_pid


def runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_until(layout: RunLayout, is_so: Callable[[], bool]) -> None:
    end_s = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end_s, layout.trainer_log.read_text()[-4000:]
        time.sleep(0.05)


def wait_for_checkpoints(layout: RunLayout, more: int) -> None:
    wanted = count(layout, events.CheckpointSaved) + more
    wait_until(layout, lambda: count(layout, events.CheckpointSaved) >= wanted)


def is_within_an_epoch(event: Event) -> bool:
    return isinstance(event, events.CheckpointSaved) and event.step % _STEPS_AN_EPOCH > 0


def ended(layout: RunLayout, runs: int) -> RunEnded:
    wait_until(layout, lambda: count(layout, RunEnded) == runs)
    last = events_of(layout)[-1]
    assert isinstance(last, RunEnded)
    return last


@contextmanager
def supervised(layout: RunLayout) -> Iterator[None]:
    thread = Thread(target=Supervisor(layout).run)
    thread.start()
    yield
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> RunLayout:
    layout = new_run(tmp_path_factory.mktemp("undisturbed"))
    with forked_trainers(), supervised(layout):
        ended(layout, 1)
    return layout


def test_that_each_worker_reports_its_devices(undisturbed: RunLayout) -> None:
    reported = [event for event in events_of(undisturbed) if isinstance(event, events.DevicesReady)]
    assert sorted(event.process for event in reported) == [0, 1]
    for event in reported:
        assert [device.name for device in event.logical_devices] == ["/device:CPU:0"]


def test_that_a_run_with_a_killed_worker_reaches_the_same_bits(
    undisturbed: RunLayout, runs_dir: Path
) -> None:
    layout = new_run(runs_dir, every_minutes=0.005)
    with forked_trainers(), supervised(layout):
        wait_until(layout, lambda: any(is_within_an_epoch(event) for event in events_of(layout)))
        assert_out_of_reach(pids(layout))
        os.kill(pids(layout)[1], signal.SIGKILL)
        assert ended(layout, 1).outcome is Outcome.COMPLETED

    (restart,) = [event for event in events_of(layout) if isinstance(event, RunRestarted)]
    assert restart.attempt == 1
    assert restart.problem is not None
    assert restart.problem.message.startswith("Worker 1 was killed by SIGKILL")
    (resumed,) = [event for event in events_of(layout) if isinstance(event, TrainingResumed)]
    saved = [event for event in events_of(layout) if isinstance(event, events.CheckpointSaved)]
    assert resumed.step in [event.step for event in saved]
    assert_same_bits(undisturbed, layout)


def test_that_a_run_stopped_orphaned_and_resumed_reaches_the_same_bits(
    undisturbed: RunLayout, runs_dir: Path
) -> None:
    layout = new_run(runs_dir)
    with supervised(layout):
        wait_for_checkpoints(layout, 2)
        # Any of them may be asked to end: all of them stop together.
        os.kill(pids(layout)[1], signal.SIGTERM)
        end = ended(layout, 1)
    assert (end.outcome, end.problem, end.exit_code) == (Outcome.STOPPED, None, 0)
    resume(layout)
    wait_until(layout, lambda: count(layout, TrainingResumed) == 1)
    wait_for_checkpoints(layout, 1)
    # Nobody watches any more: all of them save and end.
    os.kill(supervisor_pid(layout), signal.SIGKILL)
    wait_until(layout, lambda: not any(runs(pid) for pid in pids(layout)))
    resume(layout)
    assert ended(layout, 2).outcome is Outcome.COMPLETED

    restarts = [event for event in events_of(layout) if isinstance(event, RunRestarted)]
    assert [(event.attempt, event.problem) for event in restarts] == [(0, None), (0, None)]
    first, second = [event for event in events_of(layout) if isinstance(event, TrainingResumed)]
    assert first.step < second.step
    assert_same_bits(undisturbed, layout)


def assert_same_bits(undisturbed: RunLayout, layout: RunLayout) -> None:
    one, other = variables(undisturbed), variables(layout)
    assert one.keys() == other.keys()
    assert [name for name in one if one[name].tobytes() != other[name].tobytes()] == []
    assert last_epoch(undisturbed) == last_epoch(layout)


def last_epoch(layout: RunLayout) -> tuple[int, int, float | None]:
    last = [event for event in events_of(layout) if isinstance(event, events.EpochDone)][-1]
    return last.epoch, last.step, last.metrics.val_accuracy
