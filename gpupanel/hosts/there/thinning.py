"""A long run's files in few lines: what a window draws of a million is a fraction of them."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from typing import Final, Protocol

import msgspec
from pydantic import ValidationError

from gpupanel.domain.events import TimeReported, encode_event
from gpupanel.domain.time_spent import TimeSpent

MOST_STEPS: Final = 8_000
"""Lines of steps: more than a plot has pixels across."""
_KEPT_OF_STEPS: Final = 3
"""Of a stretch."""
_MOST_SAMPLE_BYTES: Final = 3 * 2**19
_STEPS: Final = b'"kind":"steps_done"'
_KIND: Final = re.compile(rb'"kind":"(steps_done|(?:figures|time|memory)_reported)"')
_KIND_WITHIN: Final = 80
"""A line begins with the moment and its kind."""
_EXAMPLES: Final = b'{"kind":"examples"'
_LOSS: Final = re.compile(rb'"loss":(-?[0-9.eE+-]+)')
PIECE_BYTES: Final = 2**18


class _Figures(msgspec.Struct):
    figures: dict[str, float]


_FIGURES: Final = msgspec.json.Decoder(_Figures)


class Thinning(Protocol):
    """Takes whole lines in order, and gives those that are kept."""

    def take(self, block: bytes) -> bytes:
        """What is kept of whole lines; some may come with the next."""
        ...

    def rest(self) -> bytes:
        """What waited for more."""
        ...


class EventThinning:
    """Keeps few of each stretch of lines of the kinds that a long run has by far the most of.

    Of steps those of the lowest and the highest loss and the last, of figures those of each name:
    no spike is lost, and none of what stands there now. Times are added up, since each line has
    those since the one before. All other lines are kept, and end a stretch.

    Args:
        size: Bytes of all lines that will come, as far as is known.
    """

    def __init__(self, size: int) -> None:
        self._size, self._length = size, 0
        self._waiting: list[bytes] = []

    def take(self, block: bytes) -> bytes:
        """What is kept of whole lines; some may come with the next."""
        self._length = self._length or _length_of(self._size, block)
        if self._length <= _KEPT_OF_STEPS:
            return block
        lines = block.splitlines(keepends=True)
        if block.count(_STEPS) == len(lines):
            return b"".join(self._taken(lines))
        kept: list[bytes] = []
        waiting: list[bytes] = []
        for line in lines:
            if _KIND.search(line, 0, _KIND_WITHIN):
                waiting.append(line)
            else:
                kept += self._taken(waiting)
                kept += self._ends()
                kept.append(line)
                waiting.clear()
        return b"".join(kept + self._taken(waiting))

    def rest(self) -> bytes:
        """What waited for more."""
        return b"".join(self._ends())

    def _taken(self, lines: list[bytes]) -> list[bytes]:
        """What is kept of lines that are of these kinds: of each whole stretch of them."""
        self._waiting += lines
        kept: list[bytes] = []
        start, waiting = 0, self._waiting
        while start + self._length <= len(waiting):
            self._waiting = waiting[start : start + self._length]
            kept += self._ends()
            start += self._length
        self._waiting = waiting[start:]
        return kept

    def _ends(self) -> list[bytes]:
        waiting, self._waiting = self._waiting, []
        if len(waiting) <= _KEPT_OF_STEPS:
            return waiting
        places: dict[bytes, list[int]] = {}
        for place, line in enumerate(waiting):
            found = _KIND.search(line, 0, _KIND_WITHIN)
            places.setdefault(found[1] if found else b"", []).append(place)
        kept: dict[int, bytes] = {}
        for kind, those in places.items():
            few = _FEW_OF.get(kind, _last)([waiting[place] for place in those])
            kept |= {those[place]: line for place, line in few.items()}
        return [kept[place] for place in sorted(kept)]


def _few_steps(lines: list[bytes]) -> dict[int, bytes]:
    losses = _losses(lines)
    places = range(len(lines))
    kept = {
        min(places, key=losses.__getitem__),
        max(places, key=losses.__getitem__),
        len(lines) - 1,
    }
    return {place: lines[place] for place in kept}


def _few_figures(lines: list[bytes]) -> dict[int, bytes]:
    """Of each name the lowest, the highest and the last."""
    found: dict[str, list[tuple[float, int]]] = {}
    try:
        for place, line in enumerate(lines):
            for name, figure in _FIGURES.decode(line).figures.items():
                found.setdefault(name, []).append((figure, place))
    except msgspec.MsgspecError:
        return dict(enumerate(lines))  # whoever reads them says what is wrong
    kept = {each[1] for of in found.values() for each in (min(of), max(of), of[-1])}
    return {place: lines[place] for place in kept}


def _few_times(lines: list[bytes]) -> dict[int, bytes]:
    """The last, and the sum of all before it."""
    last = len(lines) - 1
    try:
        events = [TimeReported.model_validate_json(line) for line in lines[:-1]]
    except ValidationError:
        return dict(enumerate(lines))
    if not events:
        return {last: lines[last]}
    spent = reduce(TimeSpent.plus, (event.spent for event in events))
    added = events[-1].model_copy(update={"spent": spent})
    return {last - 1: encode_event(added).encode() + b"\n", last: lines[last]}


def _last(lines: list[bytes]) -> dict[int, bytes]:
    return {len(lines) - 1: lines[-1]}


_FEW_OF: Final[Mapping[bytes, Callable[[list[bytes]], dict[int, bytes]]]] = {
    b"steps_done": _few_steps,
    b"figures_reported": _few_figures,
    b"time_reported": _few_times,
    b"memory_reported": _last,
}


class RegularThinning:
    """Keeps every n-th line, so that about 1.5 MiB are left, and the last.

    Of readings of the devices, and of what a model said of the same examples epoch by epoch. The
    line with these examples is always kept: without it nobody knows what the others speak of.

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
            is_of_all = line.startswith(_EXAMPLES)
            is_kept = is_of_all or self._number % self._every == 0
            self._number += not is_of_all
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
    """How many lines a stretch has, of which three are kept, if all lines are as long as these."""
    lines = size * block.count(b"\n") / max(1, len(block))
    return int(_KEPT_OF_STEPS * lines / MOST_STEPS)


def _losses(lines: list[bytes]) -> list[float]:
    """The loss of each line; 0 where not each of them has one."""
    found = _LOSS.findall(b"".join(lines))
    try:
        losses = [*map(float, found)]
    except ValueError:
        losses = []
    return losses if len(losses) == len(lines) else [0.0] * len(lines)
