"""Files of data that stay on disk: what shows that one is still what it was.

To read every file again before a run goes on may take minutes. A file whose size, number and
times are those of before is taken for the same: the system sets the time of the last change
(``ctime``) itself whenever content, name or the other times are changed, and nobody can set it back
but by the clock. Where any of them differs, as in a copy, the bytes are read.
"""

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, NamedTuple, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt
from typing_extensions import override

from gpupanel.files.regular_files import open_regular

THREADS = 4
_READ_BYTES = 2**20
_AT_ONCE = 10_000
"""Files that are Python's objects at the same time."""
_RECENT_NS = 2 * 10**9
"""The times of files are no finer than some milliseconds, and their clock may be another one: a
file that was changed so shortly before its print was taken may be changed again unseen."""
_MARKS = np.dtype(
    [("size", np.int64), ("mtime_ns", np.int64), ("ctime_ns", np.int64), ("number", np.uint64)]
)
_DIGEST = np.dtype("S64")
_FIRST_NS, _LAST_NS = -(2**63), 2**63 - 1 - _RECENT_NS

Flags = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int32]
Kind = TypeVar("Kind")


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
    digest: Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{64})?$")] = ""


class FilePrints:
    """The prints of many files: a million of them take 100 MB less than as objects of Python.

    Attributes:
        paths: As :attr:`FilePrint.path`.
        marks: Shape [files]: ``size``, ``mtime_ns``, ``ctime_ns`` and ``number`` of each.
        digests: Shape [files], of bytes; likewise.
    """

    def __init__(
        self,
        paths: "Sequence[str] | _Paths",
        marks: npt.NDArray[np.void],
        digests: npt.NDArray[np.bytes_] | None = None,
    ) -> None:
        """See the attributes; without digests nobody has read any of them."""
        self.paths = paths
        self.marks = marks
        # Of zeros that are not written to the system holds no memory.
        self.digests = np.zeros(len(marks), _DIGEST) if digests is None else digests

    @classmethod
    def from_json(cls, prints: Sequence[msgspec.Raw]) -> "FilePrints":
        """Those that :func:`json_with_prints` has written.

        Args:
            prints: Each an array of JSON.

        Raises:
            ValueError: One of them is no print.
        """
        read = msgspec.json.Decoder(FilePrint).decode
        paths: list[str] = []
        marks, digests = np.empty(len(prints), _MARKS), np.zeros(len(prints), _DIGEST)
        try:
            for row, each in enumerate(map(read, prints)):
                paths.append(each.path)
                marks[row] = each[1:5]
                if each.digest:
                    digests[row] = each.digest.encode("ascii")
        except (msgspec.MsgspecError, OverflowError) as error:
            raise ValueError(str(error)) from error
        return cls(paths, marks, digests)

    def __len__(self) -> int:
        """How many files they are of."""
        return len(self.marks)

    def __getitem__(self, row: int) -> FilePrint:
        """That of one file."""
        size, mtime_ns, ctime_ns, number = self.marks[row].item()
        digest = self.digests[row].decode()
        return FilePrint(self.paths[row], size, mtime_ns, ctime_ns, number, digest)

    def __iter__(self) -> Iterator[FilePrint]:
        """One after the other."""
        paths = iter(self.paths)
        for start in range(0, len(self), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            marks, digests = self.marks[part].tolist(), self.digests[part].tolist()
            for path, mark, digest in zip(islice(paths, _AT_ONCE), marks, digests, strict=True):
                size, mtime_ns, ctime_ns, number = mark
                yield FilePrint(path, size, mtime_ns, ctime_ns, number, digest.decode())

    @override
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FilePrints):
            return NotImplemented
        return (
            len(self) == len(other)
            and np.array_equal(self.marks, other.marks)
            and np.array_equal(self.digests, other.digests)
            and all(map(str.__eq__, self.paths, other.paths))
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def settled_ns(self) -> npt.NDArray[np.int64]:
        """From when on whoever reads each reads what has these times, in ns since the epoch.

        Until then it may be changed once more unseen.
        """
        return self.marks["ctime_ns"] + _RECENT_NS

    def with_digests(self, digests: npt.NDArray[np.bytes_]) -> "FilePrints":
        """The same, of which these are known by now."""
        return FilePrints(self.paths, self.marks, digests)

    def places_in(self, others: "FilePrints") -> Rows:
        """Where each is among the others by its path; -1: nowhere."""
        count = len(self)
        if count == len(others) and all(map(str.__eq__, self.paths, others.paths)):
            return np.arange(count, dtype=np.int32)
        place_of = {path: place for place, path in enumerate(others.paths)}
        return np.fromiter((place_of.get(path, -1) for path in self.paths), np.int32, count)

    def are_untouched(self, before: "FilePrints", places: Rows, looked_ns: int) -> Flags:
        """Whether nothing was done to each since it was examined, so that it need not be read.

        Args:
            before: As they were then.
            places: Where each is among them; -1: nowhere.
            looked_ns: When they were examined then.
        """
        untouched: Flags = places >= 0
        was, here = places[untouched], np.flatnonzero(untouched)
        is_settled = before.settled_ns[was] < looked_ns
        untouched[here] = (self.marks[here] == before.marks[was]) & is_settled
        return untouched


def read_json(content: bytes, kind: type[Kind]) -> Kind:
    """What :func:`json_with_prints` has written, its prints still as they stand there.

    Raises:
        ValueError: It is damaged.
    """
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.MsgspecError as error:
        raise ValueError(str(error)) from error


def json_with_prints(fields: object, key: str, prints: FilePrints) -> Iterator[bytes]:
    """An object of JSON, in pieces, since the text of a million prints takes 150 MB.

    Args:
        fields: What else is in it; at least one field.
        key: Of the prints in it.
        prints: Each becomes an array.
    """
    yield msgspec.json.encode(fields)[:-1] + b"," + msgspec.json.encode(key) + b":["
    left = iter(prints)
    for start in range(0, len(prints), _AT_ONCE):
        part = msgspec.json.encode(list(islice(left, _AT_ONCE)))
        yield (b"," if start else b"") + part[1:-1]
    yield b"]}"


class DataFiles:
    """Files as they were just before their examples were read.

    Args:
        root: The folder of the data.
        paths: In the order of their examples.
        sets: Further folders and what is in them, by the name of the set.

    Attributes:
        prints: In the same order, each file once, without digests.
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
        folders = [_Folder("", root, paths)]
        folders += (_Folder(f"{name}://", *each) for name, each in (sets or {}).items())
        self._places = [*chain.from_iterable(folder.places for folder in folders)]
        self.prints = FilePrints(_Paths(folders), _marks_of(self._places))

    def digest_of(self, row: int, is_cancelled: Callable[[], bool] = lambda: False) -> str:
        """Digest of a file's content; empty if it has changed, cannot be read, or on cancel."""
        try:
            return _digest(self._places[row], self.prints.marks[row], is_cancelled)
        except OSError:
            return ""

    def digests_of(self, rows: Sequence[int]) -> list[str]:
        """Digests of several files at once."""
        with ThreadPoolExecutor(THREADS, thread_name_prefix="hash-files") as pool:
            return list(pool.map(self.digest_of, rows))


class _Folder:
    """A folder of the data.

    Attributes:
        places: The files in it, each once.
    """

    def __init__(self, name: str, root: Path, paths: Iterable[str | Path]) -> None:
        # No path below a folder has two slashes in a row.
        self._name = name
        self._above = f"{str(root).rstrip(os.sep)}{os.sep}"
        self.places: Sequence[str] = [*dict.fromkeys(map(str, paths))]

    def path_of(self, place: str) -> str:
        """As in its print."""
        below = os.fsencode(place.removeprefix(self._above)).decode(errors="backslashreplace")
        return f"{self._name}{below}"


class _Paths:
    """The paths of prints, found when they are asked for."""

    def __init__(self, folders: Sequence[_Folder]) -> None:
        self._folders = folders

    def __getitem__(self, row: int) -> str:
        place = range(sum(len(folder.places) for folder in self._folders))[row]
        for folder in self._folders:
            if place < len(folder.places):
                return folder.path_of(folder.places[place])
            place -= len(folder.places)
        raise AssertionError

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(map(each.path_of, each.places) for each in self._folders)


def _marks_of(places: Sequence[str]) -> npt.NDArray[np.void]:
    # Not by a Path each, which takes longer than to ask the system.
    found = (_mark(os.stat(place)) for place in places)  # noqa: PTH116
    return np.fromiter(found, _MARKS, len(places))


def _mark(found: os.stat_result) -> tuple[int, int, int, int]:
    """File systems hold times of any year, nanoseconds those of 292 years from 1970."""
    return found.st_size, _bounded(found.st_mtime_ns), _bounded(found.st_ctime_ns), found.st_ino


def _bounded(time_ns: int) -> int:
    return time_ns if _FIRST_NS <= time_ns <= _LAST_NS else max(_FIRST_NS, min(time_ns, _LAST_NS))


def _digest(place: str, mark: np.void, is_cancelled: Callable[[], bool]) -> str:
    hasher = hashlib.sha256()
    with open_regular(Path(place)) as content:
        while piece := content.read(_READ_BYTES):
            if is_cancelled():
                return ""
            hasher.update(piece)
        now = _mark(os.fstat(content.fileno()))
    return hasher.hexdigest() if now == mark.item() else ""
