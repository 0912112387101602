"""Keeps a log from filling the disk that another process writes without end.

The writer has the file open and appends; nobody can be asked to stop. While it works the disk's
blocks of the middle are given back and nothing is moved (``FALLOC_FL_PUNCH_HOLE`` of
``fallocate(2)``), so that no line can be lost that is written at that moment: not the last words
before a crash. When it has ended the file is made what it looks like: its beginning, a line that
says how much is left out, its end.
"""

import ctypes
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from gpupanel.files.guarded_files import open_to_append, size_of

HEAD_BYTES: Final = 8 * 2**20
"""Kept of what a process writes first: TensorFlow's word on each device is there."""
TAIL_BYTES: Final = 8 * 2**20
"""Kept of what it writes last, at least."""
_KEEP_SIZE_AND_PUNCH_HOLE: Final = 0x01 | 0x02
_PIECE_BYTES: Final = 2**20
_BLOCK_BYTES: Final = 512
"""The unit in which ``stat(2)`` counts what a file takes on its disk."""


class BoundedLog:
    """The log of one process, which others may have written to before.

    Args:
        path: Of the file; what stands there by now is left as it is.
        head_bytes: Kept of what is written first.
        tail_bytes: Kept of what is written last; the disk holds twice as much at most.
    """

    def __init__(
        self, path: Path, head_bytes: int = HEAD_BYTES, tail_bytes: int = TAIL_BYTES
    ) -> None:
        self._path = path
        self._tail_bytes = tail_bytes
        self._from = self._to = size_of(path) + head_bytes

    def bound(self) -> None:
        """Give back the middle where it has grown beyond its bound; called while it is written."""
        if size_of(self._path) - self._to <= 2 * self._tail_bytes:
            return
        with suppress(OSError):  # the next time, or the disk is full and the run says so
            log = open_to_append(self._path)
            try:
                end = os.fstat(log).st_size - self._tail_bytes
                if _give_back(log, self._to, end - self._to):
                    self._to = end
                else:
                    self._leave_out(log)
            finally:
                os.close(log)

    def close(self) -> None:
        """Leave out the middle that was given back; called when nobody writes any more."""
        self.bound()  # what was written since may be much
        if self._to == self._from:
            return
        with suppress(OSError):
            log = open_to_append(self._path)
            try:
                self._leave_out(log)
            finally:
                os.close(log)

    def _leave_out(self, log: int) -> None:
        """Cut the file behind its beginning, and append its end to that.

        What is appended meanwhile is read until nothing more comes, a moment before the cut.
        """
        begin = max(os.fstat(log).st_size - self._tail_bytes, self._to)
        end = bytearray()
        while piece := os.pread(log, _PIECE_BYTES, begin + len(end)):
            end += piece
        os.ftruncate(log, self._from)
        left_out = begin - self._from
        _write(log, f"\n[{left_out:,} bytes of this log are left out here]\n".encode() + end)
        self._from = self._to = os.fstat(log).st_size - len(end)


def bound_unnamed(log: int, tail_bytes: int = TAIL_BYTES) -> None:
    """Give back all but the end of a log that has no name, while another process writes it.

    Args:
        log: Its descriptor.
        tail_bytes: Kept of what was written last; the disk holds twice as much at most.
    """
    with suppress(OSError):
        end = os.fstat(log).st_size - tail_bytes
        if os.fstat(log).st_blocks * _BLOCK_BYTES > 2 * tail_bytes and end > 0:
            _give_back(log, 0, end)


def _give_back(log: int, begin: int, count: int) -> bool:
    """Whether the file system could; what is read there is zeros from then on."""
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "fallocate64"):
        return False
    libc.fallocate64.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
    failed: int = libc.fallocate64(log, _KEEP_SIZE_AND_PUNCH_HOLE, begin, count)
    return failed == 0


def _write(log: int, text: bytes) -> None:
    rest = memoryview(text)
    while rest:
        rest = rest[os.write(log, rest) :]
