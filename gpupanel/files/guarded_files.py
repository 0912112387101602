"""Opening the files of a run's folder, which may come from somebody else.

Whoever makes such a folder may put a link to a file of the person's in the place of a log, a second
name of it (a hard link), or a FIFO that keeps its reader waiting. So every file in it is opened
here: relative to the descriptor of its folder, without following links in it, without waiting, and
only if it is a regular file of the folder's owner or of the user of this process; to be written,
only if it has no other name.

The run's own folder may be reached through links: people keep runs on other disks. Folders in it
may not be links.
"""

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedRandom, BufferedReader
from pathlib import Path
from typing import Final

from gpupanel.files.regular_files import NotRegularFileError, kind_of

PRIVATE_FILE: Final = 0o600
_PRIVATE_FOLDER: Final = 0o700
_FLAGS: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_FOLDER_FLAGS: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
"""``O_PATH``, where there is such: a folder need not be readable for its files to be."""
MOST_BYTES: Final = 64 * 2**20
"""The most bytes of a file that is read whole: far more than any plan or profile."""


class UnsafeFileError(NotRegularFileError):
    """A file or folder of a run is not what it should be, and is neither read nor written.

    Attributes:
        path: Which.
        found: What it is: "a symbolic link", "a file of another user".
    """

    def __init__(self, path: Path, found: str) -> None:
        super().__init__(path, found)
        self.strerror = f"it is {found}"


@contextmanager
def opened_folder(folder: Path, within: Path | None = None) -> Iterator[int]:
    """A descriptor of a folder, which stays that folder whatever is renamed meanwhile.

    Args:
        folder: Which.
        within: A folder above it, such as the run's: links below it are not followed.

    Raises:
        UnsafeFileError: What is below ``within`` is a link, or no folder of the run's.
        OSError: It cannot be opened; :class:`FileNotFoundError` where it is not there.
    """
    descriptor = os.open(within or folder, _FOLDER_FLAGS)
    try:
        if within is not None:
            path = within
            for name in folder.relative_to(within).parts:
                path = path / name
                inner = _open_inner_folder(descriptor, name, path)
                os.close(descriptor)
                descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


def open_to_read(path: Path, within: Path | None = None) -> BufferedReader:
    """Open a file of a run to read it.

    Args:
        path: The file.
        within: As :func:`opened_folder` takes it; ``None``: the folder that holds the file.

    Raises:
        UnsafeFileError: It is a link, or another user's, or no regular file.
        OSError: It cannot be opened; :class:`FileNotFoundError` where it is not there.
    """
    return os.fdopen(_opened(path, os.O_RDONLY, within), "rb")


def read_file(path: Path, within: Path | None = None, most_bytes: int = MOST_BYTES) -> bytes:
    """All that stands in a file of a run.

    Raises:
        OSError: As :func:`open_to_read`; or it is longer than ``most_bytes``.
    """
    with open_to_read(path, within) as file:
        # As much is allocated as is asked for, however short the file is.
        size = os.fstat(file.fileno()).st_size
        content = file.read(min(size, most_bytes) + 1)
    if len(content) > most_bytes:
        raise OSError(errno.EOVERFLOW, f"it is larger than {most_bytes:,} bytes", str(path))
    return content


def open_to_append(path: Path, within: Path | None = None) -> int:
    """A descriptor that appends to a file of a run and may read it; the file is made when missing.

    Raises:
        UnsafeFileError: It is a link, has another name, or is another user's, or no regular file.
        OSError: It cannot be opened.
    """
    return _opened(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, within)


def open_to_write(path: Path, within: Path | None = None) -> BufferedRandom:
    """Open a file of a run to write it anew, and to read what was written.

    Raises:
        OSError: As :func:`open_to_append`.
    """
    file = os.fdopen(_opened(path, os.O_RDWR | os.O_CREAT, within), "w+b")
    # Only now is it known that it is a file of the run's.
    file.truncate(0)
    return file


def open_to_update(path: Path, within: Path | None = None) -> int:
    """A descriptor that reads and writes a file of a run anywhere; it is made when missing.

    Raises:
        OSError: As :func:`open_to_append`.
    """
    return _opened(path, os.O_RDWR | os.O_CREAT, within)


def touch(path: Path, within: Path | None = None) -> None:
    """Make an empty file, or give one that is there the time of now.

    Raises:
        OSError: As :func:`open_to_append`.
    """
    descriptor = open_to_append(path, within)
    try:
        os.utime(descriptor)
    finally:
        os.close(descriptor)


