"""TFRecord files that are compressed with GZIP, unpacked once into the user's cache.

Nothing can be found in the middle of such a file. It is held against its framing while it is
unpacked, so that what is no TFRecord file ends at its first bytes, and only as much is written as
leaves some room on the disk.
"""

import os
import shutil
import zlib
from collections.abc import Callable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from gpupanel.files.cache_folder import cache_root
from gpupanel.files.regular_files import open_regular
from gpupanel.trainer.datasets.cache_file import cached_file, marks_of
from gpupanel.trainer.datasets.data_problems import changed, data_problem, unreadable
from gpupanel.trainer.datasets.records import problems
from gpupanel.trainer.datasets.records.record_file import HEAD, TAIL, Framing

GZIP_START = b"\x1f\x8b"
_VERSION = 1
"""Version of the unpacked files in the cache."""
_READ_BYTES = 64 * 2**10
_CHUNK_BYTES = 2**20
_LEFT_FREE_BYTES = 2**29
"""What is left free on the disk of the cache, for everybody else."""
_GZIP = 16 + zlib.MAX_WBITS


def is_packed(head: bytes) -> bool:
    """Whether a file that begins so is compressed with GZIP."""
    return head[:2] == GZIP_START


def unpacked_chunks(file: BufferedReader, path: Path, field: str) -> Iterator[bytes]:
    """What a compressed file holds, some at a time, however much it says that this is.

    A piece may be empty: so who takes them can end it at any time.

    Raises:
        ProblemError: It is damaged.
        OSError: It cannot be read.
    """
    unpacker = zlib.decompressobj(_GZIP)
    packed = file.read(_READ_BYTES)
    try:
        while packed:
            if unpacker.eof:
                packed = packed.lstrip(b"\0")  # as gzip fills up blocks of tapes
                if not packed:
                    packed = file.read(_READ_BYTES)
                    continue
                unpacker = zlib.decompressobj(_GZIP)  # files may follow one on another
            yield unpacker.decompress(packed, _CHUNK_BYTES)
            packed = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail
            packed = packed or file.read(_READ_BYTES)
        # What was taken in whole may still give more.
        while not unpacker.eof and (chunk := unpacker.decompress(b"", _CHUNK_BYTES)):
            yield chunk
    except zlib.error as error:
        raise data_problem(
            "data_file_damaged",
            f"{path} is damaged: it begins as a GZIP file, and cannot be unpacked.",
            "Get or write the file again; an interrupted copy looks like this.",
            field=field,
            detail=str(error),
        ) from error
    if not unpacker.eof:
        raise data_problem(
            "data_file_damaged",
            f"{path} is truncated: its GZIP data ends before its end.",
            "Get or write the file again; an interrupted copy looks like this.",
            field=field,
        )


def unpacked(
    path: Path,
    field: str,
    progress: Callable[[int, int], None],
    *,
    most_bytes: int | None = None,
) -> Path:
    """Where the plain records of a compressed file are; unpacked now where they are not yet.

    Args:
        path: Of the compressed file.
        field: The profile key that names it.
        progress: Called with how many of its bytes of how many are done.
        most_bytes: More are not unpacked.

    Raises:
        ProblemError: The file is damaged, there is no room; or the hint that it holds more.
    """
    with _opened(path, field) as file:
        status = os.fstat(file.fileno())

        def on_wait() -> None:
            progress(0, status.st_size)

        def write(kept: BinaryIO) -> None:
            size, framing = 0, _Stream(Framing(path, field))
            for chunk in unpacked_chunks(file, path, field):
                if most_bytes is not None and size > most_bytes:
                    raise problems.left_to_a_run(path)
                if shutil.disk_usage(cache_root()).free < _LEFT_FREE_BYTES + len(chunk):
                    raise problems.no_space(path, cache_root(), size)
                framing.feed(chunk)
                kept.write(chunk)
                size += len(chunk)
                progress(min(file.tell(), status.st_size), status.st_size)
            framing.close()
            if marks_of(os.fstat(file.fileno())) != marks_of(status):
                raise changed("records_changed", path, field)

        return cached_file(
            "records",
            [marks_of(status)],
            ("unpacked", _VERSION),
            on_wait,
            write,
            problems.cache_unusable,
        )


def _opened(path: Path, field: str) -> BufferedReader:
    try:
        return open_regular(path)
    except OSError as error:
        raise unreadable(path, error, field) from error


class _Stream:
    """Holds records that come in pieces against their framing."""

    def __init__(self, framing: Framing) -> None:
        self._framing = framing
        self._head = bytearray()
        self._body_bytes = self._offset = self._end = 0
        self._number = 0

    def feed(self, chunk: bytes) -> None:
        """Take the next piece.

        Raises:
            ProblemError: A length is not what its checksum says.
        """
        at = 0
        while at < len(chunk):
            if self._body_bytes:  # of the record that began at the offset
                passed = min(self._body_bytes, len(chunk) - at)
                self._body_bytes -= passed
                at += passed
                continue
            if not self._head:
                self._offset, self._number = self._end, self._number + 1
            missing = HEAD.size - len(self._head)
            self._head += chunk[at : at + missing]
            at += missing
            if len(self._head) == HEAD.size:
                length = self._framing.length(bytes(self._head), self._number, self._offset)
                self._head.clear()
                self._body_bytes = length + TAIL.size
                self._end = self._offset + HEAD.size + self._body_bytes

    def close(self) -> None:
        """Nothing follows.

        Raises:
            ProblemError: A record is not whole.
        """
        if self._head or self._body_bytes:
            raise self._framing.cut_short(self._number, self._offset)
