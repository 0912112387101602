"""Reads the file that the program appends its reports to, whatever it writes there."""

import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Final, Self

_PIECE_BYTES: Final = 256 * 1024
_LONGEST_LINE: Final = 64 * 1024
"""Bytes of a report: one that is longer is none."""
_MOST_AT_ONCE: Final = 4 * 2**20
"""A program that floods the file keeps nobody from hearing a stop."""


class ReportFile:
    """Whole lines, each once, in their order; a line that is too long is passed over.

    Attributes:
        has_more: Whether more was written than was read at once.
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        self._offset = 0
        self.has_more = False
        self._rest = b""
        self._passes_over = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._file)

    def lines(self) -> Iterator[bytes]:
        """The lines that were written since; of very many, the rest next time."""
        read, self.has_more = 0, False
        while read < _MOST_AT_ONCE:
            piece = os.pread(self._file, _PIECE_BYTES, self._offset)
            if not piece:
                return
            read += len(piece)
            self._offset += len(piece)
            *whole, self._rest = (self._rest + piece).split(b"\n")
            for line in whole:
                if self._passes_over:
                    self._passes_over = False  # that was the end of it
                elif len(line) <= _LONGEST_LINE:
                    yield line
            if len(self._rest) > _LONGEST_LINE:
                self._rest, self._passes_over = b"", True
        self.has_more = True
