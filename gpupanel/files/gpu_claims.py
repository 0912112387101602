"""Which GPUs the runs of this machine's users hold: a folder that an administrator made for all.

A supervisor keeps a file there for each GPU of its run: which GPU, since when, until about when,
and nothing of the run. It holds a lock on the file as long as it lives, so whatever a file says
that nobody holds is past.

Users do not trust each other. Whose claim it is says the owner of the file, which nobody can
forge, and the sticky folder lets nobody remove or rename another's. The lock is a write lock of
fcntl(2): only who may write a file can take one, which is its owner, so nobody makes the file of
another who is gone look alive. Readers ask for the lock (``F_OFD_GETLK``) and take none: they keep
no holder from anything. And what stands in a stranger's file is believed in no other way: links,
FIFOs, long files and other people's nonsense are passed over, and how many are looked at is
bounded.
"""

import errno
import fcntl
import os
import pwd
import secrets
import shlex
import stat
import struct
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

from gpupanel.domain.gpu_claim import MOST_CLAIMS, GpuClaim, Moment
from gpupanel.domain.value import Value

FOLDER_VARIABLE: Final = "GPUPANEL_CLAIMS_DIR"
"""Environment variable that names another folder."""
USUAL_FOLDER: Final = Path("/var/lib/gpupanel/claims")

_ENDING: Final = ".claim"
_READABLE: Final = 0o644
_UNFINISHED: Final = 0o600
_BYTES: Final = 256
"""Of every file: a file that is written anew has no moment in which a part of it is missing."""
_LONGEST_KEY: Final = 80
_MOST_FILES: Final = 4_096
"""That are looked at, twice a second, in a folder that somebody may have filled."""
_MOST_OF_A_USER: Final = 64
_SETTLED_S: Final = 60.0
"""Older than a file that its holder is about to lock."""
_FLAGS: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_FLOCK: Final = "@hhqqi0q"
"""``struct flock`` of fcntl(2): type, whence, start, length, process."""


class UnfitFolderError(PermissionError):
    """The folder of claims cannot serve, and is as if it were not there.

    Attributes:
        reason: Why, after its name: "lets everybody remove the files of others".
        command: What mends that; empty where no command does.
    """

    def __init__(self, folder: Path, reason: str, command: str = "") -> None:
        super().__init__(errno.EPERM, reason, str(folder))
        self.reason = reason
        self.command = command


class _Written(Value):
    """What stands in a file."""

    gpu: Annotated[str, Field(max_length=_LONGEST_KEY)]
    since_s: Moment
    until_s: Moment | None = None

    def as_bytes(self) -> bytes:
        """As a file holds it."""
        return self.model_dump_json(exclude_none=True).encode().ljust(_BYTES - 1) + b"\n"


def claims_folder() -> Path:
    """The folder of claims, whether there is one or not."""
    named = os.environ.get(FOLDER_VARIABLE)
    return Path(named) if named else USUAL_FOLDER


class HeldClaim:
    """Says in the folder of claims that this process holds a GPU, until :meth:`release`.

    Args:
        gpu: The key of the GPU.
        since_s: Since when, seconds since the epoch (UTC).
        folder: The folder of claims.

    Raises:
        OSError: There is no such folder (:class:`FileNotFoundError`), or it cannot serve
            (:class:`UnfitFolderError`), cannot be written, or has no locks.
    """

    def __init__(self, gpu: str, since_s: float, folder: Path) -> None:
        self._path = folder / f"{secrets.token_hex(8)}{_ENDING}"
        self._written = _Written(gpu=gpu, since_s=since_s)
        with _opened(folder) as descriptor:
            self._descriptor = os.open(
                self._path.name,
                os.O_RDWR | os.O_CREAT | os.O_EXCL | _FLAGS,
                _UNFINISHED,
                dir_fd=descriptor,
            )
        try:
            # Nobody else can open it yet, so nobody holds a lock that would be in the way.
            fcntl.fcntl(self._descriptor, fcntl.F_OFD_SETLK, _whole_file(fcntl.F_WRLCK))
            os.pwrite(self._descriptor, self._written.as_bytes(), 0)
            os.fchmod(self._descriptor, _READABLE)
        except BaseException:
            self.release()
            raise

    @property
    def is_there(self) -> bool:
        """Whether others can still read it: nobody removed its file, or the folder."""
        return os.fstat(self._descriptor).st_nlink > 0

    def expect_end(self, until_s: float | None) -> None:
        """Say until about when, seconds since the epoch (UTC); ``None``: nobody knows.

        Raises:
            OSError: It cannot be written.
        """
        self._written = self._written.model_copy(update={"until_s": until_s})
        os.pwrite(self._descriptor, self._written.as_bytes(), 0)

    def release(self) -> None:
        """Let the GPU go: the file is removed."""
        if self.is_there:
            with suppress(OSError):
                self._path.unlink(missing_ok=True)
        os.close(self._descriptor)


