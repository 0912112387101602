"""Writes runs into files for other programs and people, off the GUI thread."""

from functools import partial
from pathlib import Path
from threading import Event

from PySide6.QtCore import QObject, Signal
from typing_extensions import override

from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.tools.export.export_format import ExportFormat
from gpupanel.ui.workers.facade import WorkerFacade


class RunExporter(WorkerFacade):
    """Writes one file after the other; ``refused`` says why one could not be written."""

    written = Signal(object, object)
    """A file stands: its :class:`Path`, and what it is, an :class:`ExportFormat`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__("run exporter", parent)

    def export(self, layout: RunLayout, wanted: ExportFormat, path: Path) -> None:
        """Write a run as that; ``written`` or ``refused`` follows."""
        work = partial(_write, layout, wanted, path, self.dropped)
        self.submit(work, partial(self._on_written, path, wanted))

    @override
    def stop(self) -> None:
        """Write no more; a file that is not complete is removed."""
        self.drop()
        super().stop()

    def _on_written(self, path: Path, wanted: ExportFormat, _nothing: None) -> None:
        self.written.emit(path, wanted)


def _write(layout: RunLayout, wanted: ExportFormat, path: Path, dropped: Event) -> None:
    # Not at the top: a window that starts needs none of it, and NumPy comes with it.
    from gpupanel.runs.questions.data_preview import preview_data
    from gpupanel.runs.questions.detected_data import with_detected_data
    from gpupanel.runs.tools.export.exported_run import exported, write_exported

    preview = partial(preview_data, cancelled=dropped)
    content = exported(
        layout, wanted, dropped.is_set, lambda profile: with_detected_data(profile, preview)
    )
    if not dropped.is_set():
        write_exported(path, content)