def make_folder(path: Path, within: Path | None = None) -> None:
    """Make a folder for its owner only; one that is there stays as it is.

    Raises:
        UnsafeFileError: Something else stands there, such as a link to a folder.
        OSError: It cannot be made.
    """
    with opened_folder(path.parent, within or path.parent) as folder:
        try:
            os.mkdir(path.name, _PRIVATE_FOLDER, dir_fd=folder)
            is_new = True
        except FileExistsError:
            is_new = False
            if stat.S_ISREG(_status_in(folder, path.name).st_mode):
                raise
        os.close(_open_inner_folder(folder, path.name, path))
        if is_new:
            # A umask may have taken the owner's own rights.
            os.chmod(path.name, _PRIVATE_FOLDER, dir_fd=folder)


def remove(path: Path, within: Path | None = None) -> None:
    """Remove a file, whatever it is; a link goes, and not what it leads to.

    Raises:
        UnsafeFileError: The folder that holds it is a link, or no folder of the run's.
        OSError: It cannot be removed; one that is not there is none.
    """
    try:
        with opened_folder(path.parent, within) as folder:
            os.unlink(path.name, dir_fd=folder)
    except FileNotFoundError:
        return


def remove_folder(path: Path, within: Path | None = None) -> None:
    """Remove a folder with all that is in it, as far as that can be; no link is followed.

    What stands in its place and is none stays: it is reported where it is used.
    """
    with suppress(OSError), opened_folder(path.parent, within) as folder:
        shutil.rmtree(path.name, ignore_errors=True, dir_fd=folder)


def rename(path: Path, target: Path, within: Path | None = None) -> None:
    """Give a file or a folder another name in its folder; what has that name is replaced.

    Raises:
        OSError: It cannot be renamed.
    """
    with opened_folder(path.parent, within) as folder:
        os.replace(path.name, target.name, src_dir_fd=folder, dst_dir_fd=folder)


def status(path: Path, within: Path | None = None) -> os.stat_result | None:
    """What the system says of a file, not of what a link leads to; ``None``: there is none.

    Raises:
        OSError: It cannot be found out.
    """
    try:
        with opened_folder(path.parent, within) as folder:
            return _status_in(folder, path.name)
    except FileNotFoundError:
        return None


def size_of(path: Path) -> int:
    """Bytes of a file; 0 where it is not there, or cannot be asked."""
    try:
        found = status(path)
    except OSError:
        return 0
    return 0 if found is None else found.st_size


def check_folder(path: Path, within: Path | None = None) -> bool:
    """Whether there is such a folder.

    Raises:
        UnsafeFileError: Something else stands there, such as a link to a folder.
        OSError: It cannot be found out.
    """
    try:
        with opened_folder(path, within or path.parent):
            return True
    except FileNotFoundError:
        return False


def holds_anything(path: Path, within: Path | None = None) -> bool:
    """Whether there is such a folder, no link to one, that can be read and has anything in it."""
    try:
        return check_folder(path, within) and next(path.iterdir(), None) is not None
    except OSError:
        return False


def _opened(path: Path, flags: int, within: Path | None) -> int:
    with opened_folder(path.parent, within) as folder:
        try:
            # Before it is opened, too: opening a device may do something.
            _check_kind(path, _status_in(folder, path.name))
        except FileNotFoundError as error:
            if not flags & os.O_CREAT:
                raise _missing(path) from error
        try:
            descriptor = os.open(path.name, flags | _FLAGS, PRIVATE_FILE, dir_fd=folder)
        except FileNotFoundError as error:
            raise _missing(path) from error
        try:
            is_written = flags & os.O_ACCMODE != os.O_RDONLY
            _check_file(path, os.fstat(descriptor), folder, is_written=is_written)
        except BaseException:
            os.close(descriptor)
            raise
    return descriptor


def _open_inner_folder(folder: int, name: str, path: Path) -> int:
    found = _status_in(folder, name)
    if not stat.S_ISDIR(found.st_mode):
        kind = kind_of(found.st_mode)
        if kind is None:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
        raise UnsafeFileError(path, kind)
    descriptor = os.open(name, _FOLDER_FLAGS | os.O_NOFOLLOW, dir_fd=folder)
    try:
        _check_owner(path, os.fstat(descriptor), folder)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _status_in(folder: int, name: str) -> os.stat_result:
    return os.stat(name, dir_fd=folder, follow_symlinks=False)


def _missing(path: Path) -> FileNotFoundError:
    return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))


def _check_file(path: Path, found: os.stat_result, folder: int, *, is_written: bool) -> None:
    _check_kind(path, found)
    _check_owner(path, found, folder)
    if is_written and found.st_nlink > 1:
        raise UnsafeFileError(path, "a file that has another name, too (a hard link)")


def _check_kind(path: Path, found: os.stat_result) -> None:
    kind = kind_of(found.st_mode)
    if kind is not None:
        raise UnsafeFileError(path, kind)


def _check_owner(path: Path, found: os.stat_result, folder: int) -> None:
    # The folder's owner and not only this user: root, and who reads a colleague's runs.
    if found.st_uid not in (os.geteuid(), os.fstat(folder).st_uid):
        raise UnsafeFileError(path, "a file of another user")
