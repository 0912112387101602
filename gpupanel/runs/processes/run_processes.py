"""The processes of a run, wherever they have gone: found by what they were started with.

A process group holds what the trainer started, but not what went into a session of its own; and
after a supervisor that was killed nobody holds anything. The environment stays with all of them.
"""

import os
import time

import psutil

from gpupanel.domain.process_environment import RUN_VARIABLE
from gpupanel.domain.run_layout import RunLayout

_KILL_S = 5.0
"""The longest time that a killed process is waited for: one that waits for a disk may take so
long, and nothing can hurry it."""

_POLL_S = 0.1


def run_name(layout: RunLayout) -> str:
    """What the processes of a run have in their environment, by whatever path it is reached."""
    return str(layout.root.resolve())


def processes_of(layout: RunLayout) -> list[psutil.Process]:
    """Every process that was started for that run, or by one that was, and has not ended."""
    name = run_name(layout)
    found = []
    for process in psutil.process_iter():
        try:
            is_of_it = process.environ().get(RUN_VARIABLE) == name
            if is_of_it and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.Error, OSError):
            continue  # it has just gone, or is nobody's business
    return [process for process in found if process.pid != os.getpid()]


def end_processes_of(layout: RunLayout) -> None:
    """Kill every process of the run that is left, and what it starts meanwhile."""
    end_s = time.monotonic() + _KILL_S
    while (left := processes_of(layout)) and time.monotonic() < end_s:
        for process in left:
            try:
                process.kill()
            except psutil.Error:
                continue  # it has ended by itself
        psutil.wait_procs(left, timeout=max(0.0, end_s - time.monotonic()))


def await_end_of_processes(layout: RunLayout, patience_s: float) -> bool:
    """Wait for the run's processes to end by themselves, as those do whose supervisor is gone.

    Returns:
        Whether none is left.
    """
    end_s = time.monotonic() + patience_s
    while processes_of(layout):
        if time.monotonic() > end_s:
            return False
        time.sleep(_POLL_S)
    return True
