"""Notices that steps wait for their examples, and says what to change."""

import time

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

    def check(self, record: TrainingRecord) -> None:
        """Take what was reached by now."""
        waiting = record.waiting_for_data
        if self._is_reported or waiting is None or record.training_s < _SETTLED_S:
            return
        if waiting > _MOST_WAITING:
            self._is_reported = True
            problem = waits_for_data(waiting, self._data)
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
