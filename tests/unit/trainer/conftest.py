"""Run directories as the launcher writes them, and trainers started on them."""

import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.events import Event, TrainingEnded, decode_event
from gpupanel.domain.plan import LaunchPlan, LogicalPlace, PlannedDevice, PlannedReplica
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import dump_profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import SHARING_KINDS, OptimizerState, StrategyKind
from gpupanel.planning.half_precision import half_precision
from gpupanel.runs.directory.start_model import keep_start_model
from tests.fakes.checked_files import as_checked
from tests.forked.processes import ForkedProcess
from tests.patience import PATIENCE_S

MakeRun = Callable[[Path, Profile, Sequence[int]], RunLayout]


def cpu_plan(profile: Profile, shares: Sequence[int]) -> LaunchPlan:
    """As planning makes it for the CPU: a logical device for each replica, or several."""
    several, each = len(shares) > 1, profile.strategy.devices_per_replica or 1
    chosen = profile.strategy.kind
    state = profile.strategy.optimizer_state
    quotas = state if isinstance(state, tuple) else (None,) * len(shares)
    if state is OptimizerState.SHARDED:
        quotas = (1,) * len(shares)
    sharing = chosen if chosen in SHARING_KINDS or each > 1 else StrategyKind.MIRRORED
    places = [
        LogicalPlace(device_key="cpu", logical_device=f"/device:CPU:{index}")
        for index in range(each * len(shares))
    ]
    return LaunchPlan(
        environment={"CUDA_VISIBLE_DEVICES": "-1"},
        devices=(
            PlannedDevice(
                key="cpu",
                kind=DeviceKind.CPU,
                name="the CPU",
                index=0,
                logical_limits_mib=(None,) * each * len(shares) if several else (),
            ),
        ),
        strategy=sharing if several else StrategyKind.ONE_DEVICE,
        all_reduce=profile.strategy.all_reduce,
        replicas=tuple(
            PlannedReplica(
                index=index,
                device_key="cpu",
                logical_device=f"/device:CPU:{index * each}",
                share=share,
                optimizer_quota=quota,
            )
            for index, (share, quota) in enumerate(zip(shares, quotas, strict=True))
        ),
        places=tuple(places) if each > 1 else (),
        global_batch_size=sum(shares),
        accumulation_steps=profile.training.accumulation_steps,
        balanced=profile.strategy.shares == "balanced",
        half_precision=half_precision(profile.training, ()),
    )


@pytest.fixture
def scikit_learn_datasets() -> ModuleType:
    """Imported when it is needed, since that takes a second or two.

    It sets variables then that the server that forks processes was not started with.
    """
    before = dict(os.environ)
    datasets = importlib.import_module("sklearn.datasets")
    for name in os.environ.keys() - before.keys():
        del os.environ[name]
    return datasets


def write_run(folder: Path, profile: Profile, shares: Sequence[int]) -> RunLayout:
    """A run directory that a trainer can be started on."""
    layout = RunLayout(folder)
    layout.requests.mkdir(parents=True)
    layout.profile.write_text(dump_profile(profile), encoding="utf-8")
    plan = cpu_plan(profile, shares)
    layout.plan.write_text(plan.model_dump_json(), encoding="utf-8")
    keep_start_model(layout, profile)
    return layout


@pytest.fixture(scope="session")
def make_run() -> MakeRun:
    """Writes a run directory that a trainer can be started on."""
    return write_run


@dataclass
class Trainer:
    """A started trainer and what it wrote."""

    layout: RunLayout
    process: subprocess.Popen[bytes] | ForkedProcess

    def events(self) -> list[Event]:
        """The whole lines so far."""
        if not self.layout.events.exists():
            return []
        text = self.layout.events.read_text(encoding="utf-8")
        return [decode_event(line) for line in text.split("\n")[:-1]]

    def wait_for(self, kind: type[Event], count: int = 1) -> Event:
        """The n-th event of a kind, when it is there."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            found = [event for event in self.events() if isinstance(event, kind)]
            if len(found) >= count:
                return found[count - 1]
            time.sleep(0.02)
        raise AssertionError(f"no {kind.__name__}; log: {self.log()}")

    def ended(self) -> TrainingEnded:
        """How it ended, when its process has."""
        self.process.wait(PATIENCE_S)
        last = self.events()[-1]
        assert isinstance(last, TrainingEnded), self.log()
        return last

    def log(self) -> str:
        return self.layout.trainer_log.read_text(encoding="utf-8")[-4000:]


StartTrainer = Callable[..., Trainer]


@pytest.fixture
def start_trainer() -> Iterator[StartTrainer]:
    """Starts the training process, with TensorFlow in it already."""
    with _starting(ForkedProcess) as start:
        yield start


@pytest.fixture
def start_new_trainer() -> Iterator[StartTrainer]:
    """Starts the real training process, as the supervisor does: where its start is the point."""
    with _starting(subprocess.Popen) as start:
        yield start


@contextmanager
def _starting(
    process_of: type[subprocess.Popen[bytes] | ForkedProcess],
) -> Iterator[StartTrainer]:
    started: list[Trainer] = []

    def start(layout: RunLayout, **environment: str) -> Trainer:
        with layout.trainer_log.open("wb") as log:
            process = process_of(
                [sys.executable, "-m", "gpupanel.trainer", str(layout.root)],
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **_environment(layout), **environment},
            )
        started.append(Trainer(layout, process))
        return started[-1]

    try:
        yield start
    finally:
        for trainer in started:
            trainer.process.kill()
            trainer.process.wait()


def _environment(layout: RunLayout) -> dict[str, str]:
    plan = json.loads(layout.plan.read_text(encoding="utf-8"))
    return {
        **plan["environment"],
        "GPUPANEL_SUPERVISOR_PID": str(os.getpid()),
        "GPUPANEL_CHECKED": as_checked(layout).model_dump_json(),
        "TF_CPP_MIN_LOG_LEVEL": "2",
    }
