"""A supervisor that was stopped (SIGSTOP): it holds its run's lock, but supervises nothing."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from gpupanel.domain.problem import Problem
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import status
from gpupanel.runs.processes.run_processes import processes_of

_SILENT_S = 5.0
"""A stop that is taken back within so long is no reason to say anything."""

_LOCKS = Path("/proc/locks")


def frozen_problem(layout: RunLayout) -> Problem | None:
    """The problem of a run whose trainers have ended while its supervisor was frozen.

    ``None``: it is not so, as on a machine that was asleep, or it is not known. As long as a
    trainer is there the run goes on, whatever its supervisor does.
    """
    pid = frozen_supervisor(layout)
    if pid is None or not _is_silent(layout) or processes_of(layout):
        return None
    return Problem(
        code="supervisor_frozen",
        message=f"The supervisor of {layout.name} (process {pid}) is frozen: it was stopped "
        "(SIGSTOP) and not continued. Its trainer has ended meanwhile, so the run has "
        "ended without a recorded outcome.",
        hint=f"Continue it with kill -CONT {pid}: it then records how the run ended. Stopping the "
        "run continues it, too.",
        command=f"kill -CONT {pid}",
    )


def frozen_supervisor(layout: RunLayout) -> int | None:
    """The process that holds the lock of the run, if it was stopped by a signal."""
    try:
        lock = status(layout.lock)
    except OSError:
        return None
    if lock is None:
        return None
    for pid in _holders(lock.st_ino):
        try:
            is_stopped = psutil.Process(pid).status() == psutil.STATUS_STOPPED
        except psutil.Error:
            continue
        if is_stopped and _has_open(pid, lock):
            return pid
    return None


def continue_frozen(layout: RunLayout) -> None:
    """Let a frozen supervisor go on, so that it hears what was asked of its run."""
    pid = frozen_supervisor(layout)
    if pid is None:
        return
    try:
        os.kill(pid, signal.SIGCONT)
    except OSError:
        return  # it has ended just now, or is another user's


def _holders(inode: int) -> Iterator[int]:
    """Processes that hold a lock on a file of that number, on whatever disk.

    A line of /proc/locks (proc_locks(5)): number, kind, how strict, what for, process, disk and
    file. One that waits for a lock has an arrow before its kind.
    """
    try:
        lines = _LOCKS.read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        return
    for line in lines:
        fields = line.split()
        is_held = len(fields) >= 6 and fields[1] != "->"
        if is_held and fields[5].rpartition(":")[2] == str(inode):
            pid = int(fields[4])
            if pid > 0:  # else it is beyond this container
                yield pid


def _has_open(pid: int, file: os.stat_result) -> bool:
    try:
        return any(
            os.path.samestat(each.stat(), file) for each in Path(f"/proc/{pid}/fd").iterdir()
        )
    except OSError:
        return False


def _is_silent(layout: RunLayout) -> bool:
    """Whether the supervisor, which writes what the devices do, has not written for a while."""
    written_s = []
    for file in (layout.events, layout.telemetry):
        try:
            written_s.append(file.stat().st_mtime)
        except OSError:
            continue  # not written yet
    # Whichever way the clock was set since.
    return not any(abs(time.time() - each) < _SILENT_S for each in written_s)
