"""Reading what was added to a growing file, and never its start again."""

import codecs
from pathlib import Path

MOST_BYTES_A_READ = 2**20


class ByteTail:
    """What was appended to a file since the last read.

    A file that is not there yet has nothing; one that became shorter was written anew and is read
    from its start.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self.has_more = False

    def read(self) -> bytes:
        """At most 1 MiB; :attr:`has_more` says whether more waits."""
        try:
            with self._path.open("rb") as file:
                size = file.seek(0, 2)
                if size < self._offset:
                    self._offset = 0
                file.seek(self._offset)
                content = file.read(MOST_BYTES_A_READ)
        except FileNotFoundError:
            self.has_more = False
            return b""
        self._offset += len(content)
        self.has_more = self._offset < size
        return content


class LineTail:
    """The whole lines appended to a file; half a line waits for its other half."""

    def __init__(self, path: Path) -> None:
        self._bytes = ByteTail(path)
        self._half = b""

    @property
    def has_more(self) -> bool:
        """Whether more waits than one read takes."""
        return self._bytes.has_more

    def read(self) -> list[bytes]:
        """The new lines, without their ends; empty ones are left out."""
        *whole, self._half = (self._half + self._bytes.read()).split(b"\n")
        return [line for line in whole if line.strip()]


class TextTail:
    """The text appended to a file; what is no UTF-8 is shown as such."""

    def __init__(self, path: Path) -> None:
        self._bytes = ByteTail(path)
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    @property
    def has_more(self) -> bool:
        """Whether more waits than one read takes."""
        return self._bytes.has_more

    def read(self) -> str:
        """The new text; half a character waits for its other half."""
        return self._decoder.decode(self._bytes.read())
