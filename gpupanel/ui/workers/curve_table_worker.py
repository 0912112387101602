"""Writes curves into a file, off the GUI thread: a run of days has millions of values."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from typing_extensions import override

from gpupanel.domain.run_layout import RunLayout
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
        write = partial(workplace().exports.write_curve_table, path, layouts, self.dropped)
        self.submit(write, partial(self.written.emit, path))

    @override
    def stop(self) -> None:
        """Write no more; a table that is not complete is removed."""
        self.drop()
        super().stop()
