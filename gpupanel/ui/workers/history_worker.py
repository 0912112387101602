"""Lists past runs, off the GUI thread: each of them is a directory to read."""

from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from gpupanel.runs.history.summaries import list_runs
from gpupanel.ui.workers.worker_thread import Worker, WorkerThread


class _HistoryReader(Worker):
    listed = Signal(object)

    def __init__(self, runs_dir: Path) -> None:
        super().__init__()
        self._runs_dir = runs_dir

    @Slot()
    def read(self) -> None:
        self.listed.emit(list_runs(self._runs_dir))


class RunHistory(QObject):
    """Knows the runs of a folder; lives in the GUI thread before the thread that reads it."""

    listed = Signal(object)
    """The runs, newest first: a tuple of :class:`RunSummary`."""
    _asked = Signal()

    def __init__(self, runs_dir: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._reader = _HistoryReader(runs_dir)
        self._thread = WorkerThread(self._reader, "run history", self)
        self._asked.connect(self._reader.read)
        self._reader.listed.connect(self.listed)
        self._thread.start()

    def refresh(self) -> None:
        """List the runs anew; ``listed`` follows."""
        self._asked.emit()

    def stop(self) -> None:
        """Let the thread end after what is in hand."""
        self._thread.join()
