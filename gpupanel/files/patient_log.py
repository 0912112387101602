"""Appending lines that can wait for space on the disk, or until it answers."""

import errno
import threading
from collections import deque
from contextlib import suppress
from pathlib import Path

from gpupanel.files.file_obstacles import NO_SPACE
from gpupanel.files.line_log import LineLog

MAY_PASS = NO_SPACE | {
    errno.EIO,
    errno.EROFS,
    errno.EFBIG,
    errno.ESTALE,
    errno.ETIMEDOUT,
    errno.ENOTCONN,
    errno.EREMOTEIO,
    errno.EMFILE,
    errno.ENFILE,
    errno.ENOMEM,
    errno.EAGAIN,
}
"""A full disk, one that is mounted anew, one behind a network that stumbles, too many open files:
the next try may do."""
MOST_WAITING = 20_000
"""Some megabytes: a quarter of an hour of a run that reports twenty times a second."""


class PatientLog:
    """Appends lines; what finds no space is kept in memory and written once there is some.

    A training of days is not worth less than the reports of some minutes: it goes on while the
    disk is full, or does not answer. Safe to use from several threads.

    Args:
        path: The file; see :class:`~gpupanel.files.line_log.LineLog`.
        most_waiting: Lines that are kept; then those that may be dropped are, the oldest first.

    Attributes:
        dropped: Lines that found no room in memory either.
    """

    def __init__(self, path: Path, most_waiting: int = MOST_WAITING) -> None:
        self._log = LineLog(path)
        self._most_waiting = most_waiting
        self._waiting: deque[tuple[str, bool]] = deque()
        self._lock = threading.Lock()
        self.dropped = 0

    @property
    def waiting(self) -> int:
        """Lines that are not written yet."""
        return len(self._waiting)

    @property
    def times_made_anew(self) -> int:
        """See :class:`~gpupanel.files.line_log.LineLog`."""
        return self._log.times_made_anew

    def append(self, line: str, *, may_be_dropped: bool = False) -> None:
        """Append a line, after those that wait; it waits, too, where that may pass.

        Args:
            line: Without its end.
            may_be_dropped: Rather this one is lost than one that may not be.

        Raises:
            OSError: It cannot be written for another reason.
        """
        with self._lock:
            self._waiting.append((line, may_be_dropped))
            try:
                self._write_waiting()
            except OSError as error:
                if error.errno not in MAY_PASS:
                    raise
                self._make_room()
                # Whoever watches the file sees that it is tried, and takes it for no hang.
                with suppress(OSError):
                    self._log.touch()

    def flush(self) -> None:
        """Write what still waits.

        Raises:
            OSError: It cannot be written.
        """
        with self._lock:
            self._write_waiting()

    def close(self) -> None:
        """Close the file; what still waits is lost: :meth:`flush` says whether something does."""
        with self._lock:
            self._log.close()

    def _write_waiting(self) -> None:
        while self._waiting:
            self._log.append(self._waiting[0][0])
            self._waiting.popleft()

    def _make_room(self) -> None:
        if len(self._waiting) <= self._most_waiting:
            return
        for place, (_, may_be_dropped) in enumerate(self._waiting):
            if may_be_dropped:
                del self._waiting[place]
                self.dropped += 1
                return
