"""Writes curves into a file, off the GUI thread: a run of days has millions of values."""

from pathlib import Path
from threading import Event

from PySide6.QtCore import QObject, Signal, Slot
from typing_extensions import override

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.history.curve_table import WritingCancelledError, write_curve_table
from gpupanel.ui.workers.facade import WorkerFacade
from gpupanel.ui.workers.worker_thread import Worker, guarded_slot


class _TableWriter(Worker):
    written = Signal(object, int)

    def __init__(self, cancelled: Event) -> None:
        super().__init__()
        self._cancelled = cancelled

    @guarded_slot(object, object)
    def write(self, path: Path, layouts: tuple[RunLayout, ...]) -> None:
        try:
            rows = write_curve_table(path, layouts, self._cancelled.is_set)
        except OSError as error:
            raise ProblemError(disk_problem(error, path)) from error
        except WritingCancelledError:
            pass  # the window closes: nobody is there to be told
        else:
            self.written.emit(path, rows)


class CurveTableWriter(WorkerFacade):
    """Writes one table after the other; lives in the GUI thread."""

    written = Signal(object, int)
    """A table stands: its :class:`Path`, and how many rows it has."""
    failed = Signal(object)
    """It could not be written: the :class:`Problem`."""
    _asked = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        self._cancelled = Event()
        self._writer = _TableWriter(self._cancelled)
        super().__init__(self._writer, "curve table", parent)
        self._asked.connect(self._writer.write)
        self._writer.written.connect(self.written)

    def write(self, path: Path, layouts: tuple[RunLayout, ...]) -> None:
        """Write all curves of these runs; ``written`` or ``failed`` follows."""
        self._thread.start()
        self._asked.emit(path, layouts)

    @override
    def stop(self) -> None:
        """Write no more; a table that is not complete is removed."""
        self._cancelled.set()
        super().stop()

    @Slot(str, object)
    @override
    def _on_failed(self, slot: str, problems: tuple[Problem, ...]) -> None:
        self.failed.emit(problems[0])
