"""Starting a run where the system starts no process: nothing is left that looks like a run."""

import errno
import os
import subprocess
import threading
from pathlib import Path

import pytest

from gpupanel.domain.outcome import Outcome
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.planning.prepare import prepare
from gpupanel.runs import detached, launcher
from gpupanel.runs.error_problems import problems_of, process_problem
from gpupanel.runs.history.summaries import list_runs, summarize_run
from gpupanel.runs.launcher import launch, resume
from gpupanel.runs.queue import orders
from gpupanel.runs.queue.queue_files import QueueFiles
from tests.fakes.devices import CPU_ONLY
from tests.fakes.run_directory import WrittenRun

NO_PROCESS = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)


@pytest.fixture
def plan() -> LaunchPlan:
    found = prepare(Profile(), CPU_ONLY).plan
    assert found is not None
    return found


def refuse_processes(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Let fork(2) answer with that."""

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(subprocess, "Popen", fail)


@pytest.mark.parametrize("number", NO_PROCESS)
def test_that_a_run_whose_supervisor_cannot_be_started_leaves_a_sentence_and_no_folder(
    runs_dir: Path, plan: LaunchPlan, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    refuse_processes(monkeypatch, OSError(number, os.strerror(number)))
    with pytest.raises(ProblemError, match="cannot start another process") as caught:
        launch(Profile(), plan, runs_dir)
    assert caught.value.problems[0].code == "process_not_started"
    assert caught.value.problems[0].hint
    assert list(runs_dir.iterdir()) == []
    assert list_runs(runs_dir) == ()


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("what nobody foresaw")])
def test_that_what_nobody_foresaw_leaves_no_folder_either(
    runs_dir: Path, plan: LaunchPlan, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    refuse_processes(monkeypatch, error)
    with pytest.raises(type(error)):
        launch(Profile(), plan, runs_dir)
    assert list(runs_dir.iterdir()) == []


def test_that_a_run_that_cannot_be_filled_leaves_no_folder(
    runs_dir: Path, plan: LaunchPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(launcher, "keep_code", fail)
    with pytest.raises(ProblemError, match="no space left"):
        launch(Profile(), plan, runs_dir)
    assert list(runs_dir.iterdir()) == []


@pytest.mark.parametrize("error", [OSError(errno.EAGAIN, "no more"), MemoryError()])
def test_that_a_resume_that_cannot_start_leaves_the_run_as_it_was(
    runs_dir: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    problem = Problem(code="killed", message="It was killed.")
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.step()
        run.end(Outcome.FAILED, problem)
    (run.layout.checkpoints / "step-000000001").mkdir(parents=True)
    before = summarize_run(run.layout)
    refuse_processes(monkeypatch, error)
    with pytest.raises((ProblemError, MemoryError)):
        resume(run.layout)
    after = summarize_run(run.layout)
    assert not after.is_running
    assert after.model_copy(update={"ended_s": before.ended_s}) == before
    assert after.problem == problem


def test_that_a_process_that_was_started_counts_though_no_thread_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    started: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def start(*arguments: object, **named: object) -> subprocess.Popen[bytes]:
        started.append(popen(*arguments, **named))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", start)
    monkeypatch.setattr(detached.threading.Thread, "start", fail)
    detached.start_detached(("true",), tmp_path / "log", "a process")
    assert started[0].wait(10.0) == 0


def test_that_an_entry_whose_scheduler_cannot_be_started_waits_and_that_is_said(
    runs_dir: Path, state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse_processes(monkeypatch, BlockingIOError(errno.EAGAIN, "no more"))
    files = QueueFiles(state_dir / "queue")
    with pytest.raises(ProblemError, match="cannot start another process") as caught:
        orders.add(files, Profile(name="later"), runs_dir)
    assert "`gpupanel queue` starts what waits" in caught.value.problems[0].hint
    assert [entry.name for entry in files.read().waiting] == ["later"]


def test_that_an_error_of_the_disk_is_reported_as_one() -> None:
    assert process_problem(OSError(errno.ENOSPC, "full"), Path("runs")).code == "no_space"
    (problem,) = problems_of(PermissionError(errno.EACCES, "no", "/root/x"))
    assert (problem.code, "/root/x" in problem.message) == ("not_permitted", True)
    (problem,) = problems_of(PermissionError(errno.EACCES, "no", b"/root/x"))
    assert "/root/x" in problem.message


def refuse() -> None:
    raise MemoryError


def test_that_every_error_is_reported_with_what_stands_behind_it() -> None:
    own = Problem(code="own", message="A sentence.")
    assert problems_of(ProblemError(own)) == (own,)
    assert problems_of(OSError(errno.EAGAIN, "no more"))[0].code == "process_not_started"
    with pytest.raises(MemoryError) as caught:
        refuse()
    (problem,) = problems_of(caught.value)
    assert problem.code == "unexpected_error"
    assert "MemoryError" in problem.message
    assert "test_launching.py" in problem.detail
