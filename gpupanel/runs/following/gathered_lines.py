"""The lines of ``events.jsonl``, with those of steps gathered."""

from collections.abc import Iterator
from itertools import groupby

from gpupanel.runs.following.steps import StepBatch

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
