"""Reading the end of a growing file: what was added to it, or its last lines."""

import codecs
import os
from dataclasses import dataclass, replace
from pathlib import Path

from gpupanel.files.guarded_files import open_to_read

MOST_BYTES_A_READ = 2**20
MOST_TEXT_WAITING = 2**18
"""More than anybody reads of a log: where more waits only the end is read."""
MOST_TEXT_A_READ = 2**16
"""Lines that a window takes in before anybody notices that it does."""
LONGEST_LINE_BYTES = 32 * 2**20
"""An evaluation of 4,000 classes, as it was written before it had a file of its own."""
_SHOWN_OF_LONGER = 200
_LAST_BYTES = 16 * 1024


@dataclass(frozen=True, slots=True)
class Place:
    """How far a file was read.

    Attributes:
        offset: Bytes from its start.
        identity: Which file that was: its device and its number there; ``None`` before the first
            read.
    """

    offset: int = 0
    identity: tuple[int, int] | None = None


class ByteTail:
    """What was appended to a file since the last read.

    A file that is not there yet has nothing; one that became shorter or is another by now was
    written anew and is read from its start.

    Args:
        path: The file.
        most_bytes: That one read takes.
        most_waiting: Where more bytes wait, what is before the last of them is passed over.

    Attributes:
        has_more: Whether more waits than the last read took.
        passed_over: How many bytes the last read passed over.
        began_anew: Whether the last read was from the start of a file written anew.
    """

    def __init__(
        self,
        path: Path,
        most_bytes: int = MOST_BYTES_A_READ,
        *,
        most_waiting: int | None = None,
    ) -> None:
        self._path = path
        self._most_bytes = most_bytes
        self._most_waiting = most_waiting
        self._offset = 0
        self._identity: tuple[int, int] | None = None
        self.has_more = False
        self.passed_over = 0
        self.began_anew = False

    def read(self) -> bytes:
        """What is new, or the part of it that one read takes."""
        self.began_anew = False
        self.passed_over = 0
        try:
            with open_to_read(self._path) as file:
                size = file.seek(0, 2)
                status = os.fstat(file.fileno())
                identity = status.st_dev, status.st_ino
                is_another = identity != self._identity and self._offset > 0
                self._identity = identity
                if size < self._offset or is_another:
                    self._offset = 0
                    self.began_anew = True
                if self._most_waiting is not None:
                    self.passed_over = max(0, size - self._most_waiting - self._offset)
                    self._offset += self.passed_over
                file.seek(self._offset)
                content = file.read(self._most_bytes)
        except FileNotFoundError:
            self.has_more = False
            return b""
        self._offset += len(content)
        self.has_more = self._offset < size
        return content

    @property
    def place(self) -> Place:
        """How far the file was read."""
        return Place(self._offset, self._identity)

    def move_to(self, place: Place) -> None:
        """Go on as if the file had been read so far; in another file by then, from its start."""
        self._offset, self._identity = place.offset, place.identity

    def put_back(self, count: int) -> None:
        """Give so many of the bytes that were read last once more."""
        self._offset -= count


class LineTail:
    """The whole lines appended to a file; half a line waits for its other half.

    A line longer than :data:`LONGEST_LINE_BYTES` would take as much memory: of it only the
    beginning is given, as a line that nobody can read and that is reported as such.
    """

    def __init__(self, path: Path, most_bytes: int = MOST_BYTES_A_READ) -> None:
        self._bytes = ByteTail(path, most_bytes)
        self._halves: list[bytes] = []
        self._half_bytes = 0

    @property
    def has_more(self) -> bool:
        """Whether more waits than was read."""
        return self._bytes.has_more

    @property
    def place(self) -> Place:
        """How far the file was read: to the end of a line."""
        place = self._bytes.place
        return replace(place, offset=place.offset - self._half_bytes)

    def move_to(self, place: Place) -> None:
        """Go on as if the file had been read so far, to the end of a line."""
        self._bytes.move_to(place)
        self._forget_half()

    def read(self) -> list[bytes]:
        """The new lines, without their ends; empty ones are left out.

        None need not mean that there are no more: see :attr:`has_more`.
        """
        return [line for line in self.read_block().split(b"\n") if line.strip()]

    def read_block(self) -> bytes:
        """The new lines as they stand in the file, with their ends.

        A line longer than one read is read to its end, up to the longest.
        """
        read_bytes = 0
        while True:
            before = self._bytes.place.offset
            block = self._read_once()
            read_bytes += self._bytes.place.offset - before
            if block or not self.has_more or read_bytes > LONGEST_LINE_BYTES:
                return block

    def _read_once(self) -> bytes:
        content = self._bytes.read()
        if self._bytes.began_anew:
            self._forget_half()
        end = content.rfind(b"\n") + 1
        if not end:
            self._half_bytes += len(content)
            if self._half_bytes <= LONGEST_LINE_BYTES:
                self._halves.append(content)
            else:
                # Too long: its beginning has to do, and what follows is counted only.
                self._halves = [b"".join((*self._halves, content))[:_SHOWN_OF_LONGER]]
            return b""
        # What follows the last end is read again with its other half: no copy of megabytes.
        self._bytes.put_back(len(content) - end)
        if self._half_bytes > LONGEST_LINE_BYTES:
            content = content[content.find(b"\n") : end]
            end = len(content)
        whole = b"".join((*self._halves, content[:end]))
        self._forget_half()
        return whole

    def _forget_half(self) -> None:
        self._halves, self._half_bytes = [], 0


class TextTail:
    """The text appended to a file; what is no UTF-8 is shown as such.

    Of a long log only the end is read, from the beginning of a line on.

    Attributes:
        skipped_bytes: How many bytes the last read left out before what it gave.
    """

    def __init__(self, path: Path) -> None:
        self._bytes = ByteTail(path, MOST_TEXT_A_READ, most_waiting=MOST_TEXT_WAITING)
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self.skipped_bytes = 0

    @property
    def has_more(self) -> bool:
        """Whether more waits than one read takes."""
        return self._bytes.has_more

    def read(self) -> str:
        """The new text; half a character waits for its other half."""
        content = self._bytes.read()
        self.skipped_bytes = self._bytes.passed_over
        if self.skipped_bytes or self._bytes.began_anew:
            self._decoder.reset()
        if self.skipped_bytes:
            begun, end, whole = content.partition(b"\n")
            if end:
                self.skipped_bytes += len(begun) + 1
                content = whole
        return self._decoder.decode(content)


def last_lines(path: Path, count: int = 20, most_bytes: int = _LAST_BYTES) -> tuple[str, ...]:
    """The last lines within the last bytes of a log; none if there is no log."""
    lines = last_bytes_lines(path, most_bytes)[-count:]
    return tuple(line.decode(errors="replace") for line in lines)


def last_bytes_lines(path: Path, most_bytes: int = _LAST_BYTES) -> list[bytes]:
    """The whole lines within the last bytes of a run's file; none where there is no such file."""
    try:
        with open_to_read(path) as file:
            size = file.seek(0, 2)
            start = max(0, size - most_bytes)
            file.seek(start)
            lines = file.read().splitlines()
    except OSError:
        return []
    return lines[1:] if start and len(lines) > 1 else lines
