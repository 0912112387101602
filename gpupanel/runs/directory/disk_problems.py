"""What the operating system says when a file cannot be written or read, as problems."""

import os
from pathlib import Path

from gpupanel.domain.number_text import mebibytes
from gpupanel.domain.problem import Problem
from gpupanel.domain.unsafe_files import unsafe_file
from gpupanel.files.file_obstacles import file_obstacle, nearest
from gpupanel.files.guarded_files import UnsafeFileError
from gpupanel.files.process_limits import file_size_limit
from gpupanel.files.regular_files import NotRegularFileError
from gpupanel.files.user_folders import HomeUnknownError

LEAST_FREE_FILES = 64
"""A run has some thirty files and folders, checkpoints included."""
LEAST_FREE_MIB = 64
"""Below this a run is not started: events, telemetry and a small model would not fit."""


def disk_problem(error: OSError, path: Path) -> Problem:
    """The problem that an error of the operating system means for that file or folder."""
    # It is all in the message.
    detail = "" if isinstance(error, HomeUnknownError) else str(error)
    if isinstance(error, UnsafeFileError):
        return unsafe_file(str(error.path), error.found)
    if isinstance(error, NotRegularFileError):
        return Problem(
            code="not_a_regular_file",
            message=f"{error.path} is {error.found}, not a regular file: it is neither read nor "
            "replaced.",
            hint="Choose another file.",
        )
    obstacle = file_obstacle(error, path)
    if obstacle is not None:
        return Problem(
            code=obstacle.code,
            message=obstacle.message,
            hint=obstacle.hint,
            detail=detail,
        )
    return Problem(
        code="disk_error",
        message=f"{path} could not be used: {error.strerror or error}.",
        hint="Check the disk and the path, then try again.",
        detail=detail,
    )


def space_problem(folder: Path) -> Problem | None:
    """Too little free space to start a run in that folder, or ``None``; it need not be there.

    Raises:
        OSError: Its disk does not answer.
    """
    limit = file_size_limit()
    if limit is not None and limit < LEAST_FREE_MIB * 2**20:
        return Problem(
            code="file_size_limited",
            message=f"No file that is written from here may have more than {limit:,} bytes "
            f"(ulimit -f); a run needs at least {LEAST_FREE_MIB} MiB for its events and its model.",
            hint="Start from a shell without that limit: ulimit -f unlimited.",
        )
    found = os.statvfs(nearest(folder))
    # None at all is decided by making one: some file systems of networks count none.
    if found.f_files and 0 < found.f_favail < LEAST_FREE_FILES:
        return Problem(
            code="no_inodes",
            message=f"The disk that holds {folder} can hold only {found.f_favail:,} more files "
            f"(inodes), whatever space is free; a run needs at least {LEAST_FREE_FILES}.",
            hint="Delete files that are not needed, many small ones above all, or choose another "
            "folder of runs ($GPUPANEL_RUNS_DIR).",
        )
    free_mib = found.f_bavail * found.f_frsize // 2**20
    if free_mib >= LEAST_FREE_MIB:
        return None
    return Problem(
        code="no_space",
        message=f"Only {mebibytes(free_mib)} are free on the disk that holds {folder}; a run needs "
        f"at least {mebibytes(LEAST_FREE_MIB)}.",
        hint="Free some space, or choose another folder of runs ($GPUPANEL_RUNS_DIR).",
    )