def check_claims_folder(folder: Path) -> None:
    """See whether this user can keep claims there, and see those of others.

    Raises:
        OSError: As for :class:`HeldClaim`.
    """
    with _opened(folder) as descriptor, os.scandir(descriptor) as entries:
        if not os.access(folder, os.W_OK | os.X_OK):
            raise UnfitFolderError(folder, "is not for this user, who may not write there")
        if next(islice(entries, _MOST_FILES, None), None) is not None:
            reason = f"holds more than {_MOST_FILES:,} files: claims among them may not be seen"
            raise UnfitFolderError(folder, reason)


def remove_left_behind(folder: Path) -> None:
    """Remove the files that processes of this user left behind as they were killed.

    Raises:
        OSError: As for :class:`HeldClaim`.
    """
    with _opened(folder) as descriptor, os.scandir(descriptor) as entries:
        for entry in islice(entries, _MOST_FILES):
            with suppress(OSError):
                found = entry.stat(follow_symlinks=False)
                is_old = abs(time.time() - found.st_mtime) > _SETTLED_S
                is_mine = found.st_uid == os.geteuid() and entry.name.endswith(_ENDING)
                if is_mine and is_old and _held_content(entry.name, descriptor) is None:
                    os.unlink(entry.name, dir_fd=descriptor)


def claims_of_others(folder: Path | None = None) -> Mapping[str, tuple[GpuClaim, ...]]:
    """Who else holds which GPU now, by the keys of the GPUs; a claim of each user to each GPU.

    Empty where there is no such folder, or one that is not to be trusted. Keys of GPUs that are
    not there may be among them.

    Args:
        folder: The folder of claims; :func:`claims_folder` when left out.
    """
    found: dict[str, dict[int, GpuClaim]] = {}
    try:
        with _opened(folder or claims_folder()) as descriptor:
            for number, written in _claims_in(descriptor):
                held = found.setdefault(written.gpu, {})
                claim = _claim(number, written)
                held[number] = _together(held[number], claim) if number in held else claim
    except OSError:
        return {}
    return {
        gpu: tuple(sorted(claims.values(), key=lambda claim: claim.since_s))[:MOST_CLAIMS]
        for gpu, claims in found.items()
    }


def _claims_in(folder: int) -> Iterator[tuple[int, _Written]]:
    """What others hold, with their numbers."""
    looked_at: Counter[int] = Counter()
    with os.scandir(folder) as entries:
        for entry in islice(entries, _MOST_FILES):
            try:
                found = entry.stat(follow_symlinks=False)
                if found.st_uid == os.geteuid() or looked_at[found.st_uid] >= _MOST_OF_A_USER:
                    continue
                looked_at[found.st_uid] += 1
                # Before it is opened, too: opening a device may do something.
                if not stat.S_ISREG(found.st_mode) or not entry.name.endswith(_ENDING):
                    continue
                held = _held_content(entry.name, folder)
                if held is not None:
                    number, content = held
                    yield number, _Written.model_validate_json(content)
            except (OSError, ValueError):
                continue  # gone just now, somebody's own, or nonsense


def _held_content(name: str, folder: int) -> tuple[int, bytes] | None:
    """The owner and the content of a file that a process holds; ``None``: nobody does.

    Raises:
        OSError: It is no file of a claim, or cannot be read.
    """
    descriptor = os.open(name, os.O_RDONLY | _FLAGS, dir_fd=folder)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _BYTES:
            raise OSError(errno.EINVAL, "it is no file of a claim", name)
        if not _is_held(descriptor):
            return None
        return found.st_uid, os.pread(descriptor, _BYTES, 0)
    finally:
        os.close(descriptor)


def _is_held(descriptor: int) -> bool:
    """Whether a process has a write lock on a file; asking takes none."""
    answer = fcntl.fcntl(descriptor, fcntl.F_OFD_GETLK, _whole_file(fcntl.F_RDLCK))
    return bool(struct.unpack(_FLOCK, answer)[0] != fcntl.F_UNLCK)


def _whole_file(kind: int) -> bytes:
    return struct.pack(_FLOCK, kind, os.SEEK_SET, 0, 0, 0)


def _claim(number: int, written: _Written) -> GpuClaim:
    return GpuClaim(user=_user(number), since_s=written.since_s, until_s=written.until_s)


def _together(one: GpuClaim, other: GpuClaim) -> GpuClaim:
    """Two runs of a user on one GPU: it is free when both have ended."""
    ends = (one.until_s, other.until_s)
    until_s = None if None in ends else max(end for end in ends if end is not None)
    since_s = min(one.since_s, other.since_s)
    return one.model_copy(update={"since_s": since_s, "until_s": until_s})


@lru_cache(maxsize=1024)
def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    """A descriptor of the folder of claims.

    Raises:
        OSError: It is not there, or not to be trusted.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        mode = os.fstat(descriptor).st_mode
        if mode & (stat.S_IWGRP | stat.S_IWOTH) and not mode & stat.S_ISVTX:
            reason = "lets everybody remove the files of others: it is not sticky"
            raise UnfitFolderError(folder, reason, f"sudo chmod +t {shlex.quote(str(folder))}")
        yield descriptor
    finally:
        os.close(descriptor)
