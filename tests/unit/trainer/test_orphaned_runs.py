"""A run whose supervisor is killed saves and ends, and goes on with whatever strategy is wanted."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from gpupanel.domain.data import DigitsData
from gpupanel.domain.events import (
    CheckpointSaved,
    Event,
    RunEnded,
    RunStarted,
    StepsDone,
    TrainerStarted,
    TrainingEnded,
    TrainingResumed,
    decode_event,
)
from gpupanel.domain.model import MlpModel
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.prepare import prepare
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.launcher import launch, resume
from tests.fakes.devices import CPU_ONLY
from tests.patience import PATIENCE_S

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

_ENDS_WITHIN_S = 20.0
"""Seconds, on a machine that does nothing else."""

SEGMENTS = {
    "one device": StrategySettings(kind=StrategyKind.ONE_DEVICE),
    "workers": StrategySettings(kind=StrategyKind.MULTI_WORKER, workers=2, shares=(48, 16)),
    "mirrored": StrategySettings(kind=StrategyKind.MIRRORED, shares=(24, 40)),
    "servers": StrategySettings(kind=StrategyKind.PARAMETER_SERVER, workers=2),
    "central storage": StrategySettings(kind=StrategyKind.CENTRAL_STORAGE),
    "placed layers": StrategySettings(kind=StrategyKind.MODEL_PARALLEL, placement="auto"),
}
_REPLICAS = {"mirrored": 2, "central storage": 2, "placed layers": 2}


def segment(name: str) -> tuple[Profile, LaunchPlan]:
    profile = Profile(
        name="orphan",
        devices=DeviceSettings(visible=("cpu",), cpu_replicas=_REPLICAS.get(name, 1)),
        data=DigitsData(validation_fraction=0.2),
        model=MlpModel(hidden=(32,), batch_norm=True, dropout=0.2),
        training=TrainingSettings(epochs=100_000, checkpoint_every_epochs=50),
        strategy=SEGMENTS[name],
    )
    preparation = prepare(profile, CPU_ONLY)
    assert preparation.plan is not None, preparation.problems
    return profile, preparation.plan


def reported(layout: RunLayout) -> list[Event]:
    if not layout.events.exists():
        return []
    return [decode_event(line) for line in layout.events.read_bytes().split(b"\n")[:-1]]


def of_this_start(layout: RunLayout) -> list[Event]:
    """What was reported since the supervisor was started last."""
    events = reported(layout)
    starts = [place for place, event in enumerate(events) if isinstance(event, RunStarted)]
    return events[starts[-1] :] if starts else []


def wait_until(layout: RunLayout, is_so: Callable[[], bool]) -> None:
    end_s = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end_s, layout.trainer_log.read_text()[-4000:]
        time.sleep(0.1)


def kill_the_supervisor(layout: RunLayout) -> None:
    """Within an epoch; every process of the run ends by itself."""
    events = of_this_start(layout)
    processes = [psutil.Process(one.pid) for one in events if isinstance(one, TrainerStarted)]
    (started,) = [one for one in events if isinstance(one, RunStarted)]
    os.kill(started.supervisor_pid, signal.SIGKILL)
    _, left = psutil.wait_procs(processes, timeout=_ENDS_WITHIN_S)
    assert left == []


def went_on(layout: RunLayout) -> bool:
    """Whether steps were done since the last start, not all of them by its checkpoint."""
    return sum(isinstance(one, StepsDone) for one in of_this_start(layout)) >= 5


def resumed_steps(layout: RunLayout) -> list[int]:
    return [one.step for one in reported(layout) if isinstance(one, TrainingResumed)]


def test_that_a_run_orphaned_under_every_strategy_saves_ends_and_goes_on_under_the_next(
    runs_dir: Path,
) -> None:
    names = list(SEGMENTS)
    layout = launch(*segment(names[0]), runs_dir)
    left_at: list[int] = []
    for following in (*names[1:], names[0]):
        wait_until(layout, lambda: went_on(layout))
        kill_the_supervisor(layout)

        events = of_this_start(layout)
        saved = [one for one in events if isinstance(one, CheckpointSaved)][-1]
        last = [one for one in events if isinstance(one, TrainingEnded)][-1]
        steps = [one for one in events if isinstance(one, StepsDone)]
        assert (saved.step, saved.reason) == (steps[-1].step, "end")
        assert last.outcome is Outcome.STOPPED
        assert last.problem is not None
        assert last.problem.code == "supervisor_gone"
        resume(layout, segment(following))
        left_at.append(saved.step)
        wait_until(layout, lambda: len(resumed_steps(layout)) == len(left_at))

    wait_until(layout, lambda: went_on(layout))
    ask(layout, Request.SUSPEND)
    wait_until(layout, lambda: isinstance(reported(layout)[-1], RunEnded))
    end = reported(layout)[-1]
    assert isinstance(end, RunEnded)
    assert end.outcome is Outcome.SUSPENDED
    assert resumed_steps(layout) == left_at
    # What one strategy learned the next one did not lose.
    assert end.metrics.val_accuracy is not None
    assert end.metrics.val_accuracy > 0.8
