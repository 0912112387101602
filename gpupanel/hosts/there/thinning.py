"""A long run's files in few lines: what a window draws of a million is a fraction of them."""

import re
from collections.abc import Iterator
from typing import Final, Protocol

MOST_STEPS: Final = 8_000
"""Lines of steps and of figures: more than a plot has pixels across."""
_MOST_SAMPLE_BYTES: Final = 3 * 2**19
_STEPS: Final = b'"steps_done"'
_KINDS: Final = (_STEPS, b'"figures_reported"', b'"time_reported"', b'"memory_reported"')
_LOSS: Final = re.compile(rb'"loss":(-?[0-9.eE+-]+)')
PIECE_BYTES: Final = 2**18


class Thinning(Protocol):
    """Takes whole lines in order, and gives those that are kept."""

    def take(self, block: bytes) -> bytes:
        """What is kept of whole lines; some may come with the next."""
        ...

    def rest(self) -> bytes:
        """What waited for more."""
        ...


class StepThinning:
    """Keeps of each stretch of lines about steps those of its lowest and its highest loss.

    So no spike is lost. Lines about steps and figures are by far the most of a long run; all others
    are kept.

    Args:
        size: Bytes of all lines that will come, as far as is known.
    """

    def __init__(self, size: int) -> None:
        self._size, self._length = size, 0
        self._waiting: list[bytes] = []

    def take(self, block: bytes) -> bytes:
        """What is kept of whole lines; some may come with the next."""
        self._length = self._length or _length_of(self._size, block)
        if self._length <= 2:
            return block
        lines = block.splitlines(keepends=True)
        if block.count(_STEPS) == len(lines):
            return b"".join(self._of_steps(lines))
        kept: list[bytes] = []
        for line in lines:
            if any(kind in line for kind in _KINDS):
                self._waiting.append(line)
                if len(self._waiting) >= self._length:
                    kept += self._ends()
            else:
                kept += self._ends()
                kept.append(line)
        return b"".join(kept)

    def _of_steps(self, lines: list[bytes]) -> list[bytes]:
        """What is kept of lines that are all about steps: none of them is looked at alone."""
        self._waiting += lines
        kept: list[bytes] = []
        start, waiting = 0, self._waiting
        while start + self._length <= len(waiting):
            self._waiting = waiting[start : start + self._length]
            kept += self._ends()
            start += self._length
        self._waiting = waiting[start:]
        return kept

    def rest(self) -> bytes:
        """What waited for more."""
        last = self._waiting[-1:]
        kept = self._ends()
        # Where the run stands now is its last line, whatever its loss.
        return b"".join(kept if kept[-1:] == last else [*kept, *last])

    def _ends(self) -> list[bytes]:
        waiting, self._waiting = self._waiting, []
        if len(waiting) <= 2:
            return waiting
        losses = _losses(waiting)
        places = range(len(waiting))
        kept = {min(places, key=losses.__getitem__), max(places, key=losses.__getitem__)}
        return [waiting[place] for place in sorted(kept)]


class ReadingThinning:
    """Keeps every n-th reading of the devices, so that about 1.5 MiB are left, and the last.

    Args:
        size: Bytes of all lines that will come, as far as is known.
    """

    def __init__(self, size: int) -> None:
        self._every = 1 + size // _MOST_SAMPLE_BYTES
        self._number = 0
        self._last = b""

    def take(self, block: bytes) -> bytes:
        """What is kept of whole lines."""
        if self._every == 1:
            return block
        kept: list[bytes] = []
        for line in block.splitlines(keepends=True):
            is_kept = self._number % self._every == 0
            self._number += 1
            self._last = b"" if is_kept else line
            if is_kept:
                kept.append(line)
        return b"".join(kept)

    def rest(self) -> bytes:
        """The last line, where it was not kept."""
        return self._last


def pieces(content: bytes) -> Iterator[bytes]:
    """Bytes of a file in pieces, so that other lines of the connection come in between."""
    for start in range(0, len(content), PIECE_BYTES):
        yield content[start : start + PIECE_BYTES]


def _length_of(size: int, block: bytes) -> int:
    """How many lines a stretch has, of which two are kept, if all lines are as long as these."""
    lines = size * block.count(b"\n") / max(1, len(block))
    return int(2 * lines / MOST_STEPS)


def _losses(lines: list[bytes]) -> list[float]:
    """The loss of each line; 0 where not each of them has one."""
    found = _LOSS.findall(b"".join(lines))
    try:
        losses = [*map(float, found)]
    except ValueError:
        losses = []
    return losses if len(losses) == len(lines) else [0.0] * len(lines)
