"""Where the time of a training goes: measured always, reported about once a second."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gpupanel.domain.events import TimeReported
from gpupanel.domain.time_spent import ReplicaTime, TimeSpent
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.progress import TrainingRecord, added

if TYPE_CHECKING:
    # Its module needs TensorFlow, which counting does not.
    from gpupanel.trainer.steps.calls import CallSums

_INTERVAL_S = 1.0


class TimeAccount:
    """Adds up what calls took, and what stands between them, until the next report is due.

    Whatever is not known to be something else is the host's time: all of the wall clock is
    accounted for.
    """

    def __init__(
        self,
        events: EventWriter,
        record: TrainingRecord,
        replicas: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Nothing is counted before :meth:`restart`.

        Args:
            events: Where it is reported.
            record: Gets all of it.
            replicas: Of the run.
            clock: In seconds.
        """
        self._events = events
        self._record = record
        self._replicas = replicas
        self._clock = clock
        self._begun_s: float | None = None
        self._computing = [1.0] * replicas
        """Of the time of steps, which part each replica computed when that was last measured."""
        self._exchanging = None if replicas > 1 else 0.0
        self._waits = self._timed_s = (0.0,) * replicas
        self._clear()

    def restart(self) -> None:
        """Count from now on; what took long before that was no training."""
        self._begun_s = self._clock()
        self._clear()

    def add(self, sums: "CallSums") -> None:
        """Add a call of training steps."""
        self._graph_s += sums.graph_s or 0.0
        waits = sums.replica_waits or (sums.waited_s,) * self._replicas
        self._waits = added(self._waits, waits)
        self._waited_s += sums.waited_s
        if sums.replica_seconds and sums.graph_s:
            self._timed_graph_s += sums.graph_s
            self._spans_s += sums.spans_s
            self._timed_s = added(self._timed_s, sums.replica_seconds)

    def add_asynchronous(self, sums: "CallSums") -> None:
        """Add a call that a worker did while others did theirs: which one it was is not known."""
        self._waits = added(self._waits, (sums.waited_s,) * self._replicas)
        self._worked_s += sums.replica_seconds[0]

    @contextmanager
    def validating(self) -> Iterator[None]:
        """What is done in here is validation."""
        start_s = self._clock()
        yield
        self._validating_s += self._clock() - start_s

    @contextmanager
    def saving(self) -> Iterator[None]:
        """What is done in here is saving."""
        start_s = self._clock()
        yield
        self._saving_s += self._clock() - start_s

    def report(self, step: int, *, now: bool = False) -> None:
        """Report what was added, if a report is due.

        Args:
            step: Updates since the start of the run.
            now: Report whatever the time: nothing comes after.
        """
        if self._begun_s is None:
            return
        clock_s = self._clock()
        seconds = clock_s - self._begun_s
        if seconds <= 0.0 or (not now and seconds < _INTERVAL_S):
            return
        spent = self._spent(seconds)
        before = self._record.time_spent
        self._record.time_spent = spent if before is None else before.plus(spent)
        self._events.write(TimeReported(time_s=time.time(), step=step, spent=spent))
        self._begun_s = clock_s
        self._clear()

    def _spent(self, seconds: float) -> TimeSpent:
        apart_s = self._validating_s + self._saving_s
        if self._worked_s:
            # Workers are busy beside each other, and the host beside them.
            host_s, replicas = 0.0, self._of_workers(max(0.0, seconds - apart_s))
        else:
            steps_s = self._graph_s + self._waited_s
            host_s, replicas = max(0.0, seconds - apart_s - steps_s), self._of_replicas(steps_s)
        return TimeSpent(
            seconds=_rounded(seconds),
            host_s=_rounded(host_s),
            validating_s=_rounded(self._validating_s),
            saving_s=_rounded(self._saving_s),
            replicas=tuple(replicas),
        )

    def _of_workers(self, seconds: float) -> Iterator[ReplicaTime]:
        for waited_s in self._waits:
            waited_s = min(waited_s, seconds)
            computing_s = min(self._worked_s / self._replicas, seconds - waited_s)
            yield ReplicaTime(
                computing_s=_rounded(computing_s),
                waiting_for_replicas_s=_rounded(seconds - waited_s - computing_s),
                waiting_for_data_s=_rounded(waited_s),
            )

    def _of_replicas(self, steps_s: float) -> Iterator[ReplicaTime]:
        if self._timed_graph_s:
            self._computing = [seconds / self._timed_graph_s for seconds in self._timed_s]
            self._exchanging = max(0.0, 1.0 - self._spans_s / self._timed_graph_s)
        for part, waited_s in zip(self._computing, self._waits, strict=True):
            exchanging_s = (self._exchanging or 0.0) * self._graph_s
            is_measured = self._replicas > 1 and self._exchanging is not None
            known_s = part * self._graph_s + exchanging_s
            yield ReplicaTime(
                computing_s=_rounded(part * self._graph_s),
                exchanging_s=_rounded(exchanging_s) if is_measured else None,
                # Of another process of the run also what that one did beside its steps.
                waiting_for_replicas_s=_rounded(max(0.0, steps_s - waited_s - known_s)),
                waiting_for_data_s=_rounded(waited_s),
            )

    def _clear(self) -> None:
        self._graph_s = self._waited_s = self._worked_s = 0.0
        self._validating_s = self._saving_s = 0.0
        self._timed_graph_s = self._spans_s = 0.0
        self._waits = self._timed_s = (0.0,) * self._replicas


def _rounded(seconds: float) -> float:
    """To a microsecond: more digits say nothing, and a run has many such lines."""
    return round(seconds, 6)
