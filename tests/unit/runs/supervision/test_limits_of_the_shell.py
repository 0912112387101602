"""Processes of a run that a limit of the shell has ended: the limit is named, and not memory."""

import signal

import pytest

from gpupanel.runs.supervision import problems
from gpupanel.runs.supervision.exit_reading import ObservedProcess, RunResult, read_failure
from gpupanel.runs.supervision.problems import LIMITED

NO_THREAD = (
    "F0000 19134 env.cc:84] Thread tf_numa_-1_Eigen creation via pthread_create() failed.",
    "*** Check failure stack trace: ***",
)


def result(exit_code: int, processor_s: float = 0.0, log: tuple[str, ...] = ()) -> RunResult:
    process = ObservedProcess(0, "the trainer", exit_code, processor_s=processor_s)
    found = read_failure([process], {0: log}, is_late=True)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("number", "used_s"), [(signal.SIGXCPU, 0.0), (signal.SIGKILL, 58.5), (signal.SIGKILL, 61.0)]
)
def test_that_used_up_processor_time_is_named(
    number: int, used_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(problems, "processor_time_limit", lambda: 60)
    problem = result(-number, used_s).problem
    assert problem is not None
    assert problem.code == "processor_time_limited"
    assert "60 s (ulimit -t)" in problem.message
    assert "memory" not in problem.message + problem.hint


@pytest.mark.parametrize(("limit_s", "used_s"), [(60, 20.0), (None, 61.0)])
def test_that_a_process_that_was_killed_before_is_not_said_to_have_used_it(
    limit_s: int | None, used_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(problems, "processor_time_limit", lambda: limit_s)
    problem = result(-signal.SIGKILL, used_s).problem
    assert problem is not None
    assert problem.code == "trainer_killed"


def test_that_a_refused_thread_is_named_and_no_abort_of_a_peer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(problems, "process_count_limit", lambda: 512)
    problem = result(-signal.SIGABRT, log=NO_THREAD).problem
    assert problem is not None
    assert problem.code == "process_count_limited"
    assert "512 (ulimit -u)" in problem.message
    peers = [
        ObservedProcess(0, "worker 0", -signal.SIGABRT),
        ObservedProcess(1, "worker 1", -signal.SIGABRT),
    ]
    first = read_failure(peers, {0: (), 1: NO_THREAD}, is_late=True)
    assert first is not None
    assert first.place == 1
    assert {"processor_time_limited", "process_count_limited"} == LIMITED
