"""Curves as files: asked for, written, and what became of it."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QStandardPaths, Signal, Slot

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.whole_files import whole_file
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.run_folder import check_outside_of_runs
from gpupanel.ui import formatting
from gpupanel.ui.plots.picture import PictureFormat
from gpupanel.ui.questions import Questions
from gpupanel.ui.workers.curve_table_worker import CurveTableWriter

_NOT_SAVED = "The file was not saved."


class CurveFiles(QObject):
    """Writes tables beside the window's thread, and pictures in it, where they are painted.

    Args:
        questions: Asks where files are wanted, and shows why one could not be written.
    """

    reported = Signal(str)
    """What is being written, or became of it, in words."""
    tableBusy = Signal(bool)
    """Whether a table is being written: one at a time."""

    def __init__(self, questions: Questions, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._questions = questions
        self._writer = CurveTableWriter(self)
        self._folder = Path(
            QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
        )
        self._writer.written.connect(self._on_table_written)
        self._writer.refused.connect(self._on_table_refused)

    def stop(self) -> None:
        """Write no more."""
        self._writer.stop()

    def save_table(self, layouts: tuple[RunLayout, ...]) -> None:
        """Write all values of these runs."""
        path = self._place("Export CSV", "curves.csv", "Tables (*.csv)")
        if path is None:
            return
        self.tableBusy.emit(True)
        self.reported.emit(f"Writing {path.name}…")
        self._writer.write(path, layouts)

    def save_picture(self, wanted: PictureFormat, paint: Callable[[PictureFormat], bytes]) -> None:
        """Write what is painted, all or nothing."""
        path = self._place("Save the picture", f"curves.{wanted.value}", wanted.filter)
        if path is None:
            return
        try:
            with whole_file(path) as file:
                file.write(paint(wanted))
        except OSError as error:
            self._questions.show_problems(_NOT_SAVED, (disk_problem(error, path),))
        else:
            self.reported.emit(f"Picture saved to {path}")

    @Slot(object, int)
    def _on_table_written(self, path: Path, rows: int) -> None:
        self.tableBusy.emit(False)
        self.reported.emit(f"{formatting.count(rows)} values saved to {path}")

    @Slot(object)
    def _on_table_refused(self, problems: tuple[Problem, ...]) -> None:
        self.tableBusy.emit(False)
        self.reported.emit("")
        self._questions.show_problems(_NOT_SAVED, problems)

    def _place(self, title: str, name: str, kind: str) -> Path | None:
        path = self._questions.place_to_export(title, self._folder / name, kind)
        if path is None:
            return None
        try:
            check_outside_of_runs(path)
        except ProblemError as error:
            self._questions.show_problems(_NOT_SAVED, error.problems)
            return None
        self._folder = path.parent
        return path
