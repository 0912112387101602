"""Seeing to it that a scheduler is there while something waits."""

import os
from pathlib import Path
from typing import Final

from filelock import FileLock

from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.problem import ProblemError
from gpupanel.files.guarded_files import open_to_append
from gpupanel.files.locks import is_lock_held, lock_in_folder
from gpupanel.files.process_log import write_to_process_log
from gpupanel.runs.detached import start_detached
from gpupanel.runs.error_problems import process_problem
from gpupanel.runs.locations import queue_dir
from gpupanel.runs.queue.queue_files import QueueFiles

STARTS: Final = "scheduler: starts"
"""A line of the log: what follows is of that scheduler."""
LOG_BYTES: Final = 256 * 1024
"""Of the scheduler's log, kept of what it says first and last; a longer one is begun anew."""


def scheduler_lock(folder: Path) -> FileLock:
    """The lock that the scheduler of the queue in that folder holds as long as it lives.

    Raises:
        OSError: As :func:`~gpupanel.files.locks.lock_in_folder`.
    """
    return lock_in_folder(_lock_file(folder))


def scheduler_lives(folder: Path) -> bool:
    """Whether the queue in that folder has a scheduler that lives."""
    return is_lock_held(_lock_file(folder))


def scheduler_log(folder: Path) -> Path:
    """What the schedulers of the queue in that folder have printed."""
    return folder / "scheduler.log"


def _lock_file(folder: Path) -> Path:
    return folder / "scheduler.lock"


def ensure_scheduler(files: QueueFiles) -> bool:
    """Start a scheduler if there is something to do for one and none is there; returns at once.

    Called by whoever adds to the queue or sees that it waits: so a scheduler that was killed
    comes back.

    Returns:
        Whether one was started.

    Raises:
        ProblemError: The queue cannot be read, or no process can be started.
    """
    if not files.read().needs_scheduler or scheduler_lives(files.folder):
        return False
    log = scheduler_log(files.folder)
    command = python_module_command("gpupanel.runs.scheduling.scheduler", str(files.folder))
    try:
        _note_start(log)
        start_detached(command, log, "scheduler of the queue")
    except OSError as error:
        raise ProblemError(process_problem(error, files.folder)) from error
    return True


def _note_start(log: Path) -> None:
    descriptor = open_to_append(log)
    try:
        if os.fstat(descriptor).st_size > LOG_BYTES:
            os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{STARTS}\n".encode())
    finally:
        os.close(descriptor)


def wake_scheduler() -> None:
    """See to the scheduler of the user's queue where nobody hears that it failed."""
    try:
        ensure_scheduler(QueueFiles(queue_dir()))
    except ProblemError as error:
        write_to_process_log(f"queue: {error}")
