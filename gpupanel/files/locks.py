"""Locks on files: taken for as long as something is done, and checked without being taken."""

import errno
import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from filelock import AcquireReturnProxy, FileLock, Timeout
from typing_extensions import override

from gpupanel.files.file_obstacles import NO_LOCKS, NoLocksError
from gpupanel.files.guarded_files import PRIVATE_FILE, open_to_append, open_to_read

_LOOK_S = 0.5
_WRITTEN_BYTES = 4096
"""A block of most file systems: less may be kept beside the file's name, which costs nothing."""
_HELD = frozenset({errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES})


class _FolderLock(FileLock):
    """A lock that does not make its folder anew where that is deleted while it is waited for.

    filelock before 4.2.6 makes it whenever it tries again, by :meth:`_acquire`; later ones make it
    with their first try only, before they call that: such a folder is removed again.
    """

    folder: tuple[int, int] | None = None
    """Which folder it was when the lock was asked for: of another one it is no lock."""

    @override
    def acquire(self, *arguments: Any, **named: Any) -> "AcquireReturnProxy[Any]":
        proxy = super().acquire(*arguments, **named)
        place = Path(self.lock_file)
        if self.folder in (None, _identity(place.parent)):
            return proxy
        with suppress(OSError):
            if list(place.parent.iterdir()) == [place]:
                place.unlink()
                place.parent.rmdir()
        self.release()
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self.lock_file)

    @override
    def _acquire(self) -> None:
        if not Path(self.lock_file).parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self.lock_file)
        super()._acquire()


def lock_in_folder(path: Path, timeout_s: float = -1.0) -> FileLock:
    """A lock in a folder that is there; its file is made when it is not, its owner's only.

    A lock by itself would make the folder anew: of a run that was deleted meanwhile an empty one
    would come back.

    Args:
        path: The lock's file.
        timeout_s: How long to wait for it when it is taken; below 0: for ever.

    Raises:
        NoLocksError: The file system of the folder has none, which would keep nobody out, or let
            nobody in.
        OSError: The file cannot be made; :class:`FileNotFoundError` where its folder is gone;
            :class:`~gpupanel.files.guarded_files.UnsafeFileError` where something else stands in
            its place.
    """
    folder = _identity(path.parent)
    descriptor = open_to_append(path)
    try:
        _shared(descriptor, path)
    finally:
        os.close(descriptor)
    lock = _FolderLock(path, timeout_s, mode=PRIVATE_FILE)
    lock.folder = folder
    return lock


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        found = folder.stat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino)


def check_folder(folder: Path) -> None:
    """See whether files can be made, written and locked in a folder, with one that is removed.

    Raises:
        NoLocksError: Its file system has no locks.
        OSError: No file can be made or written there.
    """
    if not folder.is_dir():
        number = errno.ENOTDIR if folder.exists() else errno.ENOENT
        raise OSError(number, os.strerror(number), str(folder))
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        # A used up quota lets an empty file be made.
        file.write(bytes(_WRITTEN_BYTES))
        _shared(file.fileno(), folder)


@contextmanager
def locked_patiently(path: Path, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold a lock in a folder that is there, however long another process holds it before.

    Args:
        path: The lock's file.
        on_wait: Called twice a second as long as the lock is waited for; may raise, which ends it.

    Raises:
        OSError: As :func:`lock_in_folder`.
    """
    lock = lock_in_folder(path, _LOOK_S)
    while True:
        try:
            lock.acquire()
            break
        except Timeout:
            on_wait()
    try:
        yield
    finally:
        lock.release()


def is_lock_held(path: Path) -> bool:
    """Whether a process holds that lock now; false where it is not known.

    However many ask at once, none of them takes another one for the holder: they share the lock
    for the instant of the check.
    """
    try:
        file = open_to_read(path)
    except OSError:
        return False  # nobody has ever taken it, or it is another user's alone, or no lock
    try:
        return not _shared(file.fileno(), path)
    except OSError:
        return False  # nobody holds a lock where there are none
    finally:
        file.close()


def _shared(descriptor: int, path: Path) -> bool:
    """Whether a lock could be shared for an instant, which it cannot be while somebody holds it.

    Raises:
        NoLocksError: The file system of that path has no locks.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        # Said, not left to closing: a child that is just being started may have a copy.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    except OSError as error:
        if error.errno in _HELD:
            return False
        if error.errno in NO_LOCKS:
            raise NoLocksError(error.errno, path) from error
        raise
    return True
