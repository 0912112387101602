"""The lines of ``events.jsonl``, steps and figures gathered, also handed over by a process."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO

import msgspec

from gpupanel.runs.directory.tails import Place
from gpupanel.runs.following.figures import FigureBatch, PackedFigures
from gpupanel.runs.following.steps import PackedSteps, StepBatch

BLOCK_BYTES = 2**18
"""Read at once: what a processor holds close is still there when it is decoded."""
_PIECE_BYTES = 16 * 1024
_STEPS_MARK, _FIGURES_MARK = b'"steps_done"', b'"figures_reported"'


class GatheredLines:
    """Lines in the order in which they were written; steps that follow each other are one value.

    So are the figures of a program, which reports them by turns with steps: both are gathered as
    long as nothing else is between. Those whose numbers have an unusual form stay lines. What is
    read here needs nothing that takes long to import: a process of its own can begin with it at
    once.

    Args:
        keeps_lines: As :class:`StepBatch` takes it.

    Attributes:
        parts: Lines without their ends, none of them empty, and steps and figures in bulk.
    """

    def __init__(self, *, keeps_lines: bool = True) -> None:
        self._keeps_lines = keeps_lines
        self.parts: list[bytes | StepBatch | FigureBatch] = []
        # Those that go on until something else comes.
        self._steps: StepBatch | None = None
        self._figures: FigureBatch | None = None

    def add(self, block: bytes) -> None:
        """Take in whole lines.

        Args:
            block: The lines, with their ends.
        """
        for piece in _pieces(block):
            if self._take_steps(piece):
                continue
            for steps, figures, other in _stretches(piece):
                self._gather(steps, self._take_steps)
                self._gather(figures, self._take_figures)
                self._add_lines(other)

    def _gather(self, lines: bytes, take: Callable[[bytes], bool]) -> None:
        """Lines of one kind as one value; of those with a line that is none, one by one."""
        if not lines or take(lines):
            return
        for line in lines.split(b"\n")[:-1]:
            if not take(line + b"\n"):
                self._add_lines(line)

    def _add_lines(self, line: bytes) -> None:
        if line:
            self.parts.append(line)
            self._steps = self._figures = None

    def _take_steps(self, lines: bytes) -> bool:
        steps = self._steps or StepBatch(keeps_lines=self._keeps_lines)
        if not steps.take(lines):
            return False
        if steps is not self._steps and len(steps):
            self._steps = steps
            self.parts.append(steps)
        return True

    def _take_figures(self, lines: bytes) -> bool:
        figures = self._figures or FigureBatch()
        if not figures.take(lines):
            return False
        if figures is not self._figures and len(figures):
            self._figures = figures
            self.parts.append(figures)
        return True


def _stretches(piece: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Lines of steps and of figures, each together, and the line that ends that; no empty ones.

    The last stretch may be ended by nothing.
    """
    steps, figures = list[bytes](), list[bytes]()
    for line in piece.split(b"\n"):
        if _STEPS_MARK in line:
            steps.append(line)
        elif _FIGURES_MARK in line:
            figures.append(line)
        elif line.strip():
            yield _whole(steps), _whole(figures), line
            steps, figures = [], []
    yield _whole(steps), _whole(figures), b""


def _whole(lines: list[bytes]) -> bytes:
    """The lines with their ends; nothing of none."""
    return b"\n".join([*lines, b""])


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

    parts: list[bytes | StepBatch | FigureBatch]
    place: Place


class _Message(msgspec.Struct, array_like=True, forbid_unknown_fields=True, gc=False):
    """A portion as it is handed over: numbers and text, nothing that could carry code."""

    parts: list[bytes | PackedSteps | PackedFigures]
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
    return Portion([_unpacked(part) for part in message.parts], message.place)


def _unpacked(part: bytes | PackedSteps | PackedFigures) -> bytes | StepBatch | FigureBatch:
    match part:
        case PackedSteps():
            return StepBatch.unpacked(part)
        case PackedFigures():
            return FigureBatch.unpacked(part)
    return part
