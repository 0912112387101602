"""Writes curves into a file, off the GUI thread: a run of days has millions of values."""

from pathlib import Path
from threading import Event

from PySide6.QtCore import QObject, Signal, Slot

from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.history.curve_table import WritingCancelledError, write_curve_table
from gpupanel.ui.workers.worker_thread import Worker, WorkerThread


class _TableWriter(Worker):
    written = Signal(object, int)
    failed = Signal(object)

    def __init__(self, cancelled: Event) -> None:
        super().__init__()
        self._cancelled = cancelled

    @Slot(object, object)
    def write(self, path: Path, layouts: tuple[RunLayout, ...]) -> None:
        try:
            rows = write_curve_table(path, layouts, self._cancelled.is_set)
        except OSError as error:
            self.failed.emit(disk_problem(error, path))
        except WritingCancelledError:
            pass  # the window closes: nobody is there to be told
        else:
            self.written.emit(path, rows)


class CurveTableWriter(QObject):
    """Writes one table after the other; lives in the GUI thread."""

    written = Signal(object, int)
    """A table stands: its :class:`Path`, and how many rows it has."""
    failed = Signal(object)
    """It could not be written: the :class:`Problem`."""
    _asked = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._cancelled = Event()
        self._writer = _TableWriter(self._cancelled)
        self._thread = WorkerThread(self._writer, "curve table", self)
        self._asked.connect(self._writer.write)
        self._writer.written.connect(self.written)
        self._writer.failed.connect(self.failed)

    def write(self, path: Path, layouts: tuple[RunLayout, ...]) -> None:
        """Write all curves of these runs; ``written`` or ``failed`` follows."""
        self._thread.start()
        self._asked.emit(path, layouts)

    def stop(self) -> None:
        """Write no more; a table that is not complete is removed."""
        self._cancelled.set()
        self._thread.join()
