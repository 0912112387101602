"""Notices that steps wait for their examples, and says what to change."""

import time
from dataclasses import replace

from gpupanel.domain.data import DataCache
from gpupanel.domain.data_source import DataSource
from gpupanel.domain.events import ProblemReported
from gpupanel.domain.problem import Problem, Severity
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.progress import TrainingRecord

_SETTLED_S = 10.0
"""Of training: before, the first examples are read for the first time."""
_MOST_WAITING = 0.1


class DataWaits:
    """Reports once that steps wait for more than a tenth of the time."""

    def __init__(self, data: DataSource, events: EventWriter) -> None:
        self._data = data
        self._events = events
        self._is_reported = False
        # What is decoded in the first epoch of a run, and kept, says nothing about those after it.
        self._is_first_left_out = data.is_decoded and data.cache is DataCache.DISK
        self._first_epoch: int | None = None
        self._left_out = TrainingRecord()

    def check(self, record: TrainingRecord, epoch: int) -> None:
        """Take what was reached by now, in that epoch."""
        if self._first_epoch is None:
            self._first_epoch = epoch
        if self._is_first_left_out and epoch == self._first_epoch:
            self._left_out = replace(record)
            return
        if self._is_reported or record.waited_s is None:
            return
        training_s = record.training_s - self._left_out.training_s
        waited_s = record.waited_s - (self._left_out.waited_s or 0.0)
        if training_s >= _SETTLED_S and waited_s > _MOST_WAITING * training_s:
            self._is_reported = True
            problem = waits_for_data(min(1.0, waited_s / training_s), self._data)
            self._events.write(ProblemReported(time_s=time.time(), problem=problem))


def waits_for_data(waiting: float, data: DataSource) -> Problem:
    """The hint of a run whose devices are not kept busy.

    Args:
        waiting: The share of the training time, 0 to 1.
        data: What is trained on.
    """
    may_be_cached, faster_disk = data.cache is DataCache.NONE, "put the data on a faster disk"
    if data.is_decoded and may_be_cached:
        what_to_do = 'set data.cache to "memory" or "disk", so that examples are decoded once'
    elif data.is_decoded:
        what_to_do = f"{faster_disk}, or make data.image_size smaller"
    elif may_be_cached:
        what_to_do = f'set data.cache to "memory" if the examples fit there, or {faster_disk}'
    else:
        what_to_do = faster_disk
    return Problem(
        code="training_waits_for_data",
        severity=Severity.HINT,
        field="data.cache",
        message=f"The devices wait for examples in {waiting * 100:.0f} % of the training time: "
        "reading them takes longer than computing.",
        hint=f"{what_to_do[0].upper()}{what_to_do[1:]}.",
    )
