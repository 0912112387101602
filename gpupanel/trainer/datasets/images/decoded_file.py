"""The file of the cache that holds one folder's decoded images, in one size.

It fills while images are asked for, by all who ask for the same ones at that time
(:class:`~gpupanel.trainer.datasets.row_store.RowStore`); as soon as all are there it is forced to
the disk, and a record beside it says what it holds. An image is decoded again where it is not what
it was when it was decoded
(:meth:`~gpupanel.trainer.datasets.file_prints.FilePrints.are_untouched`).
"""

import hashlib
import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import msgspec
import numpy as np
from filelock import Timeout

from gpupanel.domain.problem import ProblemError
from gpupanel.files.cache_folder import remove_unused
from gpupanel.files.guarded_files import read_file, remove, rename
from gpupanel.files.locks import lock_in_folder
from gpupanel.files.whole_files import whole_file
from gpupanel.trainer.datasets.examples import Array, Indices
from gpupanel.trainer.datasets.file_prints import DataFiles, FilePrints, json_with_prints, read_json
from gpupanel.trainer.datasets.images.decode_ahead import chunks, read_ahead
from gpupanel.trainer.datasets.images.decoded_problems import (
    disk_problems,
    free_bytes,
    no_space,
    unreadable,
)
from gpupanel.trainer.datasets.images.files import ImageFiles
from gpupanel.trainer.datasets.progress import OnProgress
from gpupanel.trainer.datasets.row_files import RowFile
from gpupanel.trainer.datasets.row_store import Bytes, Flags, RowStore, system_start

_LARGEST_RECORD_BYTES = 2**30
_LOOK_S = 1.0
"""Between two counts of what is still missing."""
DOING = "decoding images"
"""What takes long, in words."""


@dataclass(frozen=True, slots=True)
class _Record:
    """What the rows of a file hold: the images as they were when they were decoded.

    Attributes:
        looked_ns: When they were examined before, in nanoseconds since the epoch.
        prints: Of each row.
        unreadable: The rows that hold nothing, since their files could not be read.
    """

    looked_ns: int
    prints: FilePrints
    unreadable: frozenset[int] = frozenset()

    def to_json(self) -> Iterator[bytes]:
        saved = _Saved(looked_ns=self.looked_ns, unreadable=self.unreadable)
        return json_with_prints(saved, "prints", self.prints)

    @classmethod
    def from_json(cls, content: bytes) -> "_Record":
        """Read it.

        Raises:
            ValueError: It is damaged.
        """
        saved = read_json(content, _SavedWithPrints)
        return cls(saved.looked_ns, FilePrints.from_json(saved.prints), saved.unreadable)


class _Saved(msgspec.Struct):
    looked_ns: int
    unreadable: frozenset[int] = frozenset()
    schema_version: Literal[1] = 1


class _SavedWithPrints(_Saved, kw_only=True):
    prints: list[msgspec.Raw]


class _Rows(Protocol):
    """Decoded images, each a row of bytes."""

    def are_there(self, rows: Indices) -> Flags:
        """Which of them are."""

    def read(self, rows: Indices) -> Bytes:
        """The rows of the file, in this order."""

    def keep(self, rows: Indices, content: Bytes, read_ns: int) -> None:
        """Take them in."""


@dataclass(frozen=True, slots=True, eq=False)
class _WholeFile:
    """A file that is complete: what it does not hold could not be read."""

    file: RowFile
    row_bytes: int
    there: Flags

    def are_there(self, rows: Indices) -> Flags:
        return self.there[rows]

    def read(self, rows: Indices) -> Bytes:
        return self.file.read(rows, self.row_bytes)

    def keep(self, rows: Indices, content: Bytes, read_ns: int) -> None:
        """Nothing: another run finds out for itself whether the image can be read again."""


