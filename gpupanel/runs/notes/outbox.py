"""Notes on their way: each waits as a file for each way, and leaves a trace when it has arrived.

A note's key says what happened, so that it is posted once, whoever notices it and however often:
the file of a note that waits or has arrived is there already. Files appear whole under their names,
so that a death leaves a note posted or not.
"""

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from gpupanel.domain.notes import PostedNote, Way
from gpupanel.domain.value import Value
from gpupanel.files.guarded_files import read_file
from gpupanel.files.whole_files import write_whole
from gpupanel.runs.directory.private_files import make_private_folder

_MOST_BYTES: Final = 2**16
_KEPT_S: Final = 30 * 86_400.0
"""How long it is known that a note has arrived: nobody notices again what is older."""
MOST_WAITING: Final = 1_000
"""Of a machine whose notes reach nobody for months, the latest are not posted any more."""


class _Waiting(Value):
    """The file of a note that waits.

    Attributes:
        tries: How often it was sent in vain.
        next_s: When it is tried again, seconds since the epoch (UTC).
    """

    note: PostedNote
    way: Way
    tries: int = 0
    next_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Letter:
    """A note that waits to be taken by one way.

    Attributes:
        path: Its file.
        tries: How often it was sent in vain.
        next_s: When it is to be tried, seconds since the epoch (UTC).
    """

    path: Path
    note: PostedNote
    way: Way
    tries: int
    next_s: float


class Outbox:
    """The folder of a user's notes.

    Args:
        folder: Is made where it is missing.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._waiting, self._arrived = folder / "waiting", folder / "arrived"

    def post(self, note: PostedNote, ways: Iterable[Way]) -> bool:
        """Have a note taken by these ways; says whether one of them is new.

        Raises:
            OSError: It cannot be written.
        """
        self._make()
        posted = False
        for way in ways:
            name = f"{note.key}.{way.value}"
            if (self._arrived / name).exists() or len(os.listdir(self._waiting)) >= MOST_WAITING:  # noqa: PTH208 - their number
                continue
            posted |= self._put(self._waiting / f"{name}.json", _Waiting(note=note, way=way))
        return posted

    def letters(self) -> list[Letter]:
        """What waits, the oldest first; what is no note of ours is left alone.

        Raises:
            OSError: The folder cannot be read.
        """
        try:
            paths = sorted(self._waiting.glob("*.json"))
        except FileNotFoundError:
            return []
        waiting = []
        for path in paths:
            # Posted by another process just as it arrived: it is the same note.
            if (self._arrived / path.stem).exists():
                path.unlink(missing_ok=True)
            else:
                waiting.append(path)
        found = [letter for path in waiting if (letter := _letter(path)) is not None]
        return sorted(found, key=lambda letter: letter.note.time_s)

    def put_off(self, letter: Letter, seconds: float) -> None:
        """Try a note again later.

        Raises:
            OSError: That cannot be noted.
        """
        later = _Waiting(
            note=letter.note,
            way=letter.way,
            tries=letter.tries + 1,
            next_s=time.time() + seconds,
        )
        write_whole(letter.path, later.model_dump_json(), private=True)

    def settle(self, letter: Letter) -> None:
        """A note has arrived, or never will: it waits no longer, and is not posted again.

        Raises:
            OSError: That cannot be noted.
        """
        letter.path.replace(self._arrived / letter.path.stem)

    def forget_old(self) -> None:
        """Forget which notes have arrived long ago."""
        with suppress(OSError):
            for path in self._arrived.iterdir():
                if time.time() - path.stat().st_mtime > _KEPT_S:
                    path.unlink(missing_ok=True)

    def _make(self) -> None:
        make_private_folder(self.folder, parents=True)
        for folder in (self._waiting, self._arrived):
            make_private_folder(folder)

    def _put(self, path: Path, waiting: _Waiting) -> bool:
        beside = path.with_name(f".{path.name}.{os.getpid()}.new")
        write_whole(beside, waiting.model_dump_json(), private=True)
        try:
            os.link(beside, path)  # fails where one is there, which a rename would not
        except FileExistsError:
            return False
        except OSError:  # a file system without hard links
            if path.exists():
                return False
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
        return True


def _letter(path: Path) -> Letter | None:
    try:
        found = _Waiting.model_validate_json(read_file(path, most_bytes=_MOST_BYTES))
    except (OSError, ValidationError):
        return None
    return Letter(path, found.note, found.way, found.tries, found.next_s)
