"""Real processes under a limit of processor time (``ulimit -t``): each has its last word."""

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpupanel.domain.events import Event, ProblemReported, RunEnded
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.planning.prepare import prepare
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.launcher import create_run
from tests.fakes.devices import CPU_ONLY

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PROFILE = """
schema_version = 1
name = "limited"
[devices]
visible = ["cpu"]
[model]
source = "mlp"
[training]
epochs = 10_000
"""
BUSY_SUPERVISOR = """
import runpy, sys, threading, time
def work():
    while time.process_time() < HEARD_AT_S + 0.1:
        pass
threading.Thread(target=work, daemon=True).start()
sys.argv = [SUPERVISE, "wait_for_stop", sys.argv[1]]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
BUSY_WINDOW = """
import runpy, sys, threading, time
def work():
    while time.process_time() < HEARD_AT_S + 0.1:
        pass
threading.Thread(target=work, daemon=True).start()
sys.argv = ["gpupanel"]
runpy.run_module("gpupanel", run_name="__main__")
"""


def under_limit(command: list[str], seconds: int, **variables: str) -> tuple[int, str]:
    """The exit status, and what it said."""
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=120.0,
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds)),
    )
    return done.returncode, done.stdout + done.stderr


def events_of(layout: RunLayout) -> list[Event]:
    return list(RunFollower(layout).poll().events)


def ended_with_a_word(layout: RunLayout, words: str) -> None:
    end_s = time.monotonic() + 60.0
    while not any(isinstance(event, RunEnded) for event in events_of(layout)):
        assert time.monotonic() < end_s
        time.sleep(0.1)
    events = events_of(layout)
    assert [event.outcome for event in events if isinstance(event, RunEnded)] == [Outcome.STOPPED]
    said = [event.problem for event in events if isinstance(event, ProblemReported)]
    (problem,) = (each for each in said if each.code == "processor_time_limited")
    assert words in problem.message


@pytest.mark.tensorflow
def test_that_a_training_that_has_used_its_time_is_saved_and_stopped(
    tmp_path: Path, runs_dir: Path
) -> None:
    profile = tmp_path / "limited.toml"
    profile.write_text(PROFILE)
    status, said = under_limit([sys.executable, "-m", "gpupanel", "run", str(profile)], 12)
    (root,) = runs_dir.iterdir()
    ended_with_a_word(RunLayout(root), "may use here, 12 s (ulimit -t)")
    assert status == 130, said
    assert "A process of the run has used nearly all the processor time" in " ".join(said.split())
    assert list((root / "checkpoints").iterdir())


def test_that_a_run_whose_supervisor_has_used_its_time_stops_and_says_so(runs_dir: Path) -> None:
    plan = prepare(Profile(name="limited"), CPU_ONLY).plan
    assert plan is not None
    layout = create_run(Profile(name="limited"), plan, runs_dir)
    code = BUSY_SUPERVISOR.replace("SUPERVISE", repr(str(ROOT / "tests/fakes/supervise.py")))
    code = code.replace("HEARD_AT_S", "3")
    under_limit([sys.executable, "-c", code, str(layout.root)], 4)
    ended_with_a_word(layout, "The supervisor of the run has used nearly all")


def test_that_a_window_that_has_used_its_time_says_so_and_closes(tmp_path: Path) -> None:
    status, said = under_limit(
        [sys.executable, "-c", BUSY_WINDOW.replace("HEARD_AT_S", "10")],
        12,
        QT_QPA_PLATFORM="offscreen",
        XDG_CONFIG_HOME=str(tmp_path),
    )
    # A busy machine may not have it open by then: then it is the command that opens it.
    assert "has used nearly all the processor time" in said, said
    assert status >= 0, said


def test_that_a_command_that_has_used_its_time_says_so(tmp_path: Path) -> None:
    status, said = under_limit([sys.executable, "-m", "gpupanel", "--version"], 1)
    if status:  # it may be quick enough
        assert "This command has used nearly all" in said
