"""What the scheduler knows of clusters that waiting entries are for."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gpupanel.domain.cluster import ClusterReading, devices_of, sample_of
from gpupanel.domain.problem import ProblemError
from gpupanel.runs.readiness import Machine

FRESH_S: Final = 10.0
"""The oldest reading, in seconds, by which a run is started: nodes come and go."""
_ASKED_AGAIN_S: Final = 30.0
"""Seconds before another try: each loads Ray and may start agents on nodes."""

Read = Callable[[str, threading.Event], ClusterReading]
Begin = Callable[[Callable[[], None]], None]
"""Begins some work, in a thread of its own."""


@dataclass(frozen=True, slots=True)
class ClusterAsked:
    """What came of asking a cluster.

    Attributes:
        machine: The devices of its nodes; ``None``: it has not answered yet.
        error: Why it could not be asked.
        is_fresh: Whether that is how it is now.
    """

    machine: Machine | None = None
    error: ProblemError | None = None
    is_fresh: bool = False


@dataclass
class _Reading:
    machine: Machine | None = None
    error: ProblemError | None = None
    read_s: float = float("-inf")
    is_asked: bool = False


class ClusterReadings:
    """Asks clusters beside the scheduler's own work: an answer takes seconds, none takes longer.

    Args:
        read: Asks a cluster once; it may be cancelled.
        clock: Seconds that only grow.
        begin: Begins to ask.
    """

    def __init__(
        self,
        read: Read | None = None,
        clock: Callable[[], float] = time.monotonic,
        begin: Begin | None = None,
    ) -> None:
        self._read = read or _read_cluster
        self._clock = clock
        self._begin = begin or self._begin_thread
        self._cancelled = threading.Event()
        self._threads: list[threading.Thread] = []
        self._readings: dict[str, _Reading] = {}
        self._lock = threading.Lock()

    def known(self, address: str) -> ClusterAsked:
        """What is known of the cluster at an address; nobody is asked."""
        with self._lock:
            found = self._readings.get(address, _Reading())
            lasts_s = FRESH_S if found.error is None else _ASKED_AGAIN_S
            is_fresh = self._clock() - found.read_s < lasts_s
            return ClusterAsked(found.machine, found.error, is_fresh)

    def ask(self, address: str) -> None:
        """Ask it, unless it is being asked."""
        with self._lock:
            found = self._readings.setdefault(address, _Reading())
            if found.is_asked:
                return
            found.is_asked = True
        self._begin(lambda: self._take(address))

    def close(self) -> None:
        """Cancel what is being asked, and wait for its end."""
        self._cancelled.set()
        for thread in self._threads:
            thread.join()

    def _take(self, address: str) -> None:
        machine, error = None, None
        try:
            reading = self._read(address, self._cancelled)
            machine = Machine(devices_of(reading), sample_of(reading))
        except ProblemError as raised:
            error = raised
        finally:
            with self._lock:
                self._readings[address] = _Reading(machine, error, self._clock())

    def _begin_thread(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, name="ask-cluster", daemon=True)
        self._threads = [each for each in self._threads if each.is_alive()]
        self._threads.append(thread)
        thread.start()


def _read_cluster(address: str, cancelled: threading.Event) -> ClusterReading:
    from gpupanel.runs.cluster.reading import read_cluster

    return read_cluster(address, cancelled)
