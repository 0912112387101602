"""Reading a run's curves from its directory, and nothing else of it."""

from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.tails import LineTail
from gpupanel.runs.following.event_tail import decode_parts
from gpupanel.runs.history.curves import CurveRecorder, MetricPoints
from gpupanel.runs.history.metrics import Metric


class CurveReader:
    """Follows the events of one run from its beginning, whether it goes on or ended long ago.

    Args:
        layout: The run.
        most_points: As :class:`CurveRecorder` takes it.
    """

    def __init__(self, layout: RunLayout, most_points: int | None = None) -> None:
        self.layout = layout
        self._tail = LineTail(layout.events)
        self._recorder = CurveRecorder(most_points)

    @property
    def has_more(self) -> bool:
        """Whether more waits than one read takes."""
        return self._tail.has_more

    @property
    def step(self) -> int:
        """Updates done, as far as was read."""
        return self._recorder.step

    def read(self) -> bool:
        """Take in what was written since the last read, at most 1 MiB of it.

        Returns:
            Whether there was anything.

        Raises:
            OSError: The directory cannot be read.
        """
        block = self._tail.read_block()
        self._recorder.add(decode_parts(block))
        return bool(block)

    def points(self) -> dict[Metric, MetricPoints]:
        """The curves, as far as they were read."""
        return self._recorder.points()
