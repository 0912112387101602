"""Binds the comparison's panel to those who read and write for it."""

from pathlib import Path

from PySide6.QtCore import QObject, QStandardPaths, Slot

from gpupanel.domain.problem import Problem
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.ui import formatting
from gpupanel.ui.panels.comparison_panel import ComparisonPanel
from gpupanel.ui.panels.comparison_panel.picture import write_picture
from gpupanel.ui.questions import Questions
from gpupanel.ui.runs_page import RunsPage
from gpupanel.ui.workers.comparison_worker import RunComparison
from gpupanel.ui.workers.curve_table_worker import CurveTableWriter

_NOT_SAVED = "The file was not saved."


class ComparisonBinding(QObject):
    """Lives as long as the window, from the first comparison on.

    Args:
        page: Whose place the comparison takes.
        questions: Asks where files are wanted, and shows why one could not be written.
    """

    def __init__(self, page: RunsPage, questions: Questions, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._page, self._questions = page, questions
        self._reader = RunComparison(self)
        self._writer = CurveTableWriter(self)
        self._folder = Path(
            QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
        )
        self.panel = ComparisonPanel()
        page.setComparison(self.panel, self.panel.head)
        page.comparisonLeft.connect(self._reader.rest)
        self._reader.runRead.connect(self.panel.setRun)
        self._reader.differencesFound.connect(self.panel.setDifferences)
        self.panel.tableRequested.connect(self._save_table)
        self.panel.pictureRequested.connect(self._save_picture)
        self._writer.written.connect(self._on_table_written)
        self._writer.refused.connect(self._on_table_refused)
        self._reader.refused.connect(self._show_refusal)

    def compare(self, runs: tuple[RunSummary, ...], *, has_baseline: bool = False) -> None:
        """Show these runs instead of those before.

        Args:
            runs: Which.
            has_baseline: The first one is what the others are compared with.
        """
        self.panel.setSummaries(runs, has_baseline=has_baseline)
        self._reader.begin(runs)
        self._page.show_comparison()

    def stop(self) -> None:
        """Read and write no more."""
        self._reader.stop()
        self._writer.stop()

    @Slot()
    def _save_table(self) -> None:
        path = self._place("Export CSV", "curves.csv", "Tables (*.csv)")
        if path is None:
            return
        self.panel.setTableBusy(True)
        self.panel.setWord(f"Writing {path.name}…")
        layouts = tuple(RunLayout(run.summary.path) for run in self.panel.runs)
        self._writer.write(path, layouts)

    @Slot(object, int)
    def _on_table_written(self, path: Path, rows: int) -> None:
        self.panel.setTableBusy(False)
        self.panel.setWord(f"{formatting.count(rows)} values saved to {path}")

    @Slot(object)
    def _on_table_refused(self, problems: tuple[Problem, ...]) -> None:
        self.panel.setTableBusy(False)
        self.panel.setWord("")
        self._questions.show_problems(_NOT_SAVED, problems)

    @Slot(object)
    def _show_refusal(self, problems: tuple[Problem, ...]) -> None:
        self._questions.show_problems("The runs could not be compared.", problems)

    @Slot(bool)
    def _save_picture(self, is_on_white: bool) -> None:
        path = self._place("Save the picture", "curves.png", "Pictures (*.png)")
        if path is None:
            return
        try:
            write_picture(self.panel.picture(is_on_white=is_on_white), path)
        except OSError as error:
            self._questions.show_problems(_NOT_SAVED, (disk_problem(error, path),))
        else:
            self.panel.setWord(f"Picture saved to {path}")

    def _place(self, title: str, name: str, kind: str) -> Path | None:
        path = self._questions.place_to_export(title, self._folder / name, kind)
        if path is not None:
            self._folder = path.parent
        return path
