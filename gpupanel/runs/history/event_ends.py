"""What the two ends of ``events.jsonl`` say, however long it is between them."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError
from pydantic_core import from_json

from gpupanel.domain.events import Event, RunEnded, UnknownEvent, decode_event
from gpupanel.domain.value import Value
from gpupanel.files.guarded_files import open_to_read
from gpupanel.runs.directory.tails import LONGEST_LINE_BYTES

_HEAD_BYTES = 4 * 1024
_LONG_HEAD_BYTES = 256 * 1024
"""Within these the data is ready, also where a data set was downloaded before."""
_TAIL_BYTES = 16 * 1024
_LONG_TAIL_BYTES = 256 * 1024
"""Within these lies a run's last word, however long the log that it quotes, or its last epoch."""
_LONGEST_TAIL_BYTES = 2 * LONGEST_LINE_BYTES
"""Searched only where lines are so long that few of them stand near the end."""
_FEW_LINES = 8

_EventT = TypeVar("_EventT", bound=Event)


class EventEnds:
    """Reads the first and the last events of a run, and nothing between.

    Args:
        path: The run's ``events.jsonl``.

    Attributes:
        changed_s: When it was written last, seconds since the epoch (UTC).

    Raises:
        OSError: It cannot be read; :class:`FileNotFoundError` where there is none.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with open_to_read(path) as file:
            self._size = file.seek(0, 2)
            self.changed_s = os.fstat(file.fileno()).st_mtime
            file.seek(0)
            self._head = file.read(_HEAD_BYTES)
            self._start = max(0, self._size - _TAIL_BYTES)
            if self._start:
                file.seek(self._start)
                self._tail = file.read(_TAIL_BYTES)
            else:
                self._tail = self._head + file.read(_TAIL_BYTES - len(self._head))

    def first_line(self) -> bytes:
        """The first line; empty where it is not whole yet."""
        line, end, _ = self._head.partition(b"\n")
        return line if end else b""

    def last_line(self) -> bytes:
        """The last whole line; empty where there is none near the end."""
        end = self._tail.rfind(b"\n")
        return self._tail[self._tail.rfind(b"\n", 0, max(0, end)) + 1 : end] if end > 0 else b""

    def first_of(self, kind: type[_EventT]) -> _EventT | None:
        """The first event of that kind near the start."""
        if len(self._head) == _HEAD_BYTES:
            with open_to_read(self._path) as file:
                self._head = file.read(_LONG_HEAD_BYTES)
        word = _kind_text(kind)
        for line in self._head.splitlines():
            if word in line and isinstance(event := decode_event(line), kind):
                return event
        return None

    def last_of(
        self, kind: type[_EventT], counts: Callable[[_EventT], bool] = lambda _event: True
    ) -> tuple[int, _EventT] | None:
        """The last event of that kind that counts near the end, and where its line begins."""
        for at, line in self._from_the_end(_kind_text(kind)):
            event = decode_event(line)
            if isinstance(event, kind) and counts(event):
                return at, event
        return None

    def last_end(self) -> tuple[int, RunEnded, bool] | None:
        """The last end of the run near the end of the file.

        Returns:
            Where in the file its line begins, what it says, and whether all of it is known here:
            a newer version may say more, of which the known part is kept.
        """
        for at, line in self._from_the_end(_kind_text(RunEnded)):
            event = decode_event(line)
            if isinstance(event, RunEnded):
                return at, event, True
            if isinstance(event, UnknownEvent) and (known := _known_part(line)) is not None:
                return at, known, False
        return None

    def lines(self) -> dict[int, bytes]:
        """The whole lines that were read until now, by where they begin in the file, in order."""
        found: dict[int, bytes] = {}
        for start, part in ((0, self._head), (self._start, self._tail)):
            # What begins within the file begins within a line.
            at = start + (part.find(b"\n") + 1 if start else 0)
            for line in part[at - start :].splitlines(keepends=True):
                if line.endswith(b"\n"):
                    found[at] = line
                at += len(line)
        return dict(sorted(found.items()))

    def lengthen(self) -> bool:
        """Read farther back from the end; false where that was done, or nothing is left.

        Once, and as often as it takes where lines are long.
        """
        length = len(self._tail)
        is_enough = length >= _LONG_TAIL_BYTES and self._tail.count(b"\n") > _FEW_LINES
        if not self._start or is_enough or length >= _LONGEST_TAIL_BYTES:
            return False
        self._start = max(0, self._size - max(_LONG_TAIL_BYTES, 8 * length))
        with open_to_read(self._path) as file:
            file.seek(self._start)
            self._tail = file.read(self._size - self._start)
        return True

    def _from_the_end(self, word: bytes) -> Iterator[tuple[int, bytes]]:
        """The whole lines with that word, the last one first, and where each begins."""
        rest = len(self._tail)
        while (place := self._tail.rfind(word, 0, rest)) >= 0:
            rest = self._tail.rfind(b"\n", 0, place) + 1
            end = self._tail.find(b"\n", place)
            # The tail begins within a line, unless it is the whole file.
            if end >= 0 and (rest or not self._start):
                yield self._start + rest, self._tail[rest:end]


def _kind_text(kind: type[Value]) -> bytes:
    # The word alone: whether it is the line's kind or only stands somewhere in it, decoding shows.
    return b'"%s"' % str(kind.model_fields["kind"].default).encode()


def _known_part(line: bytes) -> RunEnded | None:
    """What this version knows of a newer one's last word; ``None`` where that is no such word."""
    try:
        document = from_json(line)
    except ValueError:
        return None  # half a line, or damaged
    if not isinstance(document, dict) or document.get("kind") != "run_ended":
        return None
    known = {key: value for key, value in document.items() if key in RunEnded.model_fields}
    least = {key: known[key] for key in ("time_s", "outcome") if key in known}
    for part in (known, least):
        try:
            return RunEnded.model_validate(part)
        except ValidationError:
            continue
    return None
