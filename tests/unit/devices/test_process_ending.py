"""Real processes are ended, and those that must not be are left alone."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import psutil
import pytest

from gpupanel.devices.process_ending import as_it_is_now, end_process
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.process_environment import SUPERVISOR_PID_VARIABLE
from gpupanel.domain.telemetry import DeviceProcess

WAITS = "print('ready', flush=True); input()"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {WAITS}"
NO_RUN: frozenset[int] = frozenset()

Starter = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def start() -> Iterator[Starter]:
    """Starts Python programs, and sees that they are gone after the test."""
    started = []

    def begin(program: str, **environment: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **environment},
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def refusal_of(process: DeviceProcess, run: frozenset[int] = NO_RUN, **others: object) -> str:
    with pytest.raises(ProblemError) as refused:
        end_process(process, run, **others)  # type: ignore[arg-type]
    (problem,) = refused.value.problems
    assert problem.hint
    return problem.code


def test_that_a_process_of_ones_own_is_asked_to_end(start: Starter) -> None:
    process = start(WAITS)
    end_process(as_it_is_now(process.pid), NO_RUN)
    assert process.wait(timeout=5) == -signal.SIGTERM


def test_that_a_process_that_does_not_listen_is_ended_by_force(start: Starter) -> None:
    process = start(STUBBORN)
    listed = as_it_is_now(process.pid)
    end_process(listed, NO_RUN)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=0.3)
    end_process(listed, NO_RUN, by_force=True)
    assert process.wait(timeout=5) == -signal.SIGKILL


def test_that_a_process_that_has_ended_is_no_trouble(start: Starter) -> None:
    process = start(WAITS)
    listed = as_it_is_now(process.pid)
    process.communicate(b"\n")
    end_process(listed, NO_RUN)


@pytest.mark.parametrize("moved_s", [-3600.0, 3.0, None])
def test_that_a_pid_that_was_given_out_again_is_refused(
    start: Starter, moved_s: float | None
) -> None:
    process = start(WAITS)
    now = as_it_is_now(process.pid)
    assert now.started_s is not None
    started_s = None if moved_s is None else now.started_s + moved_s
    listed = now.model_copy(update={"started_s": started_s})
    assert refusal_of(listed) == "process_is_another"
    assert process.poll() is None


def test_that_a_process_of_another_user_is_refused(start: Starter) -> None:
    process = start(WAITS)

    def seen(pid: int) -> DeviceProcess:
        return as_it_is_now(pid).model_copy(update={"is_mine": False, "user": "ben"})

    assert refusal_of(as_it_is_now(process.pid), find=seen) == "process_of_somebody_else"
    assert process.poll() is None


@pytest.mark.skipif(os.getuid() != 0, reason="only root can start a process of another user")
def test_that_not_even_root_ends_a_process_of_another_user() -> None:
    with subprocess.Popen(["/bin/sleep", "60"], user=65534) as process:
        try:
            assert refusal_of(as_it_is_now(process.pid)) == "process_of_somebody_else"
            assert process.poll() is None
        finally:
            process.kill()


def test_that_the_window_itself_is_refused() -> None:
    assert refusal_of(as_it_is_now(os.getpid())) == "process_is_this_one"


def test_that_a_process_of_the_run_is_stopped_through_the_run(start: Starter) -> None:
    process = start(WAITS)
    listed = as_it_is_now(process.pid)
    assert refusal_of(listed, frozenset({process.pid})) == "process_of_a_run"
    # This process stands for a trainer that started the other one.
    assert refusal_of(listed, frozenset({os.getpid()}), by_force=True) == "process_of_a_run"
    assert process.poll() is None


def test_that_a_process_of_a_run_that_the_window_does_not_know_is_refused(start: Starter) -> None:
    supervisor = start(WAITS)
    trainer = start(WAITS, **{SUPERVISOR_PID_VARIABLE: str(supervisor.pid)})
    listed = as_it_is_now(trainer.pid)
    assert refusal_of(listed) == "process_of_a_run"
    supervisor.communicate(b"\n")
    end_process(listed, NO_RUN)
    assert trainer.wait(timeout=5) == -signal.SIGTERM


def test_that_a_run_is_over_when_a_younger_process_has_its_supervisors_number(
    start: Starter,
) -> None:
    # It is told its supervisor's number when somebody younger has that, and keeps its own age.
    told = "import os, sys; print('ready', flush=True); number = input(); "
    told += f"os.environ['{SUPERVISOR_PID_VARIABLE}'] = number; "
    told += f'os.execv(sys.executable, [sys.executable, "-c", "{WAITS}"])'
    orphan = start(told)
    time.sleep(0.05)  # the host counts in hundredths of a second
    younger = start(WAITS)
    assert orphan.stdin is not None
    assert orphan.stdout is not None
    orphan.stdin.write(f"{younger.pid}\n".encode())
    orphan.stdin.flush()
    assert orphan.stdout.readline() == b"ready\n"
    assert psutil.Process(orphan.pid).environ()[SUPERVISOR_PID_VARIABLE] == str(younger.pid)
    end_process(as_it_is_now(orphan.pid), NO_RUN)
    assert orphan.wait(timeout=5) == -signal.SIGTERM


def test_that_a_process_with_rights_of_its_own_is_reported(
    start: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = start(WAITS)

    def denied(found: psutil.Process) -> None:
        raise psutil.AccessDenied(found.pid)

    monkeypatch.setattr(psutil.Process, "terminate", denied)
    assert refusal_of(as_it_is_now(process.pid)) == "process_not_endable"
