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
    from gpupanel.trainer.steps.step_calls import CallSums

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
        self._has_validated = False
        self._waits = self._computed_s = (0.0,) * replicas
        self._clear()

    def restart(self) -> None:
        """Count from now on; what took long before that was no training."""
        self._begun_s = self._clock()
        self._clear()

    def add(self, sums: "CallSums", computed_s: float) -> None:
        """Add a call of training steps, which was computed for so long."""
        self._graph_s += computed_s
        waits = sums.replica_waits or (sums.waited_s,) * self._replicas
        self._waits = added(self._waits, waits)
        self._waited_s += sums.waited_s
        if not sums.replica_seconds:
            # One replica, which all of the time of its steps is.
            self._computed_s = added(self._computed_s, (computed_s,) * self._replicas)
            return
        self._computed_s = added(self._computed_s, sums.replica_seconds)
        slowest_s = max(map(sum, zip(sums.replica_seconds, waits, strict=True)))
        self._exchanged_s += max(0.0, computed_s + sums.waited_s - slowest_s)

    def add_asynchronous(self, sums: "CallSums") -> None:
        """Add a call that a worker did while others did theirs: which one it was is not known."""
        self._waits = added(self._waits, (sums.waited_s,) * self._replicas)
        self._worked_s += sums.replica_seconds[0]

    @contextmanager
    def validating(self) -> Iterator[None]:
        """What is done in here is validation; the first time it is counted nowhere.

        TensorFlow optimises the graph in it, as it does in the first call of training steps.
        """
        start_s = self._clock()
        yield
        took_s = self._clock() - start_s
        if self._has_validated:
            self._validating_s += took_s
        elif self._begun_s is not None:
            self._begun_s += took_s
        self._has_validated = True

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
        for computed_s, waited_s in zip(self._computed_s, self._waits, strict=True):
            known_s = waited_s + computed_s + self._exchanged_s
            yield ReplicaTime(
                computing_s=_rounded(computed_s),
                exchanging_s=_rounded(self._exchanged_s) if self._replicas > 1 else None,
                # Of another process of the run also what that one did beside its steps.
                waiting_for_replicas_s=_rounded(max(0.0, steps_s - known_s)),
                waiting_for_data_s=_rounded(waited_s),
            )

    def _clear(self) -> None:
        self._graph_s = self._waited_s = self._worked_s = 0.0
        self._validating_s = self._saving_s = 0.0
        self._exchanged_s = 0.0
        self._waits = self._computed_s = (0.0,) * self._replicas


def _rounded(seconds: float) -> float:
    """To a microsecond: more digits say nothing, and a run has many such lines."""
    return round(seconds, 6)
