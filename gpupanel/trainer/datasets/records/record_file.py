"""A TFRecord file: where its records begin, and their bytes.

A record is its length (eight bytes, the least significant first) and a checksum of that, then its
bytes and a checksum of these (``tensorflow/core/lib/io/record_writer.h``). A length counts only
with its checksum, and only up to the end of the file: nothing is reserved for it before.
"""

import os
import struct
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gpupanel.domain.problem import ProblemError
from gpupanel.files.guarded_files import open_to_read
from gpupanel.files.regular_files import open_regular
from gpupanel.trainer.datasets.cache_file import Marks, marks_of
from gpupanel.trainer.datasets.data_problems import changed, data_problem, unreadable
from gpupanel.trainer.datasets.records import problems
from gpupanel.trainer.datasets.records.crc32c import masked_crc, masked_crcs
from gpupanel.trainer.size_limits import check_size

HEAD = struct.Struct("<QI")
"""The header of a record: its length, and the checksum of that."""
TAIL = struct.Struct("<I")
LARGEST_RECORD_BYTES = 2**30
"""No protocol buffer has more than twice as many."""
_LARGE_BYTES = 16 * 2**20
_BLOCK_BYTES = 64 * 2**10
_AT_ONCE_BYTES = 4 * 2**20
_KNOWN_LENGTHS = 10_000

Visit = Callable[["Window", int, int, int], None]
"""Called with what gives bytes of the file, the number of a record, where it begins, its length."""


@dataclass(frozen=True, slots=True)
class RecordSource:
    """A file that holds records, plain.

    Attributes:
        chosen: The file that was chosen, for the words; that one itself, or what it was unpacked
            from.
        unpacked: Where the plain records of a compressed file are; ``None``: it is plain itself.
        field: The profile key that names it.
        origin: What the chosen file was when it was examined.
    """

    chosen: Path
    unpacked: Path | None
    field: str
    origin: Marks

    def opened(self) -> BufferedReader:
        """The plain records.

        Raises:
            ProblemError: They cannot be opened.
        """
        try:
            return open_to_read(self.unpacked) if self.unpacked else open_regular(self.chosen)
        except OSError as error:
            raise self.unreadable(error) from error

    def size_bytes(self) -> int:
        """The size of the uncompressed records; 0 if unknown."""
        try:
            return (self.unpacked or self.chosen).stat().st_size
        except OSError:
            return 0  # opening it says why

    def unreadable(self, error: OSError) -> ProblemError:
        """The problem of a file that the system does not give."""
        if self.unpacked:
            return problems.cache_unusable(self.unpacked.parent, error)
        return unreadable(self.chosen, error, self.field)

    def marks(self, status: os.stat_result) -> Marks:
        """What shows that the file is still what it was.

        Of the cache's the size alone: its times change whenever somebody uses it, and another
        process may have made it anew of the same compressed file, which its name stands for.
        """
        return (status.st_size,) if self.unpacked else marks_of(status)


