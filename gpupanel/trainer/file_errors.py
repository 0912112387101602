"""What an error came from, and whether that is the disk that holds the run."""

import errno
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gpupanel.files.file_obstacles import NO_SPACE, FileObstacle, file_obstacle, number_of
from gpupanel.files.user_folders import HomeUnknownError

_OF_RUN: Final = "the run"
_PATH: Final = re.compile(r"(/[^;\n]+);")
"""How TensorFlow begins what the system says of a file (``IOError`` of ``env.cc``)."""
_OF_WRITING: Final = NO_SPACE | {errno.EFBIG, errno.EROFS}
_OF_DISKS: Final = _OF_WRITING | {errno.EIO, errno.EREMOTEIO, errno.ESTALE, errno.ENOTCONN}


def chain(error: BaseException) -> Iterator[BaseException]:
    """The error, what it was raised from, and so on."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def is_no_space(error: BaseException) -> bool:
    """Whether an error, not what it came from, says that a disk is full or a quota used up."""
    return number_of(error) in NO_SPACE


def disk_obstacle(error: BaseException) -> FileObstacle | None:
    """Why a file was refused; ``None`` where an error, not what it came from, is of no file.

    Where the error names no file, it is the run's, and only what can be wrong with writing counts:
    what it reads from elsewhere has names.
    """
    if isinstance(error, HomeUnknownError):
        return file_obstacle(error, Path("/"))
    if isinstance(error, OSError) and isinstance(error.filename, str):
        found = file_obstacle(error, Path(error.filename))
        return found if number_of(error) in _OF_DISKS else None
    if number_of(error) not in _OF_WRITING:
        return None
    return file_obstacle(error, _place_of(error), _OF_RUN)


def run_obstacle(error: BaseException) -> FileObstacle:
    """Why a file of the run could not be written."""
    found = file_obstacle(error, _place_of(error), _OF_RUN)
    if found is not None:
        return found
    words = getattr(error, "strerror", None) or (str(error).splitlines() or [repr(error)])[0][:200]
    return FileObstacle(
        code="disk_error",
        because=f"the system reports: {words}",
        advice="check the run's folder and the disk that holds it",
    )


def _place_of(error: BaseException) -> Path:
    """The file that an error is about: its own word, or where TensorFlow names one first."""
    named = getattr(error, "filename", None)
    if isinstance(named, str) and Path(named).is_absolute():
        return Path(named)
    found = _PATH.match(str(error))
    return Path(found[1]) if found else Path("/")
