"""The lines of ``events.jsonl`` with those of steps gathered, also handed over by a process."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import IO

import msgspec

from gpupanel.runs.directory.tails import Place
from gpupanel.runs.following.steps import PackedSteps, StepBatch

BLOCK_BYTES = 2**18
"""Read at once: what a processor holds close is still there when it is decoded."""
_PIECE_BYTES = 16 * 1024
_STEPS_MARK = b'"steps_done"'


class GatheredLines:
    """Lines in the order in which they were written; steps that follow each other are one value.

    Steps whose numbers have an unusual form stay lines. What is read here needs nothing that takes
    long to import: a process of its own can begin with it at once.

    Args:
        keeps_lines: As :class:`StepBatch` takes it.

    Attributes:
        parts: Lines without their ends, none of them empty, and steps in bulk.
    """

    def __init__(self, *, keeps_lines: bool = True) -> None:
        self._keeps_lines = keeps_lines
        self.parts: list[bytes | StepBatch] = []

    def add(self, block: bytes) -> None:
        """Take in whole lines.

        Args:
            block: The lines, with their ends.
        """
        for piece in _pieces(block):
            if self._take(piece):
                continue
            for lines in _alike(piece):
                if _STEPS_MARK in lines and self._take(lines):
                    continue
                for line in lines.split(b"\n")[:-1]:
                    if not (_STEPS_MARK in line and self._take(line + b"\n")):
                        self.parts.append(line)

    def _take(self, lines: bytes) -> bool:
        last = self.parts[-1] if self.parts else None
        steps = last if isinstance(last, StepBatch) else StepBatch(keeps_lines=self._keeps_lines)
        if not steps.take(lines):
            return False
        if steps is not last and len(steps):
            self.parts.append(steps)
        return True


def _alike(piece: bytes) -> Iterator[bytes]:
    """The lines of a piece that has others than steps, those of steps together; no empty ones."""
    lines = (line for line in piece.split(b"\n") if line.strip())
    for _, run in groupby(lines, key=lambda line: _STEPS_MARK in line):
        yield b"\n".join(run) + b"\n"


def _pieces(block: bytes) -> Iterator[bytes]:
    """Whole lines, so few that most pieces have nothing but steps in them."""
    start = 0
    while start < len(block):
        end = block.find(b"\n", start + _PIECE_BYTES) + 1 or len(block)
        yield block[start:end]
        start = end


_LENGTH_BYTES = 8
_MOST_BYTES = 2**31
"""The most bytes of a message; more than any portion has."""


@dataclass(frozen=True, slots=True)
class Portion:
    """Some of a file.

    Attributes:
        parts: As :class:`GatheredLines` gathers them.
        place: Where in the file they end.
    """

    parts: list[bytes | StepBatch]
    place: Place


class _Message(msgspec.Struct, array_like=True, forbid_unknown_fields=True, gc=False):
    """A portion as it is handed over: numbers and text, nothing that could carry code."""

    parts: list[bytes | PackedSteps]
    place: Place


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(_Message)


def write_portion(portion: Portion, stream: IO[bytes]) -> None:
    """Hand a portion over: its length in eight bytes, then as much MessagePack.

    Raises:
        BrokenPipeError: Nobody takes it.
    """
    parts = [part if isinstance(part, bytes) else part.packed() for part in portion.parts]
    message = _ENCODER.encode(_Message(parts, portion.place))
    stream.write(len(message).to_bytes(_LENGTH_BYTES, "little"))
    stream.write(message)
    stream.flush()


def read_portion(stream: IO[bytes]) -> Portion | None:
    """The next portion; ``None`` after the last, and where the stream ends within one.

    Raises:
        ValueError: There is something else.
    """
    length = int.from_bytes(stream.read(_LENGTH_BYTES), "little")
    if length > _MOST_BYTES:
        raise ValueError(f"no portion has {length} bytes")
    content = stream.read(length)
    if not content or len(content) < length:
        return None
    try:
        message = _DECODER.decode(content)
    except msgspec.MsgspecError as error:
        raise ValueError(str(error)) from error
    return Portion(
        [part if isinstance(part, bytes) else StepBatch.unpacked(part) for part in message.parts],
        message.place,
    )
