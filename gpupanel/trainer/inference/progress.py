"""Tells how many examples are done, at most 20 times a second."""

import time

from gpupanel.domain.events import ExamplesDone
from gpupanel.trainer.event_writer import EventWriter

_LEAST_INTERVAL_S = 0.055
"""A little more than a twentieth of a second, so that the last report fits in too."""


class Progress:
    """Counts examples and reports them when a report is due.

    Attributes:
        examples: Done so far.
    """

    def __init__(self, events: EventWriter, total: int) -> None:
        self.examples = 0
        self._events = events
        self._total = total
        self._start_s = time.monotonic()
        self._told_s = float("-inf")

    @property
    def seconds(self) -> float:
        """Since the first example was begun."""
        return time.monotonic() - self._start_s

    def add(self, examples: int) -> None:
        """Add a batch."""
        self.examples += examples
        now_s = time.monotonic()
        if now_s - self._told_s < _LEAST_INTERVAL_S and self.examples < self._total:
            return
        self._told_s = now_s
        self._events.write(
            ExamplesDone(
                time_s=time.time(),
                examples=self.examples,
                examples_total=self._total,
                examples_per_second=self.examples / max(self.seconds, 1e-9),
            )
        )
