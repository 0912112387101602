"""Why a queue's scheduler cannot work, for whoever lists the queue: it has no window of its own."""

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.value import Value
from gpupanel.domain.visible_text import visible_beginning, visible_line
from gpupanel.files.guarded_files import read_file
from gpupanel.files.whole_files import write_whole
from gpupanel.runs.directory.tails import last_lines
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.queue.waiting_line import WaitingLine
from gpupanel.runs.queue.waking import STARTS, scheduler_lives, scheduler_log

_FILE: Final = "scheduler-trouble.json"
_MOST_BYTES: Final = 2**18
_NAMED: Final = 3
_FULL_BYTES: Final = 2**20
ENDED: Final = "scheduler: nothing is left to do"
"""The last line of a scheduler that did its work."""


class SchedulerTrouble(Value):
    """The file beside the queue; it is gone as soon as a scheduler works.

    Attributes:
        time_s: Seconds since the epoch (UTC).
        problems: What keeps it from working.
    """

    time_s: float
    problems: tuple[Problem, ...]


def note_trouble(folder: Path, problems: tuple[Problem, ...]) -> None:
    """Keep what keeps the scheduler of the queue in that folder from working."""
    trouble = SchedulerTrouble(time_s=time.time(), problems=problems)
    # Where even that cannot be written, the log and the disk itself say why.
    with suppress(OSError):
        write_whole(folder / _FILE, trouble.model_dump_json(), private=True)


def forget_trouble(folder: Path) -> None:
    """The scheduler works."""
    with suppress(OSError):
        (folder / _FILE).unlink(missing_ok=True)


def queue_problems(files: QueueFiles, line: WaitingLine) -> tuple[Problem, ...]:
    """What keeps the queue from working now, and what lies in its folder that is not its own.

    Args:
        files: The queue.
        line: As it is now.
    """
    stray = files.stray_entries()
    about_stray = (_stray(files.folder, stray),) if stray else ()
    return (*(_trouble(files.folder) if line.needs_scheduler else ()), *about_stray)


def _trouble(folder: Path) -> tuple[Problem, ...]:
    noted = _noted(folder)
    if noted:
        return noted
    full = _full(folder)
    if full is not None:
        return (full,)
    lines = _last_lines(folder)
    if not lines or lines[-1].startswith(ENDED) or scheduler_lives(folder):
        return ()
    return (_ended(folder, lines),)


def _last_lines(folder: Path) -> list[str]:
    """What the last scheduler has said; one that has just begun, or was killed, nothing."""
    try:
        lines = [line for line in last_lines(scheduler_log(folder)) if line.strip()]
    except OSError:
        return []
    while STARTS in lines:
        lines = lines[lines.index(STARTS) + 1 :]
    return lines


def _noted(folder: Path) -> tuple[Problem, ...]:
    try:
        text = read_file(folder / _FILE, most_bytes=_MOST_BYTES)
        return SchedulerTrouble.model_validate_json(text).problems
    except (OSError, ValidationError):
        return ()


def _full(folder: Path) -> Problem | None:
    try:
        found = os.statvfs(folder)
    except OSError:
        return None
    if found.f_bavail * found.f_frsize > _FULL_BYTES:
        return None
    return Problem(
        code="no_space",
        message=f"No space is left on the disk that holds the queue, {folder}: nothing of it can "
        "be started.",
        hint="Free some space: waiting runs then start by themselves.",
    )


def _ended(folder: Path, lines: list[str]) -> Problem:
    last = visible_beginning(lines[-1].removeprefix("scheduler: "))
    return Problem(
        code="scheduler_ended",
        message=f"The scheduler of the queue ended before its work was done: {last}",
        hint='It is started again whenever the queue is listed. Where it ends again, "gpupanel '
        f'doctor" may show why; its log is {visible_line(str(scheduler_log(folder)))}.',
        detail="\n".join(lines),
    )


def _stray(folder: Path, names: tuple[str, ...]) -> Problem:
    shown = ", ".join(visible_line(name) for name in names[:_NAMED])
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return Problem(
        code="queue_stray_files",
        severity=Severity.WARNING,
        message=f"In the queue's folder, {visible_line(str(folder))}, lies what is not the "
        f"queue's: {shown}{more}.",
        hint="It is left alone, and disturbs nothing. Move it away if you know what it is.",
    )
