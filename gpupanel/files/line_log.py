"""Appending lines to a file that several processes write and follow."""

import errno
import os
from pathlib import Path

from gpupanel.files.guarded_files import open_to_append, status


class LineLog:
    """Appends whole lines, one write each, so that no reader or writer ever sees them mixed.

    A line that any writer could not finish, because it was killed or the disk was full, is ended
    first: what is appended is never glued to it, also where another process has torn it meanwhile.
    A file that was deleted or replaced is made anew: lines appended to a file that has no name any
    more would be lost without a word.

    Args:
        path: The file; made when it is not there, readable by its owner only. See
            :mod:`~gpupanel.files.guarded_files` for what is not written to.

    Attributes:
        times_made_anew: How often it was found deleted or replaced.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.times_made_anew = 0
        self._open()

    def append(self, line: str) -> None:
        """Append one line.

        Raises:
            OSError: It could not be written whole; a reader sees at most a part of it, as a line
                that it cannot read.
        """
        if not self._is_there():
            former = self._descriptor
            self._open()
            os.close(former)
            self.times_made_anew += 1
        content = line.encode() + b"\n"
        if self._ends_within_a_line():
            content = b"\n" + content
        written = os.write(self._descriptor, content)
        if written < len(content):
            # The rest is tried once: a full disk then says so with an error of its own.
            rest = os.write(self._descriptor, content[written:])
            if rest < len(content) - written:
                raise OSError(errno.ENOSPC, "a line was written in part", str(self._path))

    def touch(self) -> None:
        """Give the file the time of now, as appending would; that takes no space.

        Raises:
            OSError: It cannot be done.
        """
        os.utime(self._descriptor)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def _open(self) -> None:
        self._descriptor = open_to_append(self._path)
        opened = os.fstat(self._descriptor)
        self._identity = opened.st_dev, opened.st_ino

    def _is_there(self) -> bool:
        found = status(self._path)
        return found is not None and (found.st_dev, found.st_ino) == self._identity

    def _ends_within_a_line(self) -> bool:
        size = os.fstat(self._descriptor).st_size
        return size > 0 and os.pread(self._descriptor, 1, size - 1) != b"\n"
