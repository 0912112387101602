"""Why the operating system refuses a file or a folder: each reason by its own name.

Some of them look alike in TensorFlow, which has one error for full disks and full memory:
``absl::ErrnoToStatusCode`` (abseil, which TensorFlow 2.21 uses for what the system answers) makes
``RESOURCE_EXHAUSTED`` of a full disk, a used up quota, too many open files or links, and of memory
that is not there. Only the words distinguish them, so these are read where there is no number.
"""

import errno
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gpupanel.files.process_limits import file_size_limit
from gpupanel.files.user_folders import HOME_ADVICE, HomeUnknownError

NO_SPACE: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
"""Nothing more can be written until somebody frees something."""
NO_LOCKS: Final = frozenset({errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP})
"""What ``flock(2)`` answers on a file system that has none: Lustre mounted without ``flock``, NFS
whose lock service does not run, some FUSE file systems."""
_TOO_MANY: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.EMLINK})
_GONE: Final = frozenset({errno.ESTALE, errno.ENOTCONN, errno.ETIMEDOUT, errno.EHOSTDOWN})
_FAILING: Final = frozenset({errno.EIO, errno.EREMOTEIO})
_IN_THE_WAY: Final = frozenset({errno.EEXIST, errno.ENOTDIR, errno.EISDIR})
_READ_IN_WORDS: Final = (
    NO_SPACE | _TOO_MANY | _GONE | _FAILING | {errno.EFBIG, errno.EROFS, errno.EACCES}
)
_ELSEWHERE: Final = "choose another folder (for runs: $GPUPANEL_RUNS_DIR)"
_GIB: Final = 2**30


class NoLocksError(OSError):
    """The file system of a folder has no locks, without which two processes undo each other."""

    def __init__(self, number: int, path: Path) -> None:
        super().__init__(number, "its file system has no locks (flock)", str(path))


@dataclass(frozen=True, slots=True)
class FileObstacle:
    """Why a file or folder is refused.

    Attributes:
        code: Of the problem that it is.
        begins_with_name: The clause begins with a path, which has no capital.
        because: A clause: "no space is left on the disk that holds /runs".
        advice: What to do, a clause: "free some space, or choose another folder".
    """

    code: str
    because: str
    advice: str
    begins_with_name: bool = False

    @property
    def message(self) -> str:
        """The reason as a sentence."""
        if self.begins_with_name:
            return f"{self.because}."
        return f"{self.because[0].upper()}{self.because[1:]}."

    @property
    def hint(self) -> str:
        """What to do as a sentence."""
        return f"{self.advice[0].upper()}{self.advice[1:]}."


def number_of(error: BaseException) -> int | None:
    """The system's number of an error (``errno``), also where only its words are left."""
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno
    words = str(error)
    found = (number for number in sorted(_READ_IN_WORDS) if os.strerror(number) in words)
    return next(found, None)


def is_of_files(error: BaseException) -> bool:
    """Whether an error, not what it came from, says that files ran out of something."""
    return number_of(error) in NO_SPACE | _TOO_MANY


