"""Keeps asking a cluster what is in it, by a process that stays connected."""

import time
from types import TracebackType
from typing import Final, Self

from pydantic import ValidationError

from gpupanel.domain.cluster import ClusterReading
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.runs.cluster.cluster_problems import cluster_address_wrong
from gpupanel.runs.cluster.driver_process import DriverProcess
from gpupanel.runs.cluster.messages import ClusterSeen, Refused, WatchDevices

INTERVAL_S: Final = 2.0
"""Between two readings of all nodes: what a person sees change is asked of 64 machines."""


_FIRST_S: Final = 45.0
"""More than all that is waited for within: Ray's import and its connection."""
_SILENT_S: Final = 15.0
"""A head that hangs accepts connections, and Ray's library waits for it for a minute."""
_PATIENCE_S: Final = 0.3
"""It reserves nothing: Ray ends what it started, too, where it has to be killed."""


class ClusterWatcher:
    """Starts the process; :meth:`reading` never waits.

    Args:
        address: ``auto``, or ``host:port`` of a head.
        interval_s: From one reading to the next.
        first_s: How long the first reading may take.
        silent_s: How long any other may.

    Raises:
        ProblemError: That is no address, or the process cannot be started.
    """

    def __init__(
        self,
        address: str,
        interval_s: float = INTERVAL_S,
        first_s: float = _FIRST_S,
        silent_s: float = _SILENT_S,
    ) -> None:
        try:
            command = WatchDevices(address=address, interval_s=interval_s)
        except ValidationError as error:
            raise ProblemError(cluster_address_wrong(address)) from error
        try:
            self._driver = DriverProcess(None)
        except OSError as error:
            raise ProblemError(_not_started(str(error))) from error
        self._silent_s = silent_s
        self._until_s = time.monotonic() + first_s
        self._driver.send(command)

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
        while (message := self._driver.next_message()) is not None:
            if isinstance(message, Refused):
                raise ProblemError(message.problem)
            if isinstance(message, ClusterSeen):
                found = message.reading
        now_s = time.monotonic()
        if found is not None:
            self._until_s = now_s + self._silent_s
        elif not self._driver.is_there:
            raise ProblemError(_ended())
        elif now_s > self._until_s:
            raise ProblemError(_silent())
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


def _silent() -> Problem:
    return Problem(
        code="cluster_too_slow",
        field="cluster.address",
        message="The cluster no longer answers.",
        hint="ray status shows whether the cluster is well.",
    )


def _ended() -> Problem:
    return Problem(
        code="cluster_died",
        field="cluster.address",
        message="The process that asks the cluster ended.",
        hint="Ray ends its programs when the head of the cluster goes away: ray status shows "
        "whether it is there.",
    )
