"""How often a run was started again, how long all of its segments lasted, and their energy.

A segment is what one supervisor ran: from its start to its last event. A run that was resumed has
several of them.
"""

import re
from typing import TYPE_CHECKING

from gpupanel.domain.clock_jumps import SkippedTime
from gpupanel.domain.events import (
    ClockJumped,
    Event,
    RunEnded,
    RunRestarted,
    RunStarted,
    decode_event,
)
from gpupanel.runs.directory.event_times import time_of_line

if TYPE_CHECKING:
    from gpupanel.domain.energy import RunEnergy

SEGMENT_LINES = re.compile(rb'"(?:run_(?:re)?started|run_ended|clock_jumped)"')


class RunSegments:
    """Counts as events come, first those of the segments before.

    Attributes:
        restarts: By a person and automatically.
        energy: What the devices took in the segments before; ``None``: nobody said so.
    """

    def __init__(self) -> None:
        self.restarts = 0
        self.energy: RunEnergy | None = None
        self._before_s = 0.0
        self._began_s: float | None = None
        self._last_line = b""
        self._skipped = SkippedTime()

    def see_block(self, block: bytes) -> None:
        """Take in lines of the segments before, of which only a few are looked at.

        Args:
            block: Whole lines, with their ends.
        """
        seen = 0
        while (near := SEGMENT_LINES.search(block, seen)) is not None:
            # The word alone: whether it is the line's kind, decoding shows.
            start = block.rfind(b"\n", seen, near.start()) + 1 or seen
            end = block.find(b"\n", near.end()) + 1 or len(block)
            self._pass_over(block[seen:start])
            self._see_line(block[start:end])
            seen = end
        self._pass_over(block[seen:])

    def _see_line(self, line: bytes) -> None:
        event = decode_event(line)
        if isinstance(event, RunStarted):
            self._end_segment(time_of_line(self._last_line))
        if isinstance(event, RunStarted | RunRestarted | ClockJumped):
            self.see(event)
        if isinstance(event, RunEnded) and event.energy is not None:
            self.energy = event.energy  # which is of all segments up to that one
        # A restart by hand is reported before its supervisor is there.
        if not isinstance(event, RunRestarted):
            self._last_line = line

    def _pass_over(self, lines: bytes) -> None:
        self._last_line = lines.rstrip().rpartition(b"\n")[2] or self._last_line

    def see(self, event: Event) -> None:
        """Take in what the supervisor reports."""
        if isinstance(event, ClockJumped):
            self._skipped = self._skipped.after(event)
        elif isinstance(event, RunRestarted):
            self.restarts += 1
        elif isinstance(event, RunStarted):
            self._end_segment(time_of_line(self._last_line))
            self._began_s = event.time_s

    @property
    def since_s(self) -> float | None:
        """The start time that the run would have had without interruptions.

        ``None`` before its first supervisor.
        """
        if self._began_s is None:
            return None
        return self._began_s - self._before_s + self._skipped.after_moment(self._began_s)

    def lasted_s(self, now_s: float) -> float:
        """All segments together, up to that moment.

        A clock that was set back counts as nothing, and so does what the machine slept.
        """
        segment_s = 0.0 if self._began_s is None else self._passed_s(self._began_s, now_s)
        return self._before_s + segment_s

    def _passed_s(self, start_s: float, end_s: float) -> float:
        return max(0.0, end_s - start_s - self._skipped.between(start_s, end_s))

    def _end_segment(self, last_s: float | None) -> None:
        if self._began_s is not None and last_s is not None:
            self._before_s += self._passed_s(self._began_s, last_s)
        self._began_s = None
