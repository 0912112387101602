"""A log whose last lines find space even on a full disk."""

from contextlib import suppress
from pathlib import Path

from gpupanel.files.file_obstacles import NO_SPACE
from gpupanel.files.guarded_files import open_to_write, remove, status
from gpupanel.files.line_log import LineLog

RESERVE_BYTES = 64 * 1024
"""The last words of a run with the end of its log in them are a few kilobytes."""


class ReservedLog:
    """Appends lines, and gives up a reserve of space for them when the disk is full.

    Args:
        path: The file; see :class:`~gpupanel.files.line_log.LineLog`.
        reserve: A file beside it that holds the space until then.
    """

    def __init__(self, path: Path, reserve: Path) -> None:
        self._log = LineLog(path)
        self._reserve = reserve
        with suppress(OSError):  # a disk that is full already has none to give
            _fill(reserve)

    def append(self, line: str) -> None:
        """Append one line.

        Raises:
            OSError: It could not be written, the reserve spent or not.
        """
        try:
            self._log.append(line)
        except OSError as error:
            if error.errno not in NO_SPACE or status(self._reserve) is None:
                raise
            remove(self._reserve)
            self._log.append(line)

    def close(self) -> None:
        """Close the file; the reserve is not needed any more."""
        with suppress(OSError):
            remove(self._reserve)
        self._log.close()


def _fill(path: Path) -> None:
    with open_to_write(path) as file:
        # Written, not only allotted: a file of holes has no space of its own to give back.
        file.write(bytes(RESERVE_BYTES))