class ImagesFile:
    """The file of one folder's images, each at the place of its path.

    Attributes:
        files: The images, each once.
    """

    def __init__(self, files: ImageFiles, listed: DataFiles, place: Path) -> None:
        """Open it, or make an empty one; under the lock of that place.

        Args:
            files: See :attr:`files`.
            listed: The images as they are now.
            place: Of the file; its name becomes longer.

        Raises:
            ProblemError: There is no space for the images that are missing.
            OSError: It cannot be made.
        """
        self.files = files
        self._listed = listed
        self._place = place
        self._row_bytes = math.prod(files.shape[1:])
        self._sealing = threading.Lock()
        self._look_s = time.monotonic() + _LOOK_S
        self._filling: RowStore | None = None
        # From rows to those of the file before that hold the same; below 0: none does.
        self._same = np.full(len(files.paths), -1, np.int32)
        self._before: tuple[_Record, RowFile] | None = self._found()
        remove_unused(place.parent)
        self._rows: _Rows
        whole = self._whole()
        if whole is not None:
            self._rows = whole
        else:
            self._rows = self._filling = self._begun()
            self._seal()  # others may have come to the end of it

    def read_readable(self, rows: Indices) -> tuple[Array, Mapping[int, ProblemError]]:
        """See :meth:`DecodedImages.read_readable`."""
        with disk_problems(math.prod(self.files.shape)):
            there = self._rows.are_there(rows)
            if there.all():
                pixels, errors = self._read(self._rows.read, rows), dict[int, ProblemError]()
            else:
                pixels, errors = self._filled(rows, there)
            filling = self._filling
            if filling is not None and (filling.is_full or time.monotonic() > self._look_s):
                self._seal_alone()
        return pixels.reshape(len(rows), *self.files.shape[1:]), errors

    def decode_all(self, on_progress: OnProgress) -> None:
        """Decode what is missing; under the lock of the place.

        Raises:
            ProblemError: As :meth:`read_readable`.
            OSError: It cannot be kept.
        """
        count = len(self.files.paths)
        everything = np.arange(count, dtype=np.int32)
        missing = everything[~self._rows.are_there(everything)]
        if len(missing):
            self.files.decoding.wait(lambda: on_progress(DOING, count - len(missing), count))
        with closing(read_ahead(chunks(missing), self.read_readable)) as read:
            done = count - len(missing)
            for rows, _ in read:
                on_progress(DOING, done, count)
                done += len(rows)
        if len(missing):
            on_progress(DOING, count, count)
        self._seal()

    def _filled(self, rows: Indices, there: Flags) -> tuple[Bytes, dict[int, ProblemError]]:
        pixels = np.zeros((len(rows), self._row_bytes), np.uint8)
        same = np.where(there, -1, self._same[rows])
        is_copied, is_decoded = same >= 0, ~there & (same < 0)
        if there.any():
            pixels[there] = self._read(self._rows.read, rows[there])
        if self._before is not None and is_copied.any():
            record, file = self._before
            pixels[is_copied] = self._read(
                lambda places: file.read(places, self._row_bytes), same[is_copied]
            )
            self._rows.keep(rows[is_copied], pixels[is_copied], record.looked_ns)
        errors: dict[int, ProblemError] = {}
        places = np.flatnonzero(is_decoded)
        if len(places):
            read_ns = time.time_ns()
            decoded, failed = self.files.read_readable(rows[places])
            pixels[places] = decoded.reshape(len(places), self._row_bytes)
            errors = {int(places[number]): error for number, error in failed.items()}
            kept = np.array([each for each in places.tolist() if each not in errors], np.intp)
            self._rows.keep(rows[kept], pixels[kept], read_ns)
        return pixels, errors

    def _read(self, read: Callable[[Indices], Bytes], rows: Indices) -> Bytes:
        try:
            return read(rows)
        except (OSError, EOFError) as error:
            raise unreadable(self._place, error) from error

    def _found(self) -> tuple[_Record, RowFile] | None:
        """The complete file that is there, and what it holds."""
        try:
            content = read_file(self._record_file, most_bytes=_LARGEST_RECORD_BYTES)
            record = _Record.from_json(content)
            there = RowFile(self._pixels_file(record.looked_ns))
        except (OSError, ValueError):
            return None
        is_complete = there.size_bytes == len(record.prints) * self._row_bytes
        return (record, there) if is_complete else None

    def _whole(self) -> _WholeFile | None:
        """The complete file, where it holds just these images."""
        if self._before is None:
            return None
        record, file = self._before
        prints = self._listed.prints
        places = prints.places_in(record.prints)
        places[~prints.are_untouched(record.prints, places, record.looked_ns)] = -1
        unreadable = [*record.unreadable]
        if np.array_equal(places, np.arange(len(record.prints))):
            for path in (self._record_file, file.path):
                os.utime(path, follow_symlinks=False)
            there = np.ones(len(places), np.bool_)
            there[unreadable] = False
            return _WholeFile(file, self._row_bytes, there)
        # What could not be read is tried again, and reported again.
        places[np.isin(places, unreadable)] = -1
        self._same = places
        return None

    def _begun(self) -> RowStore:
        """The file that others fill with just these images, or an empty one."""
        prints = self._listed.prints
        hasher = hashlib.sha256(system_start().encode())
        hasher.update(prints.marks.tobytes())
        for name in prints.paths:
            hasher.update(f"{name}\0".encode())
        rows, times = (
            self._place.with_name(f"{self._place.name}-{hasher.hexdigest()[:32]}{ending}")
            for ending in (".filling", ".times")
        )
        for path in self._place.parent.glob(f"{self._place.name}-*"):
            if path.suffix in (".filling", ".times") and path not in (rows, times):
                remove(path)  # of other images, or of another start of the system
        self._keep_only(None if self._before is None else self._before[1].path)
        self._times_file = times
        filling = RowStore(rows, times, self._row_bytes, prints.settled_ns)
        needed = len(filling.missing()) * self._row_bytes
        if needed > free_bytes(self._place.parent):
            raise no_space(needed, self._place.parent)
        return filling

    @property
    def _record_file(self) -> Path:
        return self._place.with_suffix(".json")

    def _pixels_file(self, looked_ns: int) -> Path:
        # Another one for each record, so that the two always belong to each other.
        return self._place.with_name(f"{self._place.name}-{looked_ns}.pixels")

    def _seal_alone(self) -> None:
        """Seal it, unless somebody else is just doing something with files of this place."""
        if not self._sealing.acquire(blocking=False):
            return
        try:
            with lock_in_folder(self._place.with_suffix(".lock"), 0.0):
                self._seal()
        except (Timeout, FileNotFoundError):
            pass  # later, or never: the folder was removed
        finally:
            self._look_s = time.monotonic() + _LOOK_S
            self._sealing.release()

    def _seal(self) -> None:
        """Make it what later runs find, as soon as all images that can be read are in it."""
        filling, skipped = self._filling, self.files.skipped
        if filling is None:
            return
        missing = filling.missing().tolist()
        for row in missing:
            if skipped is None or skipped.error_of(self.files.paths[row]) is None:
                return
        self._filling = None
        if not filling.is_in_its_place():
            return  # another process did it, or has made another one
        filling.force()
        listed = self._listed
        record = _Record(
            looked_ns=listed.looked_ns, prints=listed.prints, unreadable=frozenset(missing)
        )
        rename(filling.path, self._pixels_file(record.looked_ns))
        with whole_file(self._record_file, private=True) as kept:
            kept.writelines(record.to_json())
        remove(self._times_file)
        self._keep_only(self._pixels_file(record.looked_ns))

    def _keep_only(self, kept: Path | None) -> None:
        """Remove complete files that no record names: replaced, or of a process killed since."""
        for path in self._place.parent.glob(f"{self._place.name}-*.pixels"):
            if path != kept:
                remove(path)
