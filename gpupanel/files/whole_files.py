"""Files that are there whole, or not at all."""

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

_PRIVATE = 0o600


def write_whole_file(path: Path, write: Callable[[BinaryIO], None]) -> None:
    """Write a file beside, force it to the disk and rename it; readable by its owner only.

    Args:
        path: The file; what stood there before is replaced.
        write: Writes all of it.

    Raises:
        OSError: It cannot be written; nothing of it is left then, and what stood there stays.
    """
    beside = path.with_name(f".partial-{path.name}")
    # What a killed process left, or somebody put there: never written into.
    beside.unlink(missing_ok=True)
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(beside, flags, _PRIVATE), "w+b") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def open_regular_file(path: Path) -> BinaryIO:
    """Open a file for reading that somebody else may have put there.

    Neither a link is followed, nor is waited for whoever writes into a pipe.

    Raises:
        OSError: It cannot be opened, or is no file.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is no file", str(path))
    return os.fdopen(descriptor, "rb")
