"""A supervisor that is frozen while its trainer has ended: it is told, and it can go on."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from gpupanel.cli.run_watcher import watch_to_its_end
from gpupanel.cli.verbs.runs import runs as list_in_terminal
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.request import Request
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.history.run_text import run_outcome_text
from gpupanel.runs.history.summaries import summarize_run
from gpupanel.runs.processes.frozen_supervisor import frozen_problem
from gpupanel.runs.resumable import resume_problem
from tests.unit.runs.supervision.test_deaths import SupervisedRun, until

TOLD_WITHIN_S = 15.0
HOLD = """
import fcntl, sys
lock = open(sys.argv[1], "w")
fcntl.flock(lock, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def run(runs_dir: Path) -> Iterator[SupervisedRun]:
    run = SupervisedRun(runs_dir)
    run.start("hang_in_a_step")
    until(lambda: run.has(b"steps_done"))
    yield run
    run.close()


def freeze(run: SupervisedRun) -> int:
    """Stop the supervisor; gives its process."""
    assert run.supervisor is not None
    pid = run.supervisor.pid
    os.kill(pid, signal.SIGSTOP)
    until(lambda: psutil.Process(pid).status() == psutil.STATUS_STOPPED)
    return pid


def kill_trainer(run: SupervisedRun) -> None:
    (trainer,) = run.started()
    psutil.Process(trainer.pid).kill()


def make_silent(run: SupervisedRun) -> None:
    """As if nothing had been written for a minute."""
    a_minute_ago_s = time.time() - 60.0
    for file in (run.layout.events, run.layout.telemetry):
        if file.exists():
            os.utime(file, (a_minute_ago_s, a_minute_ago_s))


def test_that_a_frozen_supervisor_without_its_trainer_is_reported_and_heard_again(
    run: SupervisedRun, capsys: pytest.CaptureFixture[str]
) -> None:
    watched = []
    watching = threading.Thread(
        target=lambda: watched.append(watch_to_its_end(run.layout, 1, ctrl_c_stops=False))
    )
    pid = freeze(run)
    kill_trainer(run)
    watching.start()
    said = []
    try:
        took_s = until(lambda: summarize_run(run.layout).problem is not None)
        until(lambda: said.append(capsys.readouterr().err) or "is frozen" in "".join(said), 5.0)
        list_in_terminal(run.layout.root.parent)
        listed = capsys.readouterr()
        summary = summarize_run(run.layout)
        refusal = resume_problem(run.layout)
        ask(run.layout, Request.STOP)
        until(run.end)
    finally:
        os.kill(pid, signal.SIGCONT)
        watching.join(10.0)

    assert took_s < TOLD_WITHIN_S
    assert summary.problem is not None
    assert summary.problem.code == "supervisor_frozen"
    assert summary.problem.command == f"kill -CONT {pid}"
    assert (summary.is_running, summary.outcome) == (True, None)
    assert run_outcome_text(summary) == "frozen"
    assert refusal == summary.problem
    assert "frozen" in listed.out
    assert re.sub(r"\s+", " ", summary.problem.message) in re.sub(r"\s+", " ", listed.err)
    assert [status.outcome for status in watched] == [Outcome.LOST]
    end = summarize_run(run.layout)
    assert (end.is_running, end.outcome) == (False, Outcome.LOST)
    assert end.problem is not None
    assert end.problem.code == "trainer_killed"


def test_that_a_frozen_supervisor_whose_trainer_goes_on_is_no_reason_to_say_anything(
    run: SupervisedRun,
) -> None:
    freeze(run)
    make_silent(run)
    summary = summarize_run(run.layout)
    assert (summary.is_running, summary.problem) == (True, None)


def test_that_only_a_stopped_process_that_holds_the_lock_is_taken_for_frozen(
    runs_dir: Path,
) -> None:
    run = SupervisedRun(runs_dir)
    run.layout.events.write_bytes(b"")
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, run.layout.lock], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        make_silent(run)
        # A machine that was asleep: nobody has written for long, but nobody was stopped.
        assert frozen_problem(run.layout) is None
        os.kill(holder.pid, signal.SIGSTOP)
        until(lambda: psutil.Process(holder.pid).status() == psutil.STATUS_STOPPED)
        assert frozen_problem(run.layout) is not None
        # Just stopped: it may be taken back at once.
        run.layout.events.touch()
        assert frozen_problem(run.layout) is None
        make_silent(run)
        holder.kill()
        holder.wait()
        assert frozen_problem(run.layout) is None
