"""Files of data that stay on disk: what shows that one is still what it was.

To read every file again before a run goes on may take minutes. A file whose size, number and
times are those of before is taken for the same: the system sets the time of the last change
(``ctime``) itself whenever content, name or the other times are changed, and nobody can set it back
but by the clock. Where any of them differs, as in a copy, the bytes are read.
"""

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from gpupanel.files.regular_files import open_regular

THREADS = 4
_READ_BYTES = 2**20
_RECENT_NS = 2 * 10**9
"""The times of files are no finer than some milliseconds, and their clock may be another one: a
file that was changed so shortly before its print was taken may be changed again unseen."""


class FilePrint(NamedTuple):
    """A file.

    Attributes:
        path: Relative to the folder of the data; what is no UTF-8 in it is written out. Of a set
            in a folder of its own: the set and the path in there, such as ``test://cat/1.png``.
        mtime_ns: When its content was changed last, as far as anybody may say.
        ctime_ns: When anything of it was changed last, as the system says.
        number: Of the file in its file system.
        digest: SHA-256 of its content in hexadecimal digits; empty: nobody has read it yet.
    """

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    number: int
    digest: str = ""

    def is_untouched_since(self, before: "FilePrint", looked_ns: int) -> bool:
        """Whether nothing was done to it since it was examined, so that it need not be read."""
        return _marks(self) == _marks(before) and looked_ns > before.settled_ns

    @property
    def settled_ns(self) -> int:
        """From when on whoever reads it reads what has these times, in nanoseconds since the epoch.

        Until then it may be changed once more unseen.
        """
        return self.ctime_ns + _RECENT_NS


class DataFiles:
    """Files as they were just before their examples were read.

    Args:
        root: The folder of the data.
        paths: In the order of their examples.
        sets: Further folders and what is in them, by the name of the set.

    Attributes:
        prints: In the same order, without digests.
        places: Where each is, by the path in its print.
        looked_ns: When they were examined, in nanoseconds since the epoch.

    Raises:
        OSError: One of them is not there any more; its ``filename`` says which.
    """

    def __init__(
        self,
        root: Path,
        paths: Iterable[str | Path],
        sets: Mapping[str, tuple[Path, Iterable[str | Path]]] | None = None,
    ) -> None:
        self.looked_ns = time.time_ns()
        places = dict(_named_below(root, paths))
        for name, (folder, of_set) in (sets or {}).items():
            # No path below a folder has two slashes in a row.
            places |= {f"{name}://{path}": place for path, place in _named_below(folder, of_set)}
        self.places: Mapping[str, str] = places
        # Not by a Path each, which takes longer than to ask the system.
        stats = ((name, os.stat(path)) for name, path in places.items())  # noqa: PTH116
        self.prints = tuple(_print_from(name, found) for name, found in stats)

    def digest_of(self, file: FilePrint, is_cancelled: Callable[[], bool] = lambda: False) -> str:
        """Digest of a file's content; empty if it has changed, cannot be read, or on cancel."""
        try:
            return _digest(Path(self.places[file.path]), file, is_cancelled)
        except OSError:
            return ""

    def digests_of(self, files: Iterable[FilePrint]) -> Mapping[str, str]:
        """Digests of several files at once, by path."""
        chosen = tuple(files)
        with ThreadPoolExecutor(THREADS, thread_name_prefix="hash-files") as pool:
            digests = pool.map(self.digest_of, chosen)
            return {file.path: digest for file, digest in zip(chosen, digests, strict=True)}


def _named_below(root: Path, paths: Iterable[str | Path]) -> Iterator[tuple[str, str]]:
    above = f"{str(root).rstrip(os.sep)}{os.sep}"
    return ((_text(path.removeprefix(above)), path) for path in map(str, paths))


def _digest(path: Path, file: FilePrint, is_cancelled: Callable[[], bool]) -> str:
    hasher = hashlib.sha256()
    with open_regular(path) as content:
        while piece := content.read(_READ_BYTES):
            if is_cancelled():
                return ""
            hasher.update(piece)
        now = _print_from(file.path, os.fstat(content.fileno()))
    return hasher.hexdigest() if _marks(now) == _marks(file) else ""


def _print_from(path: str, found: os.stat_result) -> FilePrint:
    return FilePrint(path, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


def _marks(file: FilePrint) -> tuple[int, int, int, int]:
    return file.size, file.mtime_ns, file.ctime_ns, file.number


def _text(path: str) -> str:
    return os.fsencode(path).decode(errors="backslashreplace")
