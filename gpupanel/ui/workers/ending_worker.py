"""Ends processes off the GUI thread: the host is asked who they are before."""

from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal, Slot

from gpupanel.domain.problem import ProblemError
from gpupanel.domain.telemetry import DeviceProcess
from gpupanel.ui.workers.worker_thread import Worker, WorkerThread


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
    refused = Signal(object)

    @Slot(object)
    def end(self, order: EndOrder) -> None:
        # Here and not above: it is the worker's thread that waits for the import.
        from gpupanel.devices.process_ending import end_process

        try:
            end_process(order.process, order.run_processes, by_force=order.by_force)
        except ProblemError as error:
            self.refused.emit(error.problems)
        else:
            self.asked.emit(order.process)


class ProcessEnder(QObject):
    """Ends processes; lives in the GUI thread before the thread that does it."""

    asked = Signal(object)
    """This :class:`DeviceProcess` was asked to end, or ended; the next sample shows it."""
    refused = Signal(object)
    """Problems because of which nothing was ended."""
    _ordered = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = _EndingWorker()
        self._thread = WorkerThread(self._worker, "process ender", self)
        self._ordered.connect(self._worker.end)
        self._worker.asked.connect(self.asked)
        self._worker.refused.connect(self.refused)
        self._thread.start()

    def end(self, order: EndOrder) -> None:
        """End a process; ``asked`` or ``refused`` follows."""
        self._ordered.emit(order)

    def stop(self) -> None:
        """Let the thread end after what is in hand."""
        self._thread.join()
