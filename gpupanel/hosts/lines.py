"""The lines between a window here and the process on a host: a JSON document each.

The window calls operations by their names and may drop them again; the host says hello first, then
parts and answers of what was called. Neither side believes the other: a line is bounded, and what
stands in it is checked before it is used.

What a host says after hello is compressed (RFC 1951), so that each line can be read as it comes.
``ssh -C`` has no effect on a connection that is shared (``ControlMaster``).
"""

import json
import os
import select
import time
import zlib
from typing import Final

import msgspec

from gpupanel.domain.value import Value

PROTOCOL: Final = 2
"""Of another one a side understands nothing: it is counted up when an operation changes."""
MOST_LINE_BYTES: Final = 32 * 2**20
"""A line longer than that is nobody's who means well: the connection is ended."""
KEEP_ALIVE_S: Final = 10.0
"""A window says so often that it is there, and is answered."""
GONE_S: Final = 60.0
"""Either side takes the other one to be gone that was silent for so long, as by a cable that was
pulled."""
_PIECE_BYTES: Final = 2**18


class LinesError(Exception):
    """What came is no conversation of this kind: a line too long, or one that is no line of it."""


class Hello(msgspec.Struct, tag="hello", frozen=True):
    """The first line of a host.

    Attributes:
        version: Of gpupanel there.
        protocol: See :data:`PROTOCOL`.
        runs_dir: The folder of runs there, absolute.
        time_s: By its clock, in seconds since the epoch.
    """

    version: str
    protocol: int
    runs_dir: str
    time_s: float


class Call(msgspec.Struct, tag="call", frozen=True):
    """Asks for an operation; ``number`` stands in all that is said of it."""

    number: int
    operation: str
    request: msgspec.Raw


class Dropped(msgspec.Struct, tag="dropped", frozen=True):
    """Nobody wants that call's answer any more."""

    number: int


class KeepAlive(msgspec.Struct, tag="keep_alive", frozen=True):
    """A window is there; the host answers with the same."""


class AnswerPart(msgspec.Struct, tag="part", frozen=True):
    """Something of an answer before its end."""

    number: int
    content: msgspec.Raw


class Answer(msgspec.Struct, tag="answer", frozen=True):
    """The answer of a call; nothing more is said of it."""

    number: int
    content: msgspec.Raw


class AnswerRefused(msgspec.Struct, tag="refusal", frozen=True):
    """Problems in place of an answer; ``content`` is a list of them."""

    number: int
    content: msgspec.Raw


FromWindow = Call | Dropped | KeepAlive
FromHost = Hello | AnswerPart | Answer | AnswerRefused | KeepAlive

_FROM_WINDOW: Final = msgspec.json.Decoder(FromWindow)
_FROM_HOST: Final = msgspec.json.Decoder(FromHost)
_ENCODER: Final = msgspec.json.Encoder()


def as_json(value: Value) -> msgspec.Raw:
    """A value as it stands in a line."""
    # Not model_dump_json(), which raises for a path that is no UTF-8.
    return msgspec.Raw(json.dumps(value.model_dump(mode="json")).encode())


def encoded(line: FromWindow | FromHost) -> bytes:
    """A line, with its end."""
    return _ENCODER.encode(line) + b"\n"


def from_window(line: bytes) -> FromWindow:
    """What a window said.

    Raises:
        LinesError: Nothing of this kind.
    """
    try:
        return _FROM_WINDOW.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise LinesError(str(error)) from error


def from_host(line: bytes) -> FromHost:
    """What a host said.

    Raises:
        LinesError: Nothing of this kind.
    """
    try:
        return _FROM_HOST.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise LinesError(str(error)) from error


class LineCompressor:
    """Compresses lines; each can be read as soon as it has come."""

    def __init__(self) -> None:
        self._deflate = zlib.compressobj(wbits=-zlib.MAX_WBITS)

    def compressed(self, content: bytes) -> bytes:
        """The next of a stream."""
        return self._deflate.compress(content) + self._deflate.flush(zlib.Z_SYNC_FLUSH)


class LineReader:
    """Whole lines of a pipe, waited for no longer than asked; half a line waits for its other half.

    Args:
        descriptor: Of the pipe.

    Attributes:
        read_s: When anything came last, be it half a line, by the monotonic clock.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.read_s = time.monotonic()
        self._rest = bytearray()
        self._searched = 0
        self._inflate: zlib._Decompress | None = None
        self._compressed, self._has_more = b"", False

    def decompress(self) -> None:
        """From here on what comes is compressed."""
        self._inflate = zlib.decompressobj(wbits=-zlib.MAX_WBITS)
        self._compressed, self._rest, self._searched = bytes(self._rest), bytearray(), 0

    def read(self, limit_s: float) -> bytes | None:
        """The next line without its end; ``None``: none has come in that time.

        Raises:
            EOFError: The other side has ended.
            LinesError: A line is too long, or what should be compressed is not.
        """
        until_s = time.monotonic() + limit_s
        while (end := self._rest.find(b"\n", self._searched)) < 0:
            self._searched = len(self._rest)
            if self._searched > MOST_LINE_BYTES:
                raise LinesError(f"a line of more than {MOST_LINE_BYTES:,} bytes")
            if self._compressed or self._has_more:
                self._rest += self._decompressed()
                continue
            left_s = until_s - time.monotonic()
            if left_s < 0 or not select.select([self._descriptor], [], [], left_s)[0]:
                return None
            piece = os.read(self._descriptor, _PIECE_BYTES)
            if not piece:
                raise EOFError
            self.read_s = time.monotonic()
            if self._inflate is None:
                self._rest += piece
            else:
                self._compressed = piece
        line = bytes(self._rest[:end])
        del self._rest[: end + 1]
        self._searched = 0
        return line

    def _decompressed(self) -> bytes:
        """Some of what has come; few bytes may become very many."""
        assert self._inflate is not None
        try:
            found = self._inflate.decompress(self._compressed, _PIECE_BYTES)
        except zlib.error as error:
            raise LinesError(str(error)) from error
        if self._inflate.eof:
            raise LinesError("compressed lines that end")
        self._compressed = self._inflate.unconsumed_tail
        self._has_more = len(found) == _PIECE_BYTES
        return found
