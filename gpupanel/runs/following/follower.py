"""Watching a run: what is new in its directory since the last look."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, groupby
from typing import TypeAlias

from gpupanel.domain.events import Event, decode_event
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.runs.directory.tails import LineTail, TextTail
from gpupanel.runs.following.readings import SampleBatch
from gpupanel.runs.following.steps import StepBatch

Part: TypeAlias = Event | StepBatch
"""An event, or steps in bulk."""

MOST_BYTES_A_POLL = 8 * 2**20
"""Of each file: read in the time in which a person takes a thing for instant."""
_BLOCK_BYTES = 2**18
"""Read at once: what a processor holds close is still there when it is decoded."""
_PIECE_BYTES = 16 * 1024
_STEPS_MARK = b'"steps_done"'


@dataclass(frozen=True, slots=True, eq=False)
class FollowedRun:
    """What is new, in the order in which it was written.

    Attributes:
        parts: The events; those of steps that follow each other are one :class:`StepBatch`.
        readings: The samples of the devices.
        log: New text of the trainer's log.
        log_skipped_bytes: What was left out of the log before that: of much, only the end is read.
        has_more: More waits than one poll takes: poll again at once.
    """

    parts: tuple[Part, ...] = ()
    readings: SampleBatch = field(default_factory=SampleBatch)
    log: str = ""
    log_skipped_bytes: int = 0
    has_more: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing is new."""
        return not (self.parts or len(self.readings) or self.log)

    @property
    def events(self) -> tuple[Event, ...]:
        """The events one by one, for those who look at few: a million take seconds."""
        return tuple(event for part in self.parts for event in _events(part))

    @property
    def samples(self) -> tuple[TelemetrySample, ...]:
        """The samples one by one, for those who look at few."""
        return self.readings.whole()


class RunFollower:
    """Follows one run from its beginning, whether it goes on or ended long ago."""

    def __init__(self, layout: RunLayout) -> None:
        self.layout = layout
        self._events = LineTail(layout.events, _BLOCK_BYTES)
        self._telemetry = LineTail(layout.telemetry, MOST_BYTES_A_POLL)
        self._log = TextTail(layout.trainer_log)

    def poll(self) -> FollowedRun:
        """What was written since the last poll, at most 8 MiB of each file.

        Raises:
            OSError: The directory cannot be read.
        """
        parts = decode_parts(self._blocks_of_events())
        readings = SampleBatch(self._telemetry.read_block())
        log = self._log.read()
        tails = (self._events, self._telemetry, self._log)
        has_more = any(tail.has_more for tail in tails)
        return FollowedRun(parts, readings, log, self._log.skipped_bytes, has_more)

    def _blocks_of_events(self) -> Iterator[bytes]:
        for _ in range(MOST_BYTES_A_POLL // _BLOCK_BYTES):
            yield self._events.read_block()
            if not self._events.has_more:
                break


def decode_parts(blocks: Iterable[bytes]) -> tuple[Part, ...]:
    """The events of whole lines, those of steps that follow each other as one value.

    Steps whose numbers have an unusual form stay events, as
    :func:`~gpupanel.domain.events.decode_event` reads them.

    Args:
        blocks: The lines, with their ends; no line is in two blocks.
    """
    parts: list[Part] = []
    steps = StepBatch()
    for piece in chain.from_iterable(map(_pieces, blocks)):
        if steps.take(piece):
            continue
        for lines in _alike(piece):
            if _STEPS_MARK in lines and steps.take(lines):
                continue
            for line in lines.split(b"\n")[:-1]:
                if _STEPS_MARK in line and steps.take(line + b"\n"):
                    continue
                if steps:
                    parts.append(steps)
                    steps = StepBatch()
                parts.append(decode_event(line))
    if steps:
        parts.append(steps)
    return tuple(parts)


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


def _events(part: Part) -> Iterable[Event]:
    return part if isinstance(part, StepBatch) else (part,)
