"""Appending lines to a file that others follow."""

import os
from pathlib import Path


class LineLog:
    """Appends whole lines, one write each, so that no reader or writer ever sees them mixed.

    A line that a writer before could not finish, because it was killed or the disk was full, is
    ended first: what is appended is never glued to it.
    """

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._line_is_torn = _ends_within_a_line(path)

    def append(self, line: str) -> None:
        """Append one line.

        Raises:
            OSError: It could not be written whole.
        """
        content = line.encode() + b"\n"
        if self._line_is_torn:
            content = b"\n" + content
        written = os.write(self._descriptor, content)
        self._line_is_torn = written < len(content)
        if written != len(content):
            raise OSError("a line was written in part")

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


def _ends_within_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        if file.seek(0, 2) == 0:
            return False
        file.seek(-1, 2)
        return file.read(1) != b"\n"
