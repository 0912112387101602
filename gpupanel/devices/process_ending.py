"""Ending a process of one's own that holds memory of a GPU.

Never by its pid alone, since a pid may be given out again; never the window itself, and no process
of a run that goes on: those are stopped through their run, which saves what it has.
"""

import os
from collections.abc import Callable
from typing import Final

import psutil

from gpupanel.devices.gpus.processes import ProcessNames
from gpupanel.devices.nvml import GpuProcess
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.process_environment import SUPERVISOR_PID_VARIABLE
from gpupanel.domain.telemetry import DeviceProcess

_SAME_START_S: Final = 2.0
"""The host counts from its boot, the time of which moves a little as its clock is set."""


def as_it_is_now(pid: int) -> DeviceProcess:
    """Who has that pid now, whatever it does; without a beginning where nobody has."""
    return ProcessNames(is_here=lambda _: True).named(GpuProcess(pid, None))


def end_process(
    process: DeviceProcess,
    run_processes: frozenset[int],
    *,
    by_force: bool = False,
    find: Callable[[int], DeviceProcess] = as_it_is_now,
) -> None:
    """Ask a process to end (SIGTERM), or end it by force (SIGKILL); nothing if it has ended.

    Args:
        process: As it was listed.
        run_processes: The pids of a run that goes on.
        by_force: It was asked before and did not end.
        find: Finds who has a pid now.

    Raises:
        ProblemError: It must not be ended from here, or cannot be; nothing was done.
    """
    try:
        found = psutil.Process(process.pid)
    except psutil.NoSuchProcess:
        return
    refusal = _refusal(process, found, run_processes, find(process.pid))
    if refusal is not None:
        raise ProblemError(refusal)
    try:
        # psutil checks once more that it is still the same process.
        found.kill() if by_force else found.terminate()
    except psutil.NoSuchProcess:
        return
    except psutil.AccessDenied as error:
        raise ProblemError(_not_permitted(process)) from error


def _refusal(
    process: DeviceProcess, found: psutil.Process, run_processes: frozenset[int], now: DeviceProcess
) -> Problem | None:
    if process.pid == os.getpid():
        return _problem(
            "process_is_this_one",
            f"Process {process.pid} is gpupanel itself.",
            "Close its window instead.",
        )
    if not _is_same(process, now):
        return _problem(
            "process_is_another",
            f"The process that was listed as {process.pid} has ended, or cannot be distinguished "
            "from another one that has its number now.",
            "Check the list again: nothing was ended.",
        )
    if not now.is_mine:
        return _problem(
            "process_of_somebody_else",
            f"{_name(process)} belongs to {now.user or 'another user'}.",
            "Ask them to end it; only they, or an administrator, can.",
        )
    if _is_of_a_run(found, run_processes):
        return _problem(
            "process_of_a_run",
            f"{_name(process)} belongs to a run that is in progress.",
            "Stop the run: it saves what it has and ends its processes.",
        )
    return None


def _is_same(listed: DeviceProcess, now: DeviceProcess) -> bool:
    if listed.started_s is None or now.started_s is None:
        return False
    return abs(listed.started_s - now.started_s) < _SAME_START_S


def _is_of_a_run(process: psutil.Process, run_processes: frozenset[int]) -> bool:
    try:
        family = {process.pid, *(parent.pid for parent in process.parents())}
        if family & run_processes:
            return True
        supervisor = psutil.Process(int(process.environ().get(SUPERVISOR_PID_VARIABLE, "")))
        # A supervisor is older than what it started: who is not has only got its number.
        is_older = supervisor.create_time() <= process.create_time()
        return is_older and supervisor.status() != psutil.STATUS_ZOMBIE
    except (psutil.Error, ValueError):
        return False  # it was not started by a supervisor, or that has ended


def _not_permitted(process: DeviceProcess) -> Problem:
    return _problem(
        "process_not_endable",
        f"The system does not let you end {_name(process)}.",
        "It may have been started with other rights than yours: ask an administrator.",
    )


def _name(process: DeviceProcess) -> str:
    return f"{process.name or 'The program'} (process {process.pid})"


def _problem(code: str, message: str, hint: str) -> Problem:
    return Problem(code=code, message=message, hint=hint)
