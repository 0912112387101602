"""Appending lines to a file that others follow."""

import os
from pathlib import Path


class LineLog:
    """Appends whole lines, one write each, so that no reader or writer ever sees them mixed."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def append(self, line: str) -> None:
        """Append one line.

        Raises:
            OSError: It could not be written whole.
        """
        content = line.encode() + b"\n"
        if os.write(self._descriptor, content) != len(content):
            raise OSError("a line was written in part")

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)
