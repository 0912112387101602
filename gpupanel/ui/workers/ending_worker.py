"""Ends processes off the GUI thread: the host is asked who they are before."""

from functools import partial

from PySide6.QtCore import QObject, Signal

from gpupanel.domain.telemetry import DeviceProcess
from gpupanel.ui.workers.facade import WorkerFacade
from gpupanel.ui.workers.workplace import workplace


class ProcessEnder(WorkerFacade):
    """Ends processes; ``refused`` says why nothing was ended."""

    asked = Signal(object)
    """This :class:`DeviceProcess` was asked to end, or ended; the next sample shows it."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__("process ender", parent)

    def end(self, process: DeviceProcess, run_processes: frozenset[int], *, by_force: bool) -> None:
        """End a process; ``asked`` or ``refused`` follows.

        Args:
            process: The process.
            run_processes: The pids of the run that goes on.
            by_force: It was asked before and did not end.
        """
        self.submit(partial(_end, process, run_processes, by_force), self.asked.emit)


def _end(process: DeviceProcess, run_processes: frozenset[int], by_force: bool) -> DeviceProcess:
    workplace().end_process(process, run_processes, by_force=by_force)
    return process
