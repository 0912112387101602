"""Shows runs side by side when the page of runs asks for it."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.ui.questions import Questions
from gpupanel.ui.runs_page import RunsPage

if TYPE_CHECKING:
    from gpupanel.ui.bindings.comparison_binding import ComparisonBinding


class Comparison(QObject):
    """Makes the comparison when it is first asked for: NumPy comes with it, a tenth of a second.

    Args:
        page: Asks, and gives the place.
        questions: Asks where files are wanted, and shows why one could not be written.
    """

    def __init__(self, page: RunsPage, questions: Questions, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._page, self._questions = page, questions
        self._binding: ComparisonBinding | None = None
        page.panel.compareRequested.connect(self.compare)
        page.panel.setComparable(True)

    @Slot(object)
    def compare(self, runs: tuple[RunSummary, ...]) -> None:
        """Show these runs in the page's place."""
        if self._binding is None:
            from gpupanel.ui.bindings.comparison_binding import ComparisonBinding

            self._binding = ComparisonBinding(self._page, self._questions, self)
        baseline = self._page.panel.baseline()
        styles = self._page.panel.keep_styles(runs)
        has_baseline = baseline is not None and baseline in runs[:1]
        self._binding.compare(runs, styles, has_baseline=has_baseline)

    def stop(self) -> None:
        """Read and write no more."""
        if self._binding is not None:
            self._binding.stop()
