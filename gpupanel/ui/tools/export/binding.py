"""Exports runs as a person asks, in Live and in Runs."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Event

from PySide6.QtCore import QObject, QStandardPaths, Slot
from PySide6.QtWidgets import QWidget

from gpupanel.domain.problem import Problem
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.visible_text import visible_line
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.runs.tools.export.export_format import ExportFormat, ModelExportFormat
from gpupanel.ui.questions import Questions
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.run_page.page import LivePage
from gpupanel.ui.runs_page import RunsPage
from gpupanel.ui.tools.export.model_binding import ModelExportBinding
from gpupanel.ui.workers.facade import WorkerFacade
from gpupanel.ui.workers.workplace import workplace


class ExportBinding(QObject):
    """Asks where the file is wanted, and says what became of it where it was asked for.

    Args:
        control: Knows which run is shown.
        live: Shows it.
        runs: All runs.
        questions: Asks the person.
        parent: The window.
    """

    def __init__(
        self,
        control: RunControl,
        live: LivePage,
        runs: RunsPage,
        questions: Questions,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self.models = ModelExportBinding(parent)
        self._control, self._questions = control, questions
        self._live, self._runs = live, runs
        self._exporter = WorkerFacade("run exporter", self)
        self._folder = Path(
            QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
        )
        live.exports.chosen.connect(self._export_shown)
        live.exports.otherChosen.connect(self._export_other)
        runs.panel.exportRequested.connect(self._export_of)
        runs.panel.setExportable(True)
        self._exporter.refused.connect(self._on_refused)
        self.models.refused.connect(self._on_model_refused)

    def stop(self) -> None:
        """Write no more; a file that is not complete is removed."""
        self._exporter.drop()
        self._exporter.stop()
        self.models.stop()

    @Slot(object)
    def _export_shown(self, wanted: ExportFormat | ModelExportFormat) -> None:
        if self._control.shown is not None:
            self._export(self._control.shown, wanted)

    @Slot(object, str)
    def save_predictions(self, layout: RunLayout, name: str) -> None:
        """Ask where a copy of a run's file of predictions is wanted, and write it."""
        suffix = Path(name).suffix
        suggestion = self._folder / f"{layout.name}{suffix}"
        path = self._questions.place_to_export(
            "Save predictions", suggestion, f"Predictions (*{suffix})"
        )
        if path is not None:
            write = partial(workplace().exports.write_predictions, layout, name)
            self._write(path, write, "Predictions")

    def _export(self, layout: RunLayout, wanted: ExportFormat | ModelExportFormat) -> None:
        if isinstance(wanted, ModelExportFormat):
            self._export_model(layout, wanted)
            return
        kind = f"{wanted.title}s (*{wanted.suffix})"
        suggestion = self._folder / f"{layout.name}{wanted.suffix}"
        path = self._questions.place_to_export(f"Export {wanted.title.lower()}", suggestion, kind)
        if path is None:
            return
        self._write(path, partial(workplace().exports.write_run, layout, wanted), wanted.title)

    def _write(self, path: Path, write: Callable[[Path, Event], None], title: str) -> None:
        self._folder = path.parent
        self._say(f"Writing {visible_line(path.name)}…")
        self._exporter.submit(
            partial(write, path, self._exporter.dropped),
            lambda _: self._say(f"{title} saved to {visible_line(str(path))}"),
        )

    @Slot(object)
    def _export_other(self, wanted: ModelExportFormat) -> None:
        if self._control.shown is not None:
            self._export_model(self._control.shown, wanted, is_other=True)

    def _export_model(
        self, layout: RunLayout, wanted: ModelExportFormat, *, is_other: bool = False
    ) -> None:
        # Of a folder nothing behind a dot is taken for a suffix.
        name = layout.name if wanted.suffix else f"{layout.name.replace('.', '-')}-savedmodel"
        kind = f"Models (*{wanted.suffix})" if wanted.suffix else "Folders (*)"
        suggestion = self._folder / f"{name}{wanted.suffix}"
        path = self._questions.place_to_export(f"Export {wanted.title}", suggestion, kind)
        if path is not None:
            self._folder = path.parent
            self.models.begin(layout, wanted, path, is_other=is_other)

    @Slot(object, object)
    def _export_of(self, run: RunSummary, wanted: ExportFormat | ModelExportFormat) -> None:
        self._export(RunLayout(run.path), wanted)

    @Slot(object)
    def _on_refused(self, problems: tuple[Problem, ...]) -> None:
        self._say("")
        self._questions.show_problems("The file was not written.", problems)

    @Slot(object)
    def _on_model_refused(self, problems: tuple[Problem, ...]) -> None:
        self._questions.show_problems("The model was not exported.", problems)

    def _say(self, words: str) -> None:
        self._runs.panel.setNotice(words)
        self._live.banner.setNotice(words)
