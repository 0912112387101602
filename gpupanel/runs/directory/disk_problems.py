"""What the operating system says when a file cannot be written or read, as problems."""

import errno
import shutil
from pathlib import Path

from gpupanel.domain.problem import Problem
from gpupanel.domain.unsafe_files import unsafe_file
from gpupanel.files.guarded_files import UnsafeFileError
from gpupanel.files.regular_files import NotRegularFileError

LEAST_FREE_MIB = 64
"""Below this a run is not started: events, telemetry and a small model would not fit."""


def disk_problem(error: OSError, path: Path) -> Problem:
    """The problem that an error of the operating system means for that file or folder."""
    detail = str(error)
    if isinstance(error, UnsafeFileError):
        return unsafe_file(str(error.path), error.found)
    if isinstance(error, NotRegularFileError):
        return Problem(
            code="not_a_regular_file",
            message=f"{error.path} is {error.found}, not a regular file: it is neither read nor "
            "replaced.",
            hint="Choose another file.",
        )
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Problem(
            code="no_space",
            message=f"There is no space left on the disk that holds {path}.",
            hint="Free some space, or choose another folder of runs ($GPUPANEL_RUNS_DIR).",
            detail=detail,
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return Problem(
            code="not_permitted",
            message=f"{path} may not be written or read by this user.",
            hint="Change its permissions, or choose another place.",
            detail=detail,
        )
    if isinstance(error, FileNotFoundError):
        return Problem(
            code="file_missing",
            message=f"{path} does not exist.",
            hint="Check the path; the file may have been moved or renamed.",
            detail=detail,
        )
    return Problem(
        code="disk_error",
        message=f"{path} could not be used: {error.strerror or error}.",
        hint="Check the disk and the path, then try again.",
        detail=detail,
    )


def space_problem(folder: Path) -> Problem | None:
    """Too little free space to start a run in that folder, or ``None``."""
    free_mib = shutil.disk_usage(folder).free // 2**20
    if free_mib >= LEAST_FREE_MIB:
        return None
    return Problem(
        code="no_space",
        message=f"Only {free_mib} MiB are free on the disk that holds {folder}; a run needs at "
        f"least {LEAST_FREE_MIB} MiB.",
        hint="Free some space, or choose another folder of runs ($GPUPANEL_RUNS_DIR).",
    )
