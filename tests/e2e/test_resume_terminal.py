"""``gpupanel resume RUN``: refused with a reason, or followed like a new run."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gpupanel.domain.events import RunEnded, RunStarted, StepsDone, encode_event
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.planning.prepare import prepare
from gpupanel.runs.launcher import create_run
from tests.fakes.devices import CPU_ONLY
from tests.patience import PATIENCE_S


@pytest.fixture
def stopped(runs_dir: Path) -> RunLayout:
    """A run that was stopped; nothing of it can be read by a trainer, so that none starts."""
    plan = prepare(Profile(), CPU_ONLY).plan
    assert plan is not None
    layout = create_run(Profile(), plan, runs_dir)
    layout.plan.write_text("no plan")
    told = (
        RunStarted(time_s=1.0, supervisor_pid=1),
        StepsDone(
            time_s=1.5,
            step=10,
            steps=10,
            epoch=1,
            step_in_epoch=10,
            examples=640,
            loss=1.0,
            examples_per_second=1000.0,
        ),
        RunEnded(time_s=2.0, outcome=Outcome.STOPPED, exit_code=0),
    )
    layout.events.write_text("".join(f"{encode_event(event)}\n" for event in told))
    return layout


def resume(layout: RunLayout, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gpupanel", "resume", layout.name, *options],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def test_that_a_run_without_a_checkpoint_is_refused(stopped: RunLayout) -> None:
    completed = resume(stopped, "--json")
    assert completed.returncode == 1
    (problem,) = json.loads(completed.stdout)["problems"]
    assert problem["code"] == "nothing_to_resume"
    assert "it has saved no checkpoint" in problem["message"]


def test_that_a_resumed_run_is_followed_past_its_old_end(stopped: RunLayout) -> None:
    (stopped.checkpoints / "step-000000001").mkdir(parents=True)
    completed = resume(stopped, "--json")
    assert completed.returncode == 1
    document = json.loads(completed.stdout)
    assert document["outcome"] == "failed"  # not "stopped", as it had ended before
    assert document["problem"]["code"] == "trainer_not_started"


def test_that_a_resumed_run_can_be_left_alone(stopped: RunLayout) -> None:
    (stopped.checkpoints / "step-000000001").mkdir(parents=True)
    completed = resume(stopped, "--detach")
    assert completed.returncode == 0
    assert completed.stdout.strip() == str(stopped.root)
