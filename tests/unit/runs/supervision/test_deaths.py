"""Whatever dies: it is told in time, nothing of the run is left, and it can go on."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from gpupanel.domain.events import (
    RunEnded,
    RunRestarted,
    RunStarted,
    TrainerStarted,
    UnknownEvent,
    encode_event,
)
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.planning.prepare import prepare
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.history.summaries import summarize_run
from gpupanel.runs.launcher import create_run
from gpupanel.runs.processes.run_processes import await_end_of_processes, processes_of
from gpupanel.runs.resumable import resume_problem
from tests.fakes.devices import CPU_ONLY

SUPERVISE = Path(__file__).parents[3] / "fakes" / "supervise.py"
GANG = Profile(strategy=StrategySettings(kind=StrategyKind.MULTI_WORKER, workers=2))


class SupervisedRun:
    """A run with a supervisor in a process of its own."""

    def __init__(self, runs_dir: Path, profile: Profile | None = None) -> None:
        profile = profile or Profile()
        plan = prepare(profile, CPU_ONLY).plan
        assert plan is not None
        self.layout = create_run(profile, plan, runs_dir)
        self.supervisor: subprocess.Popen[bytes] | None = None

    def start(self, mode: str) -> None:
        self.supervisor = subprocess.Popen([sys.executable, SUPERVISE, mode, self.layout.root])

    def kill_supervisor(self) -> None:
        assert self.supervisor is not None
        self.supervisor.kill()
        self.supervisor.wait()

    def events(self) -> tuple[object, ...]:
        return RunFollower(self.layout).poll().events

    def started(self) -> list[TrainerStarted]:
        return [event for event in self.events() if isinstance(event, TrainerStarted)]

    def end(self) -> RunEnded | None:
        last = self.events()[-1]
        return last if isinstance(last, RunEnded) else None

    def has(self, word: bytes) -> bool:
        return self.layout.events.exists() and word in self.layout.events.read_bytes()

    def close(self) -> None:
        if self.supervisor is not None:
            self.supervisor.kill()
            self.supervisor.wait()
        for process in processes_of(self.layout):
            process.kill()
        await_end_of_processes(self.layout, 10.0)


@pytest.fixture
def run(runs_dir: Path) -> Iterator[SupervisedRun]:
    run = SupervisedRun(runs_dir)
    yield run
    run.close()


@pytest.fixture
def gang(runs_dir: Path) -> Iterator[SupervisedRun]:
    run = SupervisedRun(runs_dir, GANG)
    yield run
    run.close()


def until(is_so: Callable[[], object], timeout_s: float = 30.0) -> float:
    """Waits for it; gives how long that took."""
    begun_s = time.monotonic()
    while not is_so():
        assert time.monotonic() - begun_s < timeout_s, "it did not come to that"
        time.sleep(0.01)
    return time.monotonic() - begun_s


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
def test_that_a_killed_trainer_is_reported_with_its_signal_and_log_within_2_s(
    run: SupervisedRun, number: signal.Signals
) -> None:
    run.start("hang_in_a_step")
    until(lambda: run.has(b"steps_done"))
    psutil.Process(run.started()[0].pid).send_signal(number)
    assert until(run.end) < 2.0
    end = run.end()
    assert end is not None
    assert (end.outcome, end.exit_code) == (Outcome.LOST, -number)
    assert end.problem is not None
    assert number.name in end.problem.message
    assert end.log_tail == ("the fake trainer says hang_in_a_step",)
    assert not processes_of(run.layout)


@pytest.mark.parametrize(
    ("place", "number"),
    [
        (0, signal.SIGKILL),
        (1, signal.SIGABRT),
        pytest.param(0, signal.SIGABRT, marks=pytest.mark.slow),
        pytest.param(1, signal.SIGKILL, marks=pytest.mark.slow),
    ],
)
def test_that_a_killed_process_of_a_gang_is_reported_within_2_s(
    gang: SupervisedRun, number: signal.Signals, place: int
) -> None:
    gang.start("wait,wait")
    until(lambda: (gang.layout.root / "begun-1").exists() and len(gang.started()) == 2)
    psutil.Process(gang.started()[place].pid).send_signal(number)
    assert until(gang.end) < 2.0
    end = gang.end()
    assert end is not None
    assert end.problem is not None
    assert (end.outcome, end.exit_code) == (Outcome.LOST, -number)
    assert f"Worker {place} was killed by {number.name}" in end.problem.message
    assert not processes_of(gang.layout)


def test_that_a_killed_supervisor_is_seen_within_2_s_and_its_trainer_saves_and_ends(
    run: SupervisedRun,
) -> None:
    run.start("save_when_alone")
    until(lambda: run.has(b"steps_done"))
    run.kill_supervisor()
    assert until(lambda: not summarize_run(run.layout).is_running) < 2.0
    assert until(lambda: not processes_of(run.layout)) < 5.0
    assert summarize_run(run.layout).outcome is Outcome.STOPPED
    assert resume_problem(run.layout) is None


def test_that_a_supervisor_killed_just_after_it_was_started_again_is_seen_too(
    run: SupervisedRun,
) -> None:
    restarted = RunRestarted(time_s=time.time(), attempt=0)
    run.layout.events.write_text(encode_event(restarted) + "\n")
    assert summarize_run(run.layout).is_running
    run.start("hang_in_a_step")
    until(lambda: run.has(b"steps_done"))
    run.kill_supervisor()
    # 10 s after a start a supervisor may not have come yet: this one had.
    assert until(lambda: not summarize_run(run.layout).is_running) < 2.0
    assert summarize_run(run.layout).outcome is Outcome.LOST


def test_that_what_a_killed_supervisor_left_hanging_is_ended_by_the_next_one(
    run: SupervisedRun,
) -> None:
    run.start("ignore_sigterm")
    until(lambda: run.has(b"steps_done"))
    left = run.started()[0].pid
    run.kill_supervisor()
    assert [process.pid for process in processes_of(run.layout)] == [left]
    with run.layout.events.open("ab") as events:
        events.write(b'{"kind":"run_restarted","time_s":1.0,"attempt":0}\n')
    run.start("complete")
    until(run.end)
    end = run.end()
    assert end is not None
    assert end.outcome is Outcome.COMPLETED
    assert not psutil.pid_exists(left)


def test_that_a_grandchild_in_a_session_of_its_own_is_ended_with_the_run(
    run: SupervisedRun,
) -> None:
    run.start("leave_a_grandchild")
    until(lambda: len(processes_of(run.layout)) == 2)
    ask(run.layout, Request.END)
    until(run.end)
    assert not processes_of(run.layout)


def test_that_sigterm_of_the_supervisor_lets_the_trainer_save(run: SupervisedRun) -> None:
    run.start("wait_for_stop")
    until(lambda: run.has(b"steps_done"))
    assert run.supervisor is not None
    run.supervisor.send_signal(signal.SIGHUP)  # somebody logged out: nothing happens
    run.supervisor.terminate()
    run.supervisor.terminate()
    assert run.supervisor.wait(timeout=20) == 0
    end = run.end()
    assert end is not None
    assert (end.outcome, end.exit_code) == (Outcome.STOPPED, 0)


def test_that_a_signal_that_reaches_all_of_them_is_a_stop(run: SupervisedRun) -> None:
    run.start("hang_in_a_step")
    until(lambda: run.has(b"steps_done"))
    assert run.supervisor is not None
    run.supervisor.terminate()
    until(lambda: (run.layout.requests / Request.STOP).exists())
    psutil.Process(run.started()[0].pid).terminate()
    until(run.end)
    end = run.end()
    assert end is not None
    assert (end.outcome, end.exit_code, end.problem) == (Outcome.STOPPED, -signal.SIGTERM, None)


def test_that_a_trainer_killed_while_it_stops_is_lost(run: SupervisedRun) -> None:
    run.start("hang_in_a_step")
    until(lambda: run.has(b"steps_done"))
    ask(run.layout, Request.STOP)
    time.sleep(0.3)
    psutil.Process(run.started()[0].pid).kill()
    until(run.end)
    end = run.end()
    assert end is not None
    assert end.outcome is Outcome.LOST


def test_that_the_first_event_of_a_supervisor_is_not_glued_to_half_a_line(
    run: SupervisedRun,
) -> None:
    restarted = b'{"kind":"run_restarted","time_s":1.0,"attempt":0}\n{"kind":"steps_do'
    run.layout.events.write_bytes(restarted)
    run.start("complete")
    until(run.end)
    kinds = [type(event) for event in run.events()[1:4]]
    assert kinds == [UnknownEvent, RunStarted, TrainerStarted]
