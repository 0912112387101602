"""What the tasks ``evaluate`` and ``predict`` found, where training shows its curves."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QStackedLayout, QWidget

from gpupanel.domain.events import EvaluationDone
from gpupanel.domain.problem import Severity
from gpupanel.domain.shown_examples import ExampleChoice, ShownExamples
from gpupanel.runs.following.status import RunStatus
from gpupanel.ui import formatting
from gpupanel.ui.panels.evaluation_panel.evaluation_view import EvaluationView
from gpupanel.ui.panels.evaluation_panel.predictions_view import PredictionsView
from gpupanel.ui.widgets.labels import EmptyState
from gpupanel.ui.widgets.layouts import column_in

if TYPE_CHECKING:
    # NumPy, which it needs, takes longer to load than a window may.
    from gpupanel.runs.following.evaluation_figures import EvaluationFigures

_EVALUATING = (
    "The model is being evaluated",
    "Accuracy, a confusion matrix and the metrics of each class appear here at the end.",
)
_PREDICTING = (
    "The predictions are being made",
    "The file appears here once all predictions are written.",
)
_WAITING = {"evaluate": _EVALUATING, "predict": _PREDICTING}
_NOTHING_FOUND = (
    "Nothing was written",
    "The run ended before all examples were done. Incomplete predictions are not kept.",
)


class EvaluationPanel(QWidget):
    """Waits for what a run finds, and shows it: an evaluation, or where the predictions are.

    Either is made with the first result: most windows see none, and they are many widgets.
    """

    examplesRequested = Signal(str, object)
    """Examples are to be shown: a title, and the :class:`ExampleChoice`."""
    predictionsRequested = Signal(object)
    """Predictions are to be shown: the :class:`ExampleChoice`."""
    folderRequested = Signal()
    """The folder that holds the file of predictions is to be opened."""
    saveRequested = Signal(str)
    """A copy of the file of predictions of that name is wanted."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("evaluation_panel")
        self._task = "evaluate"
        self._evaluation: EvaluationView | None = None
        self._predictions: PredictionsView | None = None
        self._shown_path: Path | None = None
        self._empty = EmptyState(*_EVALUATING)
        self._assumed = QLabel()
        self._assumed.setObjectName("evaluation_assumed")
        self._assumed.setWordWrap(True)
        self._assumed.setTextFormat(Qt.TextFormat.PlainText)
        self._stack = QStackedLayout()
        self._stack.addWidget(self._empty)
        column = column_in(self)
        column.addWidget(self._assumed)
        column.addLayout(self._stack, 1)
        self._assumed.hide()

    def begin(self, task: str) -> None:
        """Show that a run of this task was begun.

        Args:
            task: ``evaluate`` or ``predict``.
        """
        self._task = task
        self._shown_path = None
        for made in (self._evaluation, self._predictions):
            if made is not None:
                made.forget()
        self._empty.setTexts(*_WAITING[task])
        self._assumed.hide()
        self._stack.setCurrentWidget(self._empty)

    def setStatus(
        self,
        status: RunStatus,
        folder: Path,
        figures: "EvaluationFigures | None" = None,
    ) -> None:
        """Show what the run found, once it did.

        Args:
            status: Where the run stands.
            folder: The run's directory.
            figures: What an evaluation left beside its metrics.
        """
        self._show_assumed(status)
        if status.evaluation is not None:
            self._show_evaluation(status, status.evaluation, figures)
        elif status.predictions is not None:
            self._show_predictions(status, folder / status.predictions)
        elif status.has_ended:
            self._empty.setTexts(*_NOTHING_FOUND)
        elif status.examples_total is not None:
            title, sentence = _WAITING[self._task]
            done = formatting.count(status.examples)
            total = formatting.count(status.examples_total)
            self._empty.setTexts(f"{title}: {done} of {total}", sentence)

    def setReadingPredictions(self, choice: ExampleChoice) -> None:
        """Show that predictions are being read."""
        if self._predictions is not None:
            self._predictions.table.setReading(choice)

    def setPredictedExamples(self, choice: ExampleChoice, found: ShownExamples) -> None:
        """Show predictions with their examples."""
        if self._predictions is not None:
            self._predictions.table.setExamples(choice, found)

    def _show_assumed(self, status: RunStatus) -> None:
        hints = [each.message for each in status.problems if each.severity is Severity.HINT]
        self._assumed.setText("\n".join(hints))
        self._assumed.setVisible(bool(hints))

    def _show_evaluation(
        self, status: RunStatus, found: EvaluationDone, figures: "EvaluationFigures | None"
    ) -> None:
        if self._evaluation is None:
            self._evaluation = EvaluationView()
            self._evaluation.examplesRequested.connect(self.examplesRequested)
            self._stack.addWidget(self._evaluation)
        self._evaluation.setEvaluation(status, found, figures)
        self._stack.setCurrentWidget(self._evaluation)

    def _show_predictions(self, status: RunStatus, path: Path) -> None:
        if self._predictions is None:
            self._predictions = PredictionsView()
            self._predictions.folderRequested.connect(self.folderRequested)
            self._predictions.saveRequested.connect(self.saveRequested)
            self._predictions.table.choiceRequested.connect(self.predictionsRequested)
            self._stack.addWidget(self._predictions)
        self._predictions.setPredictions(path, status.examples, status.examples_per_second)
        self._stack.setCurrentWidget(self._predictions)
        if path != self._shown_path:
            self._shown_path = path
            self.predictionsRequested.emit(ExampleChoice(which="predictions"))