class Window:
    """Gives bytes of a file that is read from its start to its end, in few calls."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._start, self._data = 0, b""

    def take(self, at: int, count: int) -> bytes:
        """Read bytes from a position; fewer where the file ends before.

        Raises:
            OSError: They cannot be read.
        """
        begin = at - self._start
        if begin < 0 or begin + count > len(self._data):
            if count > _BLOCK_BYTES:
                return _read(self._descriptor, count, at)
            self._start, begin = at, 0
            self._data = os.pread(self._descriptor, _BLOCK_BYTES, at)
        return self._data[begin : begin + count]


class Framing:
    """Checks the lengths of records."""

    def __init__(self, path: Path, field: str) -> None:
        self._path, self._field = path, field
        self._known: dict[int, int] = {}

    def length(self, head: bytes, number: int, offset: int) -> int:
        """The length of the record with this header.

        Args:
            head: Its first bytes.
            number: Of the record, from 1.
            offset: Where it begins.

        Raises:
            ProblemError: The checksum is another one, or the record is larger than any.
        """
        if len(head) < HEAD.size:
            raise self.cut_short(number, offset)
        length, crc = HEAD.unpack(head)
        # Most records of a file are of few lengths.
        if self._known.get(length) != crc:
            if masked_crc(head[:8]) != crc:
                if number == 1:
                    raise problems.no_records(self._path, self._field)
                what = "the checksum of its length is another one"
                raise problems.damaged(self._path, number, offset, what, self._field)
            if len(self._known) > _KNOWN_LENGTHS:
                self._known.clear()
            self._known[length] = crc
        if length > LARGEST_RECORD_BYTES:
            what = f"it says that it has {length:,} bytes, more than any example"
            raise problems.damaged(self._path, number, offset, what, self._field)
        if length > _LARGE_BYTES:  # asking for this machine's memory takes as long as all else
            check_size(length, f"Record {number:,} of {self._path}", self._field)
        return int(length)

    def cut_short(self, number: int, offset: int) -> ProblemError:
        """The problem of a file that ends within a record."""
        what = "it ends before the record does"
        return problems.damaged(self._path, number, offset, what, self._field)


@dataclass(frozen=True, slots=True, eq=False)
class RecordFile:
    """A file and the places of its records.

    Attributes:
        source: Where it is.
        starts: Where the bytes of each record begin.
        lengths: How many it has.
        marks: What the file was when they were found.
        is_right: Of each record, whether it was held against its checksum. Once is enough: a file
            that is changed later has other marks. Several threads may write the same into it.
    """

    source: RecordSource
    starts: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int32]
    marks: Marks
    is_right: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.starts)

    def records(self, numbers: Sequence[int]) -> Iterator[tuple[Sequence[int], list[bytes]]]:
        """Some records, some at a time; each is held against its checksum when it is first read.

        Args:
            numbers: Of the records, from 0.

        Returns:
            Places among the numbers, and the bytes of these records.

        Raises:
            ProblemError: The file is gone or another one, or a record is damaged.
        """
        source = self.source
        try:
            with source.opened() as file:
                descriptor = file.fileno()
                if source.marks(os.fstat(descriptor)) != self.marks:
                    raise changed("records_changed", source.chosen, source.field)
                for first, end in self._parts(numbers):
                    part = numbers[first:end]
                    yield range(first, end), self._checked(descriptor, part)
        except OSError as error:
            raise source.unreadable(error) from error

    def _parts(self, numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Few enough at a time that their bytes take little memory, but for a single one."""
        first = size = 0
        for place, number in enumerate(numbers):
            size += int(self.lengths[number])
            if size > _AT_ONCE_BYTES and place > first:
                yield first, place
                first, size = place, int(self.lengths[number])
        if first < len(numbers):
            yield first, len(numbers)

    def _checked(self, descriptor: int, numbers: Sequence[int]) -> list[bytes]:
        source, found = self.source, []
        new: dict[int, tuple[memoryview, int]] = {}
        for number in numbers:
            length = int(self.lengths[number])
            whole = _read(descriptor, length + TAIL.size, int(self.starts[number]))
            if len(whole) < length + TAIL.size:
                raise changed("records_changed", source.chosen, source.field)
            found.append(whole[:length])
            if not self.is_right[number]:
                new[number] = memoryview(whole)[:length], TAIL.unpack_from(whole, length)[0]
        crcs = masked_crcs([record for record, _ in new.values()])
        for number, crc, (_, expected) in zip(new, crcs, new.values(), strict=True):
            if crc != expected:
                raise problems.wrong_checksum(source.chosen, number + 1, source.field)
            self.is_right[number] = True
        return found


def index(source: RecordSource, visit: Visit, most_records: int) -> RecordFile:
    """Find the records of a file.

    Args:
        source: Where it is.
        visit: Called with each record.
        most_records: More are refused.

    Raises:
        ProblemError: The file cannot be read, or is damaged.
    """
    starts, lengths, at = array("q"), array("i"), 0
    framing = Framing(source.chosen, source.field)
    with source.opened() as file:
        try:
            before = os.fstat(file.fileno())
            window = Window(file.fileno())
            while at < before.st_size:
                number = len(starts) + 1
                length = framing.length(window.take(at, HEAD.size), number, at)
                if at + HEAD.size + length + TAIL.size > before.st_size:
                    raise framing.cut_short(number, at)
                if number > most_records:
                    raise data_problem(
                        "records_too_many",
                        f"There are more than {most_records:,} records up to {source.chosen}.",
                        "Train on a part of them.",
                        field=source.field,
                    )
                visit(window, number, at + HEAD.size, length)
                starts.append(at + HEAD.size)
                lengths.append(length)
                at += HEAD.size + length + TAIL.size
            if source.marks(os.fstat(file.fileno())) != source.marks(before):
                raise changed("records_changed", source.chosen, source.field)
        except OSError as error:
            raise source.unreadable(error) from error
    return RecordFile(
        source,
        np.frombuffer(starts, np.int64),
        np.frombuffer(lengths, np.int32),
        source.marks(before),
        np.zeros(len(starts), np.bool_),
    )


def _read(descriptor: int, count: int, at: int) -> bytes:
    found = os.pread(descriptor, count, at)
    if len(found) in (0, count):
        return found
    pieces = [found]
    while len(found) and sum(map(len, pieces)) < count:
        done = sum(map(len, pieces))
        found = os.pread(descriptor, count - done, at + done)
        pieces.append(found)
    return b"".join(pieces)
