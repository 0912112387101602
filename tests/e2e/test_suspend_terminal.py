"""A real run that is suspended, and goes on with another strategy and other shares.

The terminal is a process of its own where it starts one.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpupanel.domain.events import (
    CheckpointSaved,
    RunEnded,
    RunRestarted,
    SharesChosen,
    StepsDone,
    TrainingResumed,
)
from gpupanel.domain.profile_toml import parse_profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.processes.run_processes import processes_of
from tests.forked import terminal as forked
from tests.patience import PATIENCE_S

ON_TWO = """
schema_version = 1
name = "moves"
[devices]
visible = ["cpu"]
cpu_replicas = 2
[strategy]
kind = "mirrored"
shares = [48, 16]
[data]
source = "digits"
validation_fraction = 0.2
[model]
source = "mlp"
hidden = [32]
[training]
epochs = 100000
global_batch_size = 64
tensorboard = false
checkpoint_every_epochs = 0
"""
ON_ONE = (
    ON_TWO.replace("cpu_replicas = 2", "cpu_replicas = 1")
    .replace('kind = "mirrored"', 'kind = "one_device"')
    .replace("shares = [48, 16]", 'shares = "equal"')
    .replace("checkpoint_every_epochs = 0", "accumulation_steps = 2")
)


def gpupanel(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gpupanel", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def events_of(layout: RunLayout) -> tuple[object, ...]:
    follower = RunFollower(layout)
    news = follower.poll()
    events = list(news.events)
    while news.has_more:
        news = follower.poll()
        events += news.events
    return tuple(events)


def until_it_steps(layout: RunLayout, starts: int) -> None:
    end_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < end_s:
        kinds = [type(event) for event in events_of(layout)]
        after = kinds[len(kinds) - kinds[::-1].index(RunRestarted) :] if starts > 1 else kinds
        if StepsDone in after:
            return
        time.sleep(0.2)
    raise AssertionError(layout.trainer_log.read_text())


def suspend(layout: RunLayout) -> dict[str, object]:
    asked = forked.gpupanel("suspend", layout.root, "--json")
    assert json.loads(asked.stdout) == {"run": str(layout.root), "asked": True}
    watched = forked.gpupanel("watch", layout.root, "--json")
    assert watched.returncode == 130
    assert not processes_of(layout)
    document: dict[str, object] = json.loads(watched.stdout)
    return document


@pytest.mark.slow
@pytest.mark.tensorflow
def test_that_a_suspended_run_goes_on_elsewhere_and_is_suspended_again(tmp_path: Path) -> None:
    on_two, on_one = tmp_path / "on_two.toml", tmp_path / "on_one.toml"
    on_two.write_text(ON_TWO)
    on_one.write_text(ON_ONE)
    started = gpupanel("run", on_two, "--detach", "--json")
    layout = RunLayout(Path(json.loads(started.stdout)["run"]))
    until_it_steps(layout, 1)
    assert suspend(layout)["outcome"] == "suspended"
    saved = [event for event in events_of(layout) if isinstance(event, CheckpointSaved)][-1]
    assert saved.reason == "end"
    assert not layout.model.exists()

    other = tmp_path / "other.toml"
    other.write_text(ON_ONE.replace("hidden = [32]", "hidden = [33]"))
    refused = forked.gpupanel("resume", layout.root, "--with", other, "--json")
    assert refused.returncode == 1
    (problem,) = json.loads(refused.stdout)["problems"]
    assert (problem["code"], problem["field"]) == ("resume_does_not_fit", "model.hidden")

    resumed = gpupanel("resume", layout.root, "--with", on_one, "--detach")
    assert resumed.returncode == 0, resumed.stderr
    until_it_steps(layout, 2)
    assert suspend(layout)["outcome"] == "suspended"
    events = events_of(layout)
    (restart,) = [event for event in events if isinstance(event, RunRestarted)]
    assert {".".join(change.path) for change in restart.changes} == {
        "devices.cpu_replicas",
        "strategy.kind",
        "strategy.shares",
        "training.accumulation_steps",
        "training.checkpoint_every_epochs",
    }
    (went_on,) = [event for event in events if isinstance(event, TrainingResumed)]
    assert went_on.step == saved.step
    assert not [event for event in events if isinstance(event, SharesChosen)]
    assert isinstance(events[-1], RunEnded)
    assert parse_profile(layout.former_profile(1).read_text()).strategy.shares == (48, 16)
    assert parse_profile(layout.profile.read_text()).training.accumulation_steps == 2