def file_obstacle(error: BaseException, place: Path, what: str = "") -> FileObstacle | None:
    """Why that could not be read or written; ``None`` where nobody knows a name for it.

    Args:
        error: What the system, or a library, says.
        place: The file or folder, which need not be there.
        what: What it is called in the words; empty: by its path.
    """
    number, what = number_of(error), what or str(place)
    if isinstance(error, NoLocksError):
        return FileObstacle(
            code="folder_without_locks",
            because=f"the file system that holds {what} has no locks (flock), by which gpupanel "
            "keeps two processes from writing the same file",
            advice=f"{_ELSEWHERE}, on a local disk, or have it mounted with locks (Lustre: "
            "-o flock; NFS: its lock service)",
        )
    if isinstance(error, HomeUnknownError):
        return FileObstacle(
            code="home_unknown",
            because=f"{str(error.strerror)[0].lower()}{str(error.strerror)[1:-1]}",
            advice=f"{HOME_ADVICE[0].lower()}{HOME_ADVICE[1:-1]}",
        )
    if number in NO_SPACE:
        return _no_space(number, place, what)
    if number == errno.EFBIG:
        limit = file_size_limit()
        is_limited = limit is not None
        whose = f"this process may write, {limit:,} bytes (ulimit -f)" if is_limited else "there"
        return FileObstacle(
            code="file_size_limited",
            because=f"a file of {what} would be larger than the largest {whose}",
            advice="raise the limit (ulimit -f unlimited) and start again"
            if is_limited
            else f"{_ELSEWHERE}, on a file system that takes larger files",
        )
    if number == errno.EROFS:
        return FileObstacle(
            code="read_only",
            because=f"the file system that holds {what} is mounted read-only, as Linux does "
            "after a disk has failed",
            advice=f"read the kernel log (dmesg), or {_ELSEWHERE}",
        )
    if number in (errno.EACCES, errno.EPERM):
        return FileObstacle(
            code="not_permitted",
            because=f"{what} may not be written or read by this user",
            advice="change its permissions, or choose another place",
            begins_with_name=what == str(place),
        )
    if number in _FAILING:
        return FileObstacle(
            code="disk_failing",
            because=f"the disk that holds {what} answers with an input/output error: it, or "
            "the way to it, is failing",
            advice="copy what matters to another disk, and read the kernel log (dmesg)",
        )
    if number in _GONE:
        return FileObstacle(
            code="disk_not_answering",
            because=f"the server of the network folder that holds {what} no longer answers",
            advice="see that the folder is mounted and its server runs, then try again",
        )
    if number in _TOO_MANY:
        return FileObstacle(
            code="too_many_files",
            because=f"no more files of {what} can be opened: {os.strerror(number)}",
            advice="raise the limit (ulimit -n), or end programs that hold many files",
        )
    if number in _IN_THE_WAY:
        return _in_the_way(number, error, what)
    if number == errno.ENOENT:
        return FileObstacle(
            code="file_missing",
            because=f"{what} does not exist",
            advice="check the path; the file may have been moved or renamed",
            begins_with_name=what == str(place),
        )
    return None


def _no_space(number: int | None, place: Path, what: str) -> FileObstacle:
    if number == errno.EDQUOT:
        return FileObstacle(
            code="quota_used_up",
            because=f"this user's quota is used up on the disk that holds {what}",
            advice=f"free some space of your own there (quota -s lists it), or {_ELSEWHERE}",
        )
    try:
        found = os.statvfs(nearest(place))
    except OSError:
        found = None
    if found is not None and found.f_files and not found.f_favail and found.f_bavail:
        free = found.f_bavail * found.f_frsize / _GIB
        return FileObstacle(
            code="no_inodes",
            because=f"the disk that holds {what} can hold no more files: all of its "
            f"{found.f_files:,} inodes are in use, though {free:,.1f} GiB are free",
            advice=f"delete files that are not needed, many small ones above all, or {_ELSEWHERE}",
        )
    return FileObstacle(
        code="no_space",
        because=f"there is no space left on the disk that holds {what}",
        advice=f"free some space, or {_ELSEWHERE}",
    )


def _in_the_way(number: int | None, error: BaseException, what: str) -> FileObstacle:
    named = error.filename if isinstance(error, OSError) else None
    found = "a folder" if number == errno.EISDIR else "something else"
    wanted = "a file" if number == errno.EISDIR else "a folder"
    place = f"{wanted} of {what} is to be"
    if isinstance(named, str) and Path(named).is_absolute():
        place = f"{named} is to be {wanted}"
    return FileObstacle(
        code="place_taken",
        because=f"{found} stands where {place}",
        advice="move it away, or choose another place",
    )


def nearest(place: Path) -> Path:
    """The place, or the nearest folder above it that is there."""
    for each in (place, *place.parents):
        if each.exists():
            return each
    return Path("/")
