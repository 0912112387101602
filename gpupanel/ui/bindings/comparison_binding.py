"""Binds the comparison's panel to those who read and write for it."""

from functools import partial

from PySide6.QtCore import QObject, Slot

from gpupanel.domain.problem import Problem
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.ui.bindings.curve_files import CurveFiles
from gpupanel.ui.panels.comparison_panel import ComparisonPanel
from gpupanel.ui.plots.picture import PictureFormat
from gpupanel.ui.questions import Questions
from gpupanel.ui.runs_page import RunsPage
from gpupanel.ui.workers.comparison_worker import RunComparison


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
        self._files = CurveFiles(questions, self)
        self.panel = ComparisonPanel()
        page.setComparison(self.panel, self.panel.head)
        self.panel.settingsRequested.connect(page.panel.settingsRequested)
        page.comparisonLeft.connect(self._reader.rest)
        self._reader.runRead.connect(self.panel.setRun)
        self._reader.differencesFound.connect(self.panel.setDifferences)
        self.panel.exports.tableRequested.connect(self._save_table)
        self.panel.exports.pictures.chosen.connect(self._save_picture)
        self._files.reported.connect(self.panel.setFileNote)
        self._files.tableBusy.connect(self.panel.setTableBusy)
        self._reader.refused.connect(self._show_refusal)

    def compare(
        self,
        runs: tuple[RunSummary, ...],
        styles: tuple[int, ...] | None = None,
        *,
        has_baseline: bool = False,
    ) -> None:
        """Show these runs instead of those before.

        Args:
            runs: Which.
            styles: Numbers of their colours and kinds of line; left out: by their places.
            has_baseline: The first one is what the others are compared with.
        """
        self.panel.setSummaries(runs, styles, has_baseline=has_baseline)
        self._reader.begin(runs)
        self._page.show_comparison()

    def stop(self) -> None:
        """Read and write no more."""
        self._reader.stop()
        self._files.stop()

    @Slot()
    def _save_table(self) -> None:
        self._files.save_table(tuple(RunLayout(run.summary.path) for run in self.panel.runs))

    @Slot(object)
    def _show_refusal(self, problems: tuple[Problem, ...]) -> None:
        self._questions.show_problems("The runs could not be compared.", problems)

    @Slot(object, bool)
    def _save_picture(self, wanted: PictureFormat, is_on_white: bool) -> None:
        self._files.save_picture(wanted, partial(self.panel.picture, is_on_white=is_on_white))
