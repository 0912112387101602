"""Watching a run: what is new in its directory since the last poll."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from gpupanel.domain.events import Event
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.runs.directory.tails import LineTail, TextTail
from gpupanel.runs.following.event_tail import EventTail, Part
from gpupanel.runs.following.figures import FigureBatch
from gpupanel.runs.following.readings import SampleBatch
from gpupanel.runs.following.steps import StepBatch

_MOST_TELEMETRY_BYTES = 2**20
"""Decoded at once, while other threads of this process wait for their turns."""


@dataclass(frozen=True, slots=True, eq=False)
class FollowedRun:
    """What is new, in the order in which it was written.

    Attributes:
        parts: The events; those of steps that follow each other are one :class:`StepBatch`,
            and figures of a program one :class:`FigureBatch`.
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
        """The events one by one, for those who read few: a million take seconds."""
        return tuple(event for part in self.parts for event in _events(part))

    @property
    def samples(self) -> tuple[TelemetrySample, ...]:
        """The samples one by one, for those who read few."""
        return self.readings.whole()


class RunFollower:
    """Follows one run from its beginning, whether it goes on or ended long ago.

    Args:
        layout: The run.
        reads_aside: As :class:`EventTail` takes it.
    """

    def __init__(self, layout: RunLayout, *, reads_aside: bool = False) -> None:
        self.layout = layout
        self._events = EventTail(layout.events, reads_aside=reads_aside)
        self._telemetry = LineTail(layout.telemetry, _MOST_TELEMETRY_BYTES)
        self._log = TextTail(layout.trainer_log)

    def begin(self) -> None:
        """Begin to read aside now, if at all, and not with the first poll."""
        self._events.begin()

    def poll(self) -> FollowedRun:
        """What was written since the last poll, at most 8 MiB of each file, and less of most.

        Raises:
            OSError: The directory cannot be read.
        """
        parts = self._events.read()
        readings = SampleBatch(self._telemetry.read_block())
        log = self._log.read()
        tails = (self._events, self._telemetry, self._log)
        has_more = any(tail.has_more for tail in tails)
        return FollowedRun(parts, readings, log, self._log.skipped_bytes, has_more)

    def close(self) -> None:
        """End what reads aside, if anything does."""
        self._events.close()


def _events(part: Part) -> Iterable[Event]:
    return part if isinstance(part, StepBatch | FigureBatch) else (part,)
