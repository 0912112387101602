"""Starts TensorBoard for runs, off the GUI thread."""

from threading import Event

from PySide6.QtCore import QObject, Signal
from typing_extensions import override

from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.tensorboard import TensorBoards
from gpupanel.ui.workers.facade import WorkerFacade
from gpupanel.ui.workers.worker_thread import Worker, guarded_slot
from gpupanel.ui.workers.workplace import check_is_here


class _Boards(Worker):
    """Has them as long as the thread lasts, however it comes to its end."""

    served = Signal(str)

    def __init__(self, boards: TensorBoards) -> None:
        super().__init__()
        self.boards = boards

    @guarded_slot(object, object)
    def serve(self, layout: RunLayout, dropped: Event) -> None:
        check_is_here("TensorBoard")
        address = "" if dropped.is_set() else self.boards.address_of(layout, dropped)
        if address:
            self.served.emit(address)

    @override
    def close(self) -> None:
        self.boards.close()


class TensorBoardOpener(WorkerFacade):
    """One for each run that is asked for; ``refused`` says why one could not be started.

    Args:
        boards: Starts them.
        parent: Owns the facade.
    """

    served = Signal(str)
    """A run is served at this address."""
    _asked = Signal(object, object)

    def __init__(self, boards: TensorBoards | None = None, parent: QObject | None = None) -> None:
        worker = _Boards(boards or TensorBoards())
        super().__init__("tensorboard", parent, worker)
        self._asked.connect(worker.serve)
        worker.served.connect(self.served)

    def open(self, layout: RunLayout) -> None:
        """Serve that run, if none does yet; ``served`` or ``refused`` follows."""
        if not (self._thread.is_ending or self._thread.isRunning()):
            self._thread.start()
        self._asked.emit(layout, self.dropped)

    @override
    def stop(self) -> None:
        """End all of them, and what is being started."""
        self.drop()
        super().stop()
