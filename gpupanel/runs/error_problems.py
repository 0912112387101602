"""What an error that was not foreseen means for the person, as problems."""

import errno
import os
import traceback
from pathlib import Path

from gpupanel.devices.elsewhere import Elsewhere
from gpupanel.devices.start_refusal import spoiled_by
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.files.user_folders import HomeUnknownError
from gpupanel.runs.directory.disk_problems import disk_problem

_NO_PROCESS = {
    errno.EAGAIN: "as many processes run as this user may have",
    errno.ENOMEM: "the machine has no memory left for it",
    errno.EMFILE: "gpupanel has as many files open as it may have",
    errno.ENFILE: "as many files are open as the machine can have",
}
"""What fork(2) and pipe(2) say when there is no room for one more process."""


def process_problem(error: OSError, folder: Path) -> Problem:
    """Why a process could not be started that works in that folder and logs there.

    Args:
        error: What the operating system answered.
        folder: What the problem is about where the disk was in the way, and not the process.
    """
    why = _NO_PROCESS.get(error.errno or 0)
    if why is None:
        return disk_problem(error, folder)
    return Problem(
        code="process_not_started",
        message=f"The system cannot start another process: {why}.",
        hint="Close programs, or end processes that hang, then try again.",
        detail=str(error),
    )


def unexpected_problem(error: BaseException) -> Problem:
    """An error of which nobody knows what it means; its trace is the detail, to be reported."""
    return Problem(
        code="unexpected_error",
        message=f"An error occurred in gpupanel: {str(error) or type(error).__name__}.",
        hint="Runs are not affected. Try again; if it happens again, report the lines below.",
        detail="".join(traceback.format_exception(error)),
    )


def problems_of(error: Exception) -> tuple[Problem, ...]:
    """The problems of an error, whichever it is."""
    if isinstance(error, ProblemError) and error.problems:
        return error.problems
    if isinstance(error, HomeUnknownError):
        return (disk_problem(error, Path("~")),)
    if isinstance(error, OSError):
        if isinstance(error.filename, str | bytes | Path):
            name = error.filename
            path = Path(name.decode(errors="replace") if isinstance(name, bytes) else name)
            return (disk_problem(error, path),)
        if error.errno in _NO_PROCESS:
            return (process_problem(error, Path.cwd()),)
    spoiled = spoiled_by(error, os.environ)
    return (unexpected_problem(error) if spoiled is None else _spoiled(error, *spoiled),)


def _spoiled(error: Exception, spoiler: Elsewhere, names: tuple[str, ...]) -> Problem:
    """An error in a package of another environment, or of one that does not fit with it."""
    return Problem(
        code="environment_spoils_gpupanel",
        message=f"gpupanel cannot do this because of {spoiler.name}, which brings "
        f"{', '.join(names)}: {str(error) or type(error).__name__}.",
        hint="Start it without: the command does.",
        command=spoiler.command,
    )
