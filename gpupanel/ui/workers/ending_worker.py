"""Ends processes off the GUI thread: the host is asked who they are before."""

from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from gpupanel.domain.telemetry import DeviceProcess
from gpupanel.ui.workers.facade import WorkerFacade
from gpupanel.ui.workers.worker_thread import Worker, guarded_slot


@dataclass(frozen=True, slots=True)
class EndOrder:
    """A process that is to end.

    Attributes:
        run_processes: The pids of the run that goes on.
        by_force: It was asked before and did not end.
    """

    process: DeviceProcess
    run_processes: frozenset[int]
    by_force: bool


class _EndingWorker(Worker):
    asked = Signal(object)

    @guarded_slot(object)
    def end(self, order: EndOrder) -> None:
        # Here and not above: it is the worker's thread that waits for the import.
        from gpupanel.devices.process_ending import end_process

        end_process(order.process, order.run_processes, by_force=order.by_force)
        self.asked.emit(order.process)


class ProcessEnder(WorkerFacade):
    """Ends processes; ``refused`` tells why nothing was ended."""

    asked = Signal(object)
    """This :class:`DeviceProcess` was asked to end, or ended; the next sample shows it."""
    _ordered = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        self._worker = _EndingWorker()
        super().__init__(self._worker, "process ender", parent)
        self._ordered.connect(self._worker.end)
        self._worker.asked.connect(self.asked)
        self._thread.start()

    def end(self, order: EndOrder) -> None:
        """End a process; ``asked`` or ``refused`` follows."""
        self._ordered.emit(order)
