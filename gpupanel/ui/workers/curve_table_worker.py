"""Writes curves into a file, off the GUI thread: a run of days has millions of values."""

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from threading import Event

from PySide6.QtCore import QObject, Signal
from typing_extensions import override

from gpupanel.domain.problem import ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.history.curve_table import write_curve_table
from gpupanel.ui.workers.facade import WorkerFacade
from gpupanel.ui.workers.workplace import workplace


class CurveTableWriter(WorkerFacade):
    """Writes one table after the other; ``refused`` says why one could not be written."""

    written = Signal(object, int)
    """A table stands: its :class:`Path`, and how many rows it has."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__("curve table", parent)

    def write(self, path: Path, layouts: tuple[RunLayout, ...]) -> None:
        """Write all curves of these runs; ``written`` or ``refused`` follows."""
        self.submit(partial(_write, path, layouts, self.dropped), partial(self.written.emit, path))

    @override
    def stop(self) -> None:
        """Write no more; a table that is not complete is removed."""
        self.drop()
        super().stop()


def _write(path: Path, layouts: tuple[RunLayout, ...], dropped: Event) -> int:
    """How many rows there are; nobody hears of writing that was cut short."""
    with ExitStack() as opened:
        for layout in layouts:
            opened.callback(workplace().open_copy(layout))
        try:
            return write_curve_table(path, layouts, dropped.is_set)
        except OSError as error:
            raise ProblemError(disk_problem(error, path)) from error
