"""Rows of one size that fill a file in whatever order they come, from several processes at once.

Beside the file stands another one with a time for each row: when what it holds was read; 0: it
holds nothing yet. A row is written before its time, so that whoever finds the time finds the row,
too, as long as the system goes on that has both in its memory. After it stopped nobody knows which
of them had reached the disk: until all of it was forced there, the file is worth nothing to the
next start of the system (:func:`system_start`).
"""

import errno
import os
import uuid
import weakref
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gpupanel.files.guarded_files import open_to_update, remove, status
from gpupanel.trainer.datasets.examples import Indices
from gpupanel.trainer.datasets.row_files import read_rows

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_TIME = np.dtype(np.int64)

Flags = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]


def system_start() -> str:
    """Another text for each start of each system; where none is known, for each call."""
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        return uuid.uuid4().hex


class RowStore:
    """Such a file, open: it stays for its user though others rename or remove it.

    Closed with its last user.
    """

    def __init__(
        self, path: Path, times: Path, row_bytes: int, settled_ns: npt.NDArray[np.int64]
    ) -> None:
        """Open both files, or make them; by one process at a time.

        Args:
            path: Of the rows.
            times: Of their times.
            row_bytes: Of each row.
            settled_ns: Of each row, from when on it must have been read to be relied upon.

        Raises:
            UnsafeFileError: One is a link, or another user's, or no regular file.
            OSError: They cannot be opened, or not made.
        """
        self.path = path
        self._times_path = times
        self._row_bytes = row_bytes
        self._settled_ns = settled_ns
        self._there = np.zeros(len(settled_ns), np.bool_)
        self._rows, self._times = _both_opened(
            {path: len(settled_ns) * row_bytes, times: len(settled_ns) * _TIME.itemsize}
        )
        weakref.finalize(self, os.close, self._rows)
        weakref.finalize(self, os.close, self._times)

    def are_there(self, rows: Indices) -> Flags:
        """Which of these rows the file holds by now."""
        there = self._there[rows]
        for place in np.flatnonzero(~there).tolist():
            row = int(rows[place])
            (time_ns,) = np.frombuffer(
                os.pread(self._times, _TIME.itemsize, row * _TIME.itemsize) or bytes(8), _TIME
            )
            there[place] = self._there[row] = time_ns > self._settled_ns[row]
        return there

    @property
    def is_full(self) -> bool:
        """Whether this process has seen every row there."""
        return bool(self._there.all())

    def missing(self) -> Indices:
        """The rows that it does not hold yet."""
        content = os.pread(self._times, len(self._there) * _TIME.itemsize, 0)
        times = np.frombuffer(content[: len(content) // 8 * 8], _TIME)
        self._there[: len(times)] |= times > self._settled_ns[: len(times)]
        return np.flatnonzero(~self._there).astype(np.int32)

    def read(self, rows: Indices) -> Bytes:
        """Rows that are there, in this order, shape [rows, row_bytes].

        Raises:
            OSError: They cannot be read.
            EOFError: The file was cut short.
        """
        return read_rows(self._rows, rows, self._row_bytes)

    def keep(self, rows: Indices, content: Bytes, read_ns: int) -> None:
        """Take rows in; what this process has kept it relies upon.

        Args:
            rows: Which.
            content: What they hold, shape [rows, row_bytes].
            read_ns: When one began to read that, in nanoseconds since the epoch.

        Raises:
            OSError: They cannot be written.
        """
        time = np.int64(read_ns).tobytes()
        for row, one in zip(rows.tolist(), content, strict=True):
            _write_fully(self._rows, one.data, row * self._row_bytes)
            _write_fully(self._times, memoryview(time), row * _TIME.itemsize)
        self._there[rows] = True

    def is_in_its_place(self) -> bool:
        """Whether nobody has renamed or removed it."""
        return all(
            _is_at(path, descriptor)
            for path, descriptor in ((self.path, self._rows), (self._times_path, self._times))
        )

    def force(self) -> None:
        """Wait until all rows are on the disk.

        Raises:
            OSError: They cannot be written there.
        """
        os.fsync(self._rows)


def _both_opened(sizes: Mapping[Path, int]) -> tuple[int, int]:
    """Descriptors of files of these sizes, both as they are there, or both empty."""
    if not all(_has_size(path, size) for path, size in sizes.items()):
        for path in sizes:
            remove(path)
    opened: list[int] = []
    try:
        for path, size in sizes.items():
            opened.append(open_to_update(path))
            os.truncate(opened[-1], size)
    except BaseException:
        for descriptor in opened:
            os.close(descriptor)
        for path in sizes:
            with suppress(OSError):
                remove(path)
        raise
    rows, times = opened
    return rows, times


def _has_size(path: Path, size: int) -> bool:
    found = status(path)
    return found is not None and found.st_size == size


def _is_at(path: Path, descriptor: int) -> bool:
    found, ours = status(path), os.fstat(descriptor)
    return found is not None and (found.st_dev, found.st_ino) == (ours.st_dev, ours.st_ino)


def _write_fully(descriptor: int, content: memoryview, offset: int) -> None:
    done = 0
    while done < len(content):
        count = os.pwrite(descriptor, content[done:], offset + done)
        if not count:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        done += count
