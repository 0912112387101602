"""What the window shows, and how soon, when a trainer or a supervisor is killed under it."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from gpupanel.domain.events import TrainerStarted
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.planning.prepare import Preparation, prepare
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.launcher import create_run
from gpupanel.runs.processes.run_processes import await_end_of_processes, processes_of
from gpupanel.ui.run_page.words import problem_to_show
from gpupanel.ui.run_state import RunState
from gpupanel.ui.run_texts import state_text, status_text
from gpupanel.ui.workers.run_worker import RunWatch
from tests.fakes.devices import CPU_ONLY

pytestmark = pytest.mark.usefixtures("undressed")

SUPERVISE = Path(__file__).parents[1] / "fakes" / "supervise.py"
ALONE = Profile()
GANG = Profile(strategy=StrategySettings(kind=StrategyKind.MULTI_WORKER, workers=2))

SOON_S = 2.0
"""From the kill to the window's status."""


class _WatchedRun:
    """A run without TensorFlow that a window watches."""

    def __init__(self, qtbot, runs_dir, profile, mode):
        plan = prepare(profile, CPU_ONLY).plan
        assert plan is not None
        self.layout = create_run(profile, plan, runs_dir)
        self.supervisor = subprocess.Popen([sys.executable, SUPERVISE, mode, self.layout.root])
        self.watch = RunWatch(self.layout)
        self.watch.start()
        self._qtbot = qtbot

    def wait_for_trainers(self, count):
        self._qtbot.waitUntil(lambda: len(self.watch.status.pids) == count, timeout=20_000)
        marks = [self.layout.root / f"begun-{place}" for place in range(count)]
        ready = self.layout.root / "requests"
        self._qtbot.waitUntil(
            lambda: count == 1 or (all(mark.exists() for mark in marks) and ready.exists()),
            timeout=20_000,
        )

    def shown_after(self, kill):
        """Kills, and gives the status that the window shows then, and how long it took."""
        begun_s = time.monotonic()
        kill()
        self._qtbot.waitUntil(lambda: self.watch.status.has_ended, timeout=20_000)
        return self.watch.status, time.monotonic() - begun_s

    def pids(self):
        events = RunFollower(self.layout).poll().events
        return [event.pid for event in events if isinstance(event, TrainerStarted)]

    def close(self):
        self.watch.stop()
        self.supervisor.kill()
        self.supervisor.wait()
        for process in processes_of(self.layout):
            process.kill()
        await_end_of_processes(self.layout, 10.0)


@pytest.fixture
def watched(qtbot, runs_dir):
    runs = []

    def start(profile, mode):
        runs.append(_WatchedRun(qtbot, runs_dir, profile, mode))
        return runs[-1]

    yield start
    for run in runs:
        run.close()


def test_that_a_killed_trainer_is_shown_lost_at_once(qtbot, watched):
    run = watched(ALONE, "hang_in_a_step")
    qtbot.waitUntil(lambda: run.watch.status.step == 10, timeout=20_000)
    status, took_s = run.shown_after(psutil.Process(run.pids()[0]).kill)
    assert status.outcome is Outcome.LOST
    assert status.ending_problem is not None
    assert "SIGKILL (signal 9)" in status.ending_problem.message
    assert status.log_tail == ("the fake trainer says hang_in_a_step",)
    assert took_s < SOON_S


# Which one it is, tests/unit/runs/supervision/test_deaths.py sees, too.
@pytest.mark.parametrize("place", [pytest.param(0, marks=pytest.mark.slow), 1])
def test_that_a_killed_process_of_a_gang_is_shown_at_once(watched, place):
    run = watched(GANG, "wait,wait")
    run.wait_for_trainers(2)
    status, took_s = run.shown_after(psutil.Process(run.pids()[place]).kill)
    assert status.outcome is Outcome.LOST
    assert status.ending_problem is not None
    assert f"Worker {place} was killed by SIGKILL" in status.ending_problem.message
    assert took_s < SOON_S


def test_that_a_killed_supervisor_is_shown_at_once(qtbot, watched):
    run = watched(ALONE, "hang_in_a_step")
    qtbot.waitUntil(lambda: run.watch.status.step == 10, timeout=20_000)
    status, took_s = run.shown_after(run.supervisor.kill)
    assert status.outcome is Outcome.LOST
    assert status.ending_problem is not None
    assert status.ending_problem.code == "supervisor_lost"
    assert took_s < SOON_S


def test_that_what_the_trainer_saves_then_is_shown_too(qtbot, watched):
    run = watched(ALONE, "save_when_alone")
    qtbot.waitUntil(lambda: run.watch.status.step == 10, timeout=20_000)
    run.shown_after(run.supervisor.kill)
    qtbot.waitUntil(lambda: run.watch.status.checkpoint is not None, timeout=20_000)
    assert run.watch.status.checkpoint.step == 10
    assert run.watch.status.has_ended


@pytest.mark.long
def test_that_a_frozen_supervisor_without_its_trainer_is_shown(qtbot, watched):
    run = watched(ALONE, "hang_in_a_step")
    qtbot.waitUntil(lambda: run.watch.status.step == 10, timeout=20_000)
    run.supervisor.send_signal(signal.SIGSTOP)
    psutil.Process(run.pids()[0]).kill()
    qtbot.waitUntil(lambda: run.watch.status.stuck is not None, timeout=15_000)
    status = run.watch.status
    assert status.stuck.code == "supervisor_frozen"
    assert problem_to_show(status) is status.stuck
    assert state_text(RunState.RUNNING, status, Preparation()) == status_text(status) == "Frozen"
    _, took_s = run.shown_after(lambda: run.supervisor.send_signal(signal.SIGCONT))
    assert took_s < SOON_S
    assert run.watch.status.stuck is None
    assert run.watch.status.ending_problem.code == "trainer_killed"
