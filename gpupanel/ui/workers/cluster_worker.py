"""Reads the nodes of a cluster beside the window's thread, by a process that stays connected."""

from collections.abc import Callable
from functools import partial
from typing import Protocol

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from typing_extensions import override

from gpupanel.domain.cluster import ClusterReading
from gpupanel.domain.problem import Problem
from gpupanel.ui.workers.facade import WorkerFacade
from gpupanel.ui.workers.worker_thread import Worker, guarded_slot
from gpupanel.ui.workers.workplace import check_is_here

_LOOK_MS = 200
"""How often it is seen whether the process has said something."""
_AGAIN_MS = 20_000
"""So long after a cluster could not be asked it is tried again: each time Ray is loaded."""


class ClusterSource(Protocol):
    """What is asked: :class:`gpupanel.runs.cluster.watching.ClusterWatcher`, or a stand-in."""

    def reading(self) -> ClusterReading | None:
        """The newest reading; ``None``: none came since the last call."""
        ...

    def close(self) -> None:
        """End the process."""
        ...


def cluster_at(address: str) -> ClusterSource:
    """The cluster at an address, read every few seconds.

    Raises:
        ProblemError: That is no address, or its process cannot be started.
    """
    check_is_here("A cluster")
    # Here and not above: most windows never need it.
    from gpupanel.runs.cluster.watching import ClusterWatcher

    return ClusterWatcher(address)


class _ClusterWorker(Worker):
    """Lives in the thread: has the process started there, hears it, ends it."""

    may_be_cut_short = True  # it only reads
    read = Signal(str, object)

    def __init__(self, make_source: Callable[[str], ClusterSource]) -> None:
        super().__init__()
        self._make_source = make_source
        self._address = ""
        self._source: ClusterSource | None = None
        self._timer: QTimer | None = None

    def watch(self, address: str) -> None:
        """Read that cluster from now on; empty: none."""
        self.close()
        self._address = address
        if not address:
            return
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._look)
        self._look()

    @Slot()
    @override
    def close(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self._leave_source()

    @guarded_slot()
    def _look(self) -> None:
        if self._timer is None:
            return
        pause_ms = _AGAIN_MS
        try:
            if self._source is None:
                self._source = self._make_source(self._address)
            reading = self._source.reading()
            pause_ms = _LOOK_MS
            if reading is not None:
                self.read.emit(self._address, reading)
        finally:
            if pause_ms == _AGAIN_MS:
                self._leave_source()
            self._timer.start(pause_ms)

    def _leave_source(self) -> None:
        source, self._source = self._source, None
        if source is not None:
            source.close()


class ClusterWatch(WorkerFacade):
    """The cluster of the session as the window knows it; never waits for it.

    ``refused`` says why it cannot be read; it is tried again after a while.

    Args:
        parent: Owns it.
        make_source: Called in the worker's thread with the address.
    """

    read = Signal(object)
    """A :class:`ClusterReading` of the cluster that is watched now."""

    def __init__(
        self,
        parent: QObject | None = None,
        *,
        make_source: Callable[[str], ClusterSource] = cluster_at,
    ) -> None:
        self._worker = _ClusterWorker(make_source)
        super().__init__("cluster", parent, self._worker)
        self._address = ""
        self._worker.read.connect(self._on_read)

    @property
    def address(self) -> str:
        """The address of the cluster that is watched; empty: none is."""
        return self._address

    def watch(self, address: str) -> None:
        """Read the cluster at that address from now on, also where it was tried before.

        Args:
            address: As a profile has it; empty: none is read.
        """
        if not address and not self._address:
            return
        self._address = address
        self.submit(partial(self._worker.watch, address))

    @Slot(object)
    @override
    def _on_failed(self, problems: tuple[Problem, ...]) -> None:
        # What was just being tried when none was wanted any more is nobody's matter.
        if self._address:
            super()._on_failed(problems)

    @Slot(str, object)
    def _on_read(self, address: str, reading: ClusterReading) -> None:
        if address == self._address:
            self.read.emit(reading)
