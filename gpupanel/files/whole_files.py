"""Writing a file all or nothing: beside its place, forced to the disk, then renamed."""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from gpupanel.files.guarded_files import PRIVATE_FILE, opened_folder
from gpupanel.files.regular_files import NotRegularFileError, kind_of

_SHARED_FILE = 0o666


@contextmanager
def whole_file(
    path: Path, *, private: bool = False, within: Path | None = None
) -> Iterator[BinaryIO]:
    """A new file that takes its place when the block ends; after an error nothing has changed.

    Args:
        path: Its place.
        private: A file of ours, for its owner only: it takes the place of whatever stands there,
            and of a link itself, not of what that leads to. Otherwise it is a person's: as
            readable as the one before, or as the process's umask says; and only a regular file is
            replaced, since a link, a device or a FIFO stands there on purpose.
        within: As :func:`~gpupanel.files.guarded_files.opened_folder` takes it.

    Raises:
        NotRegularFileError: Something else stands in its place.
        OSError: It cannot be written.
    """
    beside = f".{path.name}.{os.getpid()}"
    with opened_folder(path.parent, within) as folder:
        mode = None if private else _mode_before(path, folder)
        with suppress(FileNotFoundError):
            os.unlink(beside, dir_fd=folder)  # of a process of that number, which was killed
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        # Private until it is complete.
        new_mode = PRIVATE_FILE if private or mode is not None else _SHARED_FILE
        descriptor = os.open(beside, flags, new_mode, dir_fd=folder)
        try:
            with os.fdopen(descriptor, "w+b") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
                if private:
                    os.fchmod(file.fileno(), PRIVATE_FILE)
                elif mode is not None:
                    os.fchmod(file.fileno(), mode)
            os.replace(beside, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(beside, dir_fd=folder)
            raise


def write_whole(
    path: Path, content: str | bytes, *, private: bool = False, within: Path | None = None
) -> None:
    """Write a file all or nothing.

    Args:
        path: The file.
        content: What it is to hold; text as UTF-8.
        private: Let its owner only read it, as all in a run's directory; a profile is there to be
            shared.
        within: A folder above it, below which links are not followed.

    Raises:
        NotRegularFileError: A link, a device or a FIFO stands there.
        OSError: It cannot be written; what stood there before still stands.
    """
    with whole_file(path, private=private, within=within) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def remove_unfinished(path: Path) -> None:
    """Remove what writers of a file left beside its place that were killed.

    Args:
        path: Its place; whoever writes the file holds a lock, and now the caller does.
    """
    unfinished = re.compile(rf"\.{re.escape(path.name)}\.\d+")
    with suppress(OSError), opened_folder(path.parent) as folder:
        for beside in path.parent.iterdir():
            if unfinished.fullmatch(beside.name):
                os.unlink(beside.name, dir_fd=folder)


def _mode_before(path: Path, folder: int) -> int | None:
    """Who may do what with the file that stands there; ``None``: none does."""
    try:
        found = os.stat(path.name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    kind = kind_of(found.st_mode)
    if kind is not None:
        raise NotRegularFileError(path, kind)
    return stat.S_IMODE(found.st_mode)
