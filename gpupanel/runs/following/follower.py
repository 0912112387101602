"""Watching a run: what is new in its directory since the last look."""

from pydantic import ValidationError

from gpupanel.domain.events import Event, decode_event
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.domain.value import Value
from gpupanel.runs.directory.tails import LineTail, TextTail


class FollowedRun(Value):
    """What is new: events and samples in the order in which they were written.

    Attributes:
        log: New text of the trainer's log.
        has_more: More waits than one poll takes: poll again at once.
    """

    events: tuple[Event, ...] = ()
    samples: tuple[TelemetrySample, ...] = ()
    log: str = ""
    has_more: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing is new."""
        return not (self.events or self.samples or self.log)


class RunFollower:
    """Follows one run from its beginning, whether it goes on or ended long ago."""

    def __init__(self, layout: RunLayout) -> None:
        self.layout = layout
        self._events = LineTail(layout.events)
        self._telemetry = LineTail(layout.telemetry)
        self._log = TextTail(layout.trainer_log)

    def poll(self) -> FollowedRun:
        """What was written since the last poll, at most 1 MiB of each file.

        Raises:
            OSError: The directory cannot be read.
        """
        events = tuple(decode_event(line) for line in self._events.read())
        samples = tuple(
            sample for line in self._telemetry.read() if (sample := _sample(line)) is not None
        )
        log = self._log.read()
        tails = (self._events, self._telemetry, self._log)
        # Built without validation: each part was validated as it was decoded, and a long history
        # would be validated twice.
        return FollowedRun.model_construct(
            events=events, samples=samples, log=log, has_more=any(tail.has_more for tail in tails)
        )


def _sample(line: bytes) -> TelemetrySample | None:
    # A sample that cannot be read is a gap in a curve: the events tell what happened.
    try:
        return TelemetrySample.model_validate_json(line)
    except ValidationError:
        return None
