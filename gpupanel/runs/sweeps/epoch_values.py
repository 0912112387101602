"""The metric of a trial after each epoch, read from its run's events as they grow."""

from typing import Final

from gpupanel.domain.events import EpochDone, TrainingEnded, TrainingResumed, decode_event
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.tails import LineTail

_MARKS: Final = (b'"epoch_done"', b'"training_resumed"', b'"training_ended"')
_MOST_READS: Final = 64
"""Mebibytes of events at once: a scheduler has other things to do, too."""


class EpochValues:
    """Follows one metric of a run.

    Args:
        layout: The run.
        metric: Its key among the metrics of an epoch.

    Attributes:
        kept_epoch: The epoch whose weights the model has; ``None`` while it is not known.
    """

    def __init__(self, layout: RunLayout, metric: str) -> None:
        self._tail = LineTail(layout.events)
        self._metric = metric
        self._values: dict[int, tuple[int, float]] = {}
        self.kept_epoch: int | None = None

    def read(self) -> dict[int, float]:
        """The values so far, by epoch; epochs that a resumed run does again are left out.

        Raises:
            OSError: The events cannot be read.
        """
        for _ in range(_MOST_READS):
            for line in self._tail.read_block().split(b"\n"):
                # Almost all lines are steps: these are not decoded.
                if any(mark in line for mark in _MARKS):
                    self._take(line)
            if not self._tail.has_more:
                break
        return {epoch: value for epoch, (_, value) in self._values.items()}

    def _take(self, line: bytes) -> None:
        match decode_event(line):
            case EpochDone() as done:
                value: float | None = getattr(done.metrics, self._metric, None)
                if value is not None:
                    self._values[done.epoch] = done.step, value
            case TrainingEnded(process=0) as ended:
                self.kept_epoch = ended.kept_epoch
            case TrainingResumed() as resumed:
                self.kept_epoch = None
                kept = self._values.items()
                self._values = {epoch: each for epoch, each in kept if each[0] <= resumed.step}
