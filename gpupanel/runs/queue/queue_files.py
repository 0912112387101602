"""The queue on the disk: one file with all entries, and one with the profile of each."""

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from filelock import Timeout

from gpupanel.domain.document_bounds import OF_A_RECORD, check_json
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.files.file_obstacles import file_obstacle
from gpupanel.files.locks import lock_in_folder
from gpupanel.files.regular_files import obstacle, open_regular
from gpupanel.files.whole_files import write_whole
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.profile_file import read_profile, write_profile
from gpupanel.runs.queue.waiting_line import WaitingLine

_PATIENCE_S = 10.0
_OURS: Final = frozenset(
    {"queue.json", "queue.lock", "scheduler.lock", "scheduler.log", "scheduler-trouble.json"}
)
_WRITTEN: Final = re.compile(r"\.(queue|scheduler-trouble)\.json\.\d+")
_PROFILE: Final = re.compile(r"[0-9a-f]{8}\.toml|\.[0-9a-f]{8}\.toml\.\d+")
"""What is in the folder of profiles, and what a writer leaves there that is killed."""

Fingerprint = tuple[int, int, int]

_MOST_BYTES: Final = 64 * 2**20
"""An entry takes 600 bytes, and a refused one with its problems some thousand."""


class QueueFiles:
    """Reads and changes the queue in a folder; every process makes one of its own.

    The file is replaced as a whole, under a lock, so that a reader sees the queue of before or of
    after, and no writer undoes what another one did. A process may be killed in the middle of
    anything here: what it had finished stands.

    Args:
        folder: Of the queue; it is made with the first entry, for its owner only.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._line = folder / "queue.json"
        self._profiles = folder / "profiles"

    def read(self) -> WaitingLine:
        """The queue as it is now.

        Raises:
            ProblemError: The file cannot be read, or this version does not understand it.
        """
        try:
            with open_regular(self._line) as file:
                content = file.read(_MOST_BYTES + 1)
        except FileNotFoundError as error:
            if self._line.is_symlink():
                raise ProblemError(self._unreadable(error)) from error
            return WaitingLine()
        except OSError as error:
            raise ProblemError(self._unreadable(error)) from error
        try:
            return _parsed(content)
        except ValueError as error:
            raise ProblemError(self._unreadable(error)) from error

    def change(self, how: Callable[[WaitingLine], WaitingLine]) -> WaitingLine:
        """Replace the queue by what ``how`` makes of it, and return that.

        Nobody else changes the queue meanwhile, so ``how`` may also write and remove profiles.

        Raises:
            ProblemError: What ``how`` raises; or the files cannot be read or written.
        """
        try:
            self._profiles.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.folder.chmod(0o700)
            with lock_in_folder(self.folder / "queue.lock", _PATIENCE_S):
                before = self.read()
                after = how(before)
                if after != before:
                    write_whole(self._line, after.model_dump_json(indent=2), private=True)
                return after
        except Timeout as error:
            raise ProblemError(_busy(self.folder)) from error
        except OSError as error:
            raise ProblemError(disk_problem(error, self.folder)) from error

    def fingerprint(self) -> Fingerprint | None:
        """Something that differs after each change; ``None`` while there is no queue."""
        try:
            # Of a link that leads nowhere its own: it is no queue, and reading it says so.
            found = self._line.stat() if self._line.exists() else self._line.lstat()
        except OSError:
            return None
        return (found.st_ino, found.st_mtime_ns, found.st_size)

    def profile(self, entry_id: str) -> Profile:
        """The profile of an entry.

        Raises:
            ProblemError: It cannot be read.
        """
        return read_profile(self.profile_path(entry_id))

    def write_profile(self, entry_id: str, profile: Profile) -> None:
        """Write the profile of an entry.

        Raises:
            ProblemError: It cannot be written.
        """
        write_profile(self.profile_path(entry_id), profile, private=True)

    def profile_path(self, entry_id: str) -> Path:
        """The path of an entry's profile."""
        return self._profiles / f"{entry_id}.toml"

    def remove_left_overs(self) -> None:
        """Remove what writers left that were killed, and the profiles of entries that are gone.

        Whatever else lies there is left alone: :meth:`stray_entries` has it.

        Raises:
            ProblemError: The queue cannot be read or locked.
        """

        def tidied(line: WaitingLine) -> WaitingLine:
            kept = {self.profile_path(entry.id).name for entry in line.entries}
            for folder, ours in ((self.folder, _WRITTEN), (self._profiles, _PROFILE)):
                for name in _names(folder):
                    if ours.fullmatch(name) and name not in kept:
                        # A folder of that name, or one that may not be removed, stays.
                        with suppress(OSError):
                            (folder / name).unlink()
            return line

        self.change(tidied)

    def stray_entries(self) -> tuple[str, ...]:
        """What lies in the queue's folder and is not the queue's, relative to it, in order."""
        inner = self._profiles.name
        stray = [name for name in _names(self.folder) if name not in _OURS and name != inner]
        stray = [name for name in stray if not _is_file_of(self.folder / name, _WRITTEN)]
        of_profiles = _names(self._profiles)
        stray += [
            f"{inner}/{name}"
            for name in of_profiles
            if not _is_file_of(self._profiles / name, _PROFILE)
        ]
        return tuple(stray)

    def _unreadable(self, error: Exception) -> Problem:
        found = obstacle(self._line) or "it is damaged, or of a newer gpupanel"
        of_disk = file_obstacle(error, self._line) if isinstance(error, OSError) else None
        hint = "Update gpupanel; or move the file away to begin with an empty queue."
        return Problem(
            code="queue_unreadable",
            message=f"The queue in {self._line} cannot be read: {found}.",
            hint=hint if of_disk is None else of_disk.hint,
            detail=str(error),
        )


def _names(folder: Path) -> list[str]:
    try:
        return sorted(path.name for path in folder.iterdir())
    except OSError:
        return []


def _is_file_of(path: Path, ours: re.Pattern[str]) -> bool:
    return ours.fullmatch(path.name) is not None and not path.is_dir()


def _busy(folder: Path) -> Problem:
    return Problem(
        code="queue_busy",
        message=f"The queue in {folder} is being changed by another process for more than "
        f"{_PATIENCE_S:.0f} s.",
        hint="Try again; if it happens again, end the gpupanel process that hangs.",
    )


def _parsed(content: bytes) -> WaitingLine:
    """The queue in its file.

    Raises:
        ValueError: It is none, or larger than any.
    """
    if len(content) > _MOST_BYTES:
        raise ValueError(f"it is larger than {_MOST_BYTES // 2**20} MiB")
    check_json(content, OF_A_RECORD)
    return WaitingLine.model_validate_json(content)
