"""TFRecord files that are compressed with GZIP, unpacked once into the user's cache.

Nothing can be found in the middle of such a file. What is unpacked is known by the file's place on
its disk, its size and its times, as imported tables are
(:mod:`gpupanel.trainer.datasets.tables.table_file`). It is held against its framing while it is
unpacked, so that what is no TFRecord file ends at its first bytes, and only as much is written as
leaves some room on the disk.
"""

import hashlib
import os
import shutil
import time
import zlib
from collections.abc import Callable, Iterator
from io import BufferedReader
from pathlib import Path

from pydantic import ValidationError

from gpupanel.domain.value import Value
from gpupanel.files.cache_folder import cache_folder, cache_root, remove_unused
from gpupanel.files.guarded_files import open_to_read
from gpupanel.files.locks import locked_patiently
from gpupanel.files.regular_files import open_regular
from gpupanel.files.whole_files import whole_file, write_whole
from gpupanel.trainer.datasets.records import problems
from gpupanel.trainer.datasets.records.record_file import HEAD, TAIL, Framing

GZIP_START = b"\x1f\x8b"
_FOLDER = "records"
_VERSION = 1
"""Of what is unpacked."""
_RECENT_NS = 2 * 10**9
_READ_BYTES = 64 * 2**10
_CHUNK_BYTES = 2**20
_LEFT_FREE_BYTES = 2**29
"""On the disk of the cache, for everybody else."""
_GZIP = 16 + zlib.MAX_WBITS


class _Unpacked(Value):
    """What is known of an unpacked file.

    Attributes:
        looked_ns: When the packed one was looked at, in nanoseconds since the epoch.
        size: Of the unpacked one.
    """

    looked_ns: int
    size: int


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
        raise problems.problem(
            "data_file_damaged",
            f"{path} is damaged: it begins as a GZIP file, and cannot be unpacked.",
            "Get or write the file again; a copy that was broken off looks like this.",
            field=field,
            detail=str(error),
        ) from error
    if not unpacker.eof:
        raise problems.problem(
            "data_file_damaged",
            f"{path} is cut short: its GZIP data ends before its end.",
            "Get or write the file again; a copy that was broken off looks like this.",
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
    try:
        file = open_regular(path)
    except OSError as error:
        raise problems.unreadable(path, error, field) from error
    folder = cache_root() / _FOLDER
    with file:
        status = os.fstat(file.fileno())
        place = folder / _key(status)

        def on_wait() -> None:
            progress(0, status.st_size)

        try:
            cache_folder(_FOLDER)
            with locked_patiently(place.with_suffix(".lock"), on_wait):
                if not _is_there(place, status):
                    remove_unused(folder)
                    _unpack(file, path, place, field, progress, most_bytes)
        except OSError as error:
            raise problems.cache_unusable(folder, error) from error
    return place.with_suffix(".records")


def _key(status: os.stat_result) -> str:
    marks = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    return hashlib.sha256(repr((_VERSION, marks)).encode()).hexdigest()[:32]


def _is_there(place: Path, status: os.stat_result) -> bool:
    try:
        with open_to_read(place.with_suffix(".json")) as file:
            known = _Unpacked.model_validate_json(file.read())
        with open_to_read(place.with_suffix(".records")) as file:
            size = os.fstat(file.fileno()).st_size
    except (OSError, ValidationError):
        return False
    # A file that was changed just before it was unpacked may have been changed again unseen.
    if size != known.size or status.st_ctime_ns >= known.looked_ns - _RECENT_NS:
        return False
    for suffix in (".json", ".records"):
        os.utime(place.with_suffix(suffix))
    return True


def _unpack(
    source: BufferedReader,
    path: Path,
    place: Path,
    field: str,
    progress: Callable[[int, int], None],
    most_bytes: int | None,
) -> None:
    looked_ns, before, size = time.time_ns(), os.fstat(source.fileno()), 0
    framing = _Stream(Framing(path, field))
    with whole_file(place.with_suffix(".records"), private=True) as file:
        for chunk in unpacked_chunks(source, path, field):
            if most_bytes is not None and size > most_bytes:
                raise problems.left_to_a_run(path)
            if shutil.disk_usage(place.parent).free < _LEFT_FREE_BYTES + len(chunk):
                raise problems.no_space(path, place.parent, size)
            framing.feed(chunk)
            file.write(chunk)
            size += len(chunk)
            progress(min(source.tell(), before.st_size), before.st_size)
        framing.close()
    if _key(os.fstat(source.fileno())) != _key(before):
        raise problems.changed(path, field)
    known = _Unpacked(looked_ns=looked_ns, size=size)
    write_whole(place.with_suffix(".json"), known.model_dump_json(), private=True)


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
