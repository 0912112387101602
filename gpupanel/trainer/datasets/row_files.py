"""Rows of a file, read by their numbers.

Not mapped into memory: a mapped file that is cut short meanwhile kills the process (SIGBUS).
"""

import os
import weakref
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gpupanel.files.guarded_files import open_to_read
from gpupanel.trainer.datasets.examples import Indices

_CHUNK_BYTES = 8 * 2**20
_LEAST_CHUNK_ROWS = 1024
_DENSE_BYTES = 4096
"""From one row to the next: to read so many bytes takes as long as one call more, which also keeps
the interpreter to itself."""
_LEAST_DENSE = 256
_BLOCK_BYTES = 2**22


class RowFile:
    """A file of the cache: open, so that it is there for its reader though others remove it.

    Closed with its last reader.
    """

    def __init__(self, path: Path) -> None:
        """Open it.

        Raises:
            UnsafeFileError: It is a link, or another user's, or no regular file.
            OSError: It cannot be opened.
        """
        self.path = path
        with open_to_read(path) as file:
            self._descriptor = os.dup(file.fileno())
        weakref.finalize(self, os.close, self._descriptor)

    @property
    def size_bytes(self) -> int:
        """The current size of the whole file."""
        return os.fstat(self._descriptor).st_size

    def read_bytes(self, offset: int, count: int) -> npt.NDArray[np.uint8]:
        """Read bytes from a position.

        Raises:
            OSError: They cannot be read.
            EOFError: The file ends before.
        """
        found = np.empty(count, np.uint8)
        _read_fully(self._descriptor, found.data, offset)
        return found

    def read(self, indices: Indices, row_bytes: int) -> npt.NDArray[np.uint8]:
        """See :func:`read_rows`."""
        return read_rows(self._descriptor, indices, row_bytes)


def read_rows(
    descriptor: int, indices: Indices, row_bytes: int, offset: int = 0
) -> npt.NDArray[np.uint8]:
    """These rows, in this order, shape [rows, row_bytes].

    Args:
        descriptor: Of the open file; several threads may read from it at the same time.
        indices: The numbers of the rows.
        row_bytes: Of each.
        offset: Where the first row of the file begins, in bytes.

    Raises:
        OSError: They cannot be read.
        EOFError: The file ends before.
    """
    rows = np.empty((len(indices), row_bytes), np.uint8)
    if _are_dense(indices, row_bytes):
        _read_through(descriptor, indices, rows, offset)
        return rows
    if _are_neighbours(indices):
        _read_fully(descriptor, rows.reshape(-1).data, offset + int(indices[0]) * row_bytes)
        return rows
    whole, read = rows.reshape(-1).data, os.preadv
    for start, index in zip(range(0, len(whole), row_bytes), indices.tolist(), strict=True):
        into, place = whole[start : start + row_bytes], offset + index * row_bytes
        # At once but for rows at the end of what a file system gives: the call is most of the work.
        if read(descriptor, [into], place) != row_bytes:
            _read_fully(descriptor, into, place)
    return rows


def read_in_chunks(
    read: Callable[[Indices], npt.NDArray[np.float32]], shape: tuple[int, ...]
) -> npt.NDArray[np.float32]:
    """All rows, of which a part at a time is read.

    Args:
        read: Gives the rows with some numbers.
        shape: Of what all of them are: rows first.

    Raises:
        ProblemError: As ``read``.
    """
    found = np.empty(shape, np.float32)
    at_once = max(_LEAST_CHUNK_ROWS, _CHUNK_BYTES // max(1, found[:1].nbytes))
    for start in range(0, len(found), at_once):
        end = min(len(found), start + at_once)
        found[start:end] = read(np.arange(start, end, dtype=np.int32))
    return found


def rows_at_once(row_count: int, row_bytes: int) -> int:
    """From how many rows on reading them together is faster; 0: it never is."""
    if row_bytes > _DENSE_BYTES:
        return 0
    return max(_LEAST_DENSE, row_count * row_bytes // (_DENSE_BYTES // 2))


def _are_dense(indices: Indices, row_bytes: int) -> bool:
    """Whether what lies between two of the rows takes less to read than a call for each."""
    if len(indices) < _LEAST_DENSE:
        return False
    first, last = int(indices.min()), int(indices.max())
    return (last - first + 1) * row_bytes <= _DENSE_BYTES * len(indices)


def _read_through(
    descriptor: int, indices: Indices, rows: npt.NDArray[np.uint8], offset: int
) -> None:
    """Read rows that lie close to each other, with what lies between them, and pick them out."""
    row_bytes = rows.shape[1]
    order = np.argsort(indices, kind="stable")
    ascending = indices[order].astype(np.int64)
    block = np.empty((max(1, _BLOCK_BYTES // row_bytes), row_bytes), np.uint8)
    done = 0
    while done < len(ascending):
        first = int(ascending[done])
        end = int(np.searchsorted(ascending, first + len(block)))
        there = block[: int(ascending[end - 1]) - first + 1]
        _read_fully(descriptor, there.reshape(-1).data, offset + first * row_bytes)
        rows[order[done:end]] = there[ascending[done:end] - first]
        done = end


def _are_neighbours(indices: Indices) -> bool:
    if not len(indices):
        return False
    return bool(indices[-1] - indices[0] == len(indices) - 1 and (np.diff(indices) == 1).all())


def _read_fully(descriptor: int, into: memoryview, offset: int) -> None:
    done = 0
    while done < len(into):
        count = os.preadv(descriptor, [into[done:]], offset + done)
        if not count:
            raise EOFError(f"the file ends before byte {offset + len(into):,}")
        done += count
