"""Keeps asking a cluster what is in it, by a process that stays connected."""

from types import TracebackType
from typing import Final, Self

from pydantic import ValidationError

from gpupanel.domain.cluster import ClusterReading
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.runs.cluster.cluster_problems import cluster_address_wrong
from gpupanel.runs.cluster.driver_process import DriverProcess
from gpupanel.runs.cluster.messages import ClusterSeen, Refused, WatchWanted

INTERVAL_S: Final = 2.0
"""Between two readings of all nodes: what a person sees change is asked of 64 machines."""


_PATIENCE_S: Final = 0.3
"""It reserves nothing: Ray ends what it started, too, where it has to be killed."""


class ClusterWatcher:
    """Starts the process; :meth:`reading` never waits.

    Args:
        address: ``auto``, or ``host:port`` of a head.
        interval_s: From one reading to the next.

    Raises:
        ProblemError: That is no address, or the process cannot be started.
    """

    def __init__(self, address: str, interval_s: float = INTERVAL_S) -> None:
        try:
            wanted = WatchWanted(address=address, interval_s=interval_s)
        except ValidationError as error:
            raise ProblemError(cluster_address_wrong(address)) from error
        try:
            self._driver = DriverProcess(None)
        except OSError as error:
            raise ProblemError(_not_started(str(error))) from error
        self._driver.order(wanted)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def reading(self) -> ClusterReading | None:
        """The newest that has come since the last call; ``None``: none has.

        Raises:
            ProblemError: There is no such cluster, it cannot be used, or it went away.
        """
        found = None
        while (word := self._driver.word()) is not None:
            if isinstance(word, Refused):
                raise ProblemError(word.problem)
            if isinstance(word, ClusterSeen):
                found = word.reading
        if found is None and not self._driver.is_there:
            raise ProblemError(_ended())
        return found

    def close(self) -> None:
        """End the process, and with it what it has started on the nodes."""
        self._driver.end(_PATIENCE_S)


def _not_started(detail: str) -> Problem:
    return Problem(
        code="cluster_not_started",
        field="cluster.address",
        message="The process that asks the cluster could not be started.",
        hint="Free some memory, and try again; the detail has the system's answer.",
        detail=detail,
    )


def _ended() -> Problem:
    return Problem(
        code="cluster_died",
        field="cluster.address",
        message="The process that asks the cluster ended.",
        hint="Ray ends its programs when the head of the cluster goes away: ray status shows "
        "whether it is there.",
    )
