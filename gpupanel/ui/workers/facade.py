"""What stands in the GUI thread before a worker."""

from PySide6.QtCore import QObject, Signal, Slot

from gpupanel.domain.problem import Problem
from gpupanel.ui.workers.worker_thread import Worker, WorkerThread


class WorkerFacade(QObject):
    """Lives in the GUI thread, and passes on what its worker does in a thread of its own.

    Args:
        worker: Moves into the thread.
        name: Of the thread.
        parent: Owns the facade.
    """

    refused = Signal(object)
    """Problems because of which something was not done: a tuple of :class:`Problem`."""

    def __init__(self, worker: Worker, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thread = WorkerThread(worker, name, self)
        worker.failed.connect(self._on_failed)

    def stop(self) -> None:
        """Let the thread end after what was ordered; what takes long ends beside."""
        self._thread.join()

    @Slot(str, object)
    def _on_failed(self, slot: str, problems: tuple[Problem, ...]) -> None:
        """A slot of the worker raised; facades that wait for an answer go on from here.

        Args:
            slot: Its name.
            problems: Why.
        """
        del slot
        self.refused.emit(problems)
