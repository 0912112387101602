"""What is appended to the log of a process from some moment on."""

from pathlib import Path

from gpupanel.files.guarded_files import size_of
from gpupanel.runs.directory.tails import last_bytes_lines


class LogSince:
    """What is written to a log from now on: what stands there already is of an earlier attempt.

    Args:
        path: The log; it need not be there yet.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._begins = size_of(path)

    def last_lines(self, most_bytes: int) -> list[bytes]:
        """The last lines of it, within so many bytes."""
        written = size_of(self._path) - self._begins
        if written <= 0:
            return []
        # With the end of the line before: a first line without one may be half a line.
        return last_bytes_lines(self._path, min(written + 1, most_bytes))
