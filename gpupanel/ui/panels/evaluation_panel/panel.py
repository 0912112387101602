"""What the tasks ``evaluate`` and ``predict`` found, where training shows its curves."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QLabel, QPushButton, QStackedLayout, QWidget

from gpupanel.domain.events import EvaluationDone
from gpupanel.domain.problem import Severity
from gpupanel.domain.shown_examples import ExampleChoice, ShownExamples
from gpupanel.runs.following.status import RunStatus
from gpupanel.ui import formatting
from gpupanel.ui.panels.evaluation_panel.calibration_view import CalibrationView
from gpupanel.ui.panels.evaluation_panel.classes_view import ClassesView
from gpupanel.ui.panels.evaluation_panel.columns_view import ColumnResultsView
from gpupanel.ui.panels.evaluation_panel.predictions_view import PredictionsView
from gpupanel.ui.panels.evaluation_panel.threshold_view import ThresholdView
from gpupanel.ui.panels.evaluation_panel.totals import Totals
from gpupanel.ui.panels.evaluation_panel.value_pictures import ValuePictures
from gpupanel.ui.panels.evaluation_panel.views import View, Views
from gpupanel.ui.widgets.labels import EmptyState
from gpupanel.ui.widgets.layouts import column_in

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

if TYPE_CHECKING:
    # NumPy, which it needs, takes longer to load than a window may.
    from gpupanel.runs.following.evaluation_figures import EvaluationFigures
_VALUES = "The labels are values, not classes: there is no confusion matrix."
_SEVERAL_LABELS = (
    "An example may have several labels at once: there is no confusion matrix. Accuracy is the "
    "fraction of all labels that was right."
)
_OF_CLASSES = "The examples to whose label the model gave the least probability, as images"
_OF_ERRORS = "The examples with the largest error, as images"
_NOT_SAVED = "The confusion matrix could not be saved."
_MATRIX_TIP = "Which classes were taken for which, and precision, recall and F1 of each."
_LABELS_TIP = "Precision, recall and F1 of each label."
_VALUES_TIP = "A point for each predicted over its true value, and how often by how much it is off."
_THRESHOLD_TIP = (
    "What becomes of precision and recall where an example is taken for a class from another "
    "probability on."
)
_CALIBRATION_TIP = "Whether the model is as often right as it is confident."

_COLUMNS_TIP = "How good the model is for each value of a column of the data."


class EvaluationPanel(QWidget):
    """Totals, a confusion matrix and a table of classes; or where the predictions are."""

    examplesRequested = Signal(str, object)
    """Examples are to be shown: a title, and the :class:`ExampleChoice`."""
    predictionsRequested = Signal(object)
    """The first predictions are to be shown: the :class:`ExampleChoice`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("evaluation_panel")
        self._task = "evaluate"
        self._shown: EvaluationDone | None = None
        self._empty = EmptyState(*_EVALUATING)
        self._totals = Totals()
        self._mistakes = QPushButton("&Worst mistakes…")
        self._mistakes.setObjectName("worst_mistakes")
        self._mistakes.setToolTip(_OF_CLASSES)
        self._mistakes.clicked.connect(self._show_mistakes)
        self._views = Views(
            (
                View("show_matrix", "Confusion matrix", _MATRIX_TIP, self._make_classes),
                View("show_labels", "Labels", _LABELS_TIP, self._make_classes),
                View("show_values", "Predicted over true", _VALUES_TIP, ValuePictures),
                View("show_thresholds", "Threshold", _THRESHOLD_TIP, ThresholdView),
                View("show_calibration", "Calibration", _CALIBRATION_TIP, CalibrationView),
                View("show_columns", "By column", _COLUMNS_TIP, ColumnResultsView),
            ),
            beside=self._mistakes,
        )
        self._no_classes = QLabel(_VALUES)
        self._no_classes.setObjectName("evaluation_no_classes")
        self._no_classes.setWordWrap(True)
        self._no_classes.setTextFormat(Qt.TextFormat.PlainText)
        self._no_classes.setProperty("tone", "muted")
        self._assumed = QLabel()
        self._assumed.setObjectName("evaluation_assumed")
        self._assumed.setWordWrap(True)
        self._assumed.setTextFormat(Qt.TextFormat.PlainText)
        self.predictions = PredictionsView()
        """Where the predictions are, and some of them."""
        self._shown_path: Path | None = None
        self._stack = QStackedLayout()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._evaluation_page())
        self._stack.addWidget(self.predictions)
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
        self._shown = self._shown_path = None
        self.predictions.forget()
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
            path = folder / status.predictions
            self.predictions.setPredictions(path, status.examples, status.examples_per_second)
            self._stack.setCurrentWidget(self.predictions)
            if path != self._shown_path:
                self._shown_path = path
                self.predictionsRequested.emit(ExampleChoice(which="predictions"))
        elif status.has_ended:
            self._empty.setTexts(*_NOTHING_FOUND)
        elif status.examples_total is not None:
            title, sentence = _WAITING[self._task]
            done = formatting.count(status.examples)
            total = formatting.count(status.examples_total)
            self._empty.setTexts(f"{title}: {done} of {total}", sentence)

    def setReadingPredictions(self, choice: ExampleChoice) -> None:
        """Show that predictions are being read."""
        self.predictions.table.setReading(choice)

    def setPredictedExamples(self, choice: ExampleChoice, found: ShownExamples) -> None:
        """Show predictions with their examples."""
        self.predictions.table.setExamples(choice, found)

    @Slot()
    def _show_mistakes(self) -> None:
        self.examplesRequested.emit("Worst mistakes", ExampleChoice(which="mistakes"))

    @Slot(int, int, str)
    def _show_cell(self, row: int, column: int, title: str) -> None:
        choice = ExampleChoice(which="cell", row=row, column=column)
        self.examplesRequested.emit(title, choice)

    def _show_assumed(self, status: RunStatus) -> None:
        hints = [each.message for each in status.problems if each.severity is Severity.HINT]
        self._assumed.setText("\n".join(hints))
        self._assumed.setVisible(bool(hints))

    def _evaluation_page(self) -> QWidget:
        page = QWidget()
        column = column_in(page)
        column.addWidget(self._totals)
        column.addWidget(self._views, 1)
        column.addWidget(self._no_classes)
        column.addStretch(0)
        return page

    def _make_classes(self) -> ClassesView:
        made = ClassesView()
        made.cellChosen.connect(self._show_cell)
        return made

    def _show_evaluation(
        self, status: RunStatus, found: EvaluationDone, figures: "EvaluationFigures | None"
    ) -> None:
        self._totals.setStatus(status)
        self._stack.setCurrentIndex(1)
        if found is self._shown:
            return
        self._shown = found
        offered = _offered(figures)
        if figures is not None:
            self._views.setFigures(figures, offered)
        self._no_classes.setText(_no_classes_words(found, figures))
        self._no_classes.setVisible(not {"show_matrix", "show_values"} & offered)
        # Where the file cannot be read, nothing of it can be shown.
        has_matrix, is_unread = "show_matrix" in offered, bool(figures and figures.problems)
        has_mistakes = has_matrix or not (found.class_count or is_unread)
        self._mistakes.setVisible(has_mistakes)
        self._views.setVisible(bool(offered) or has_mistakes)
        self._mistakes.setToolTip(_OF_CLASSES if has_matrix else _OF_ERRORS)


def _offered(figures: "EvaluationFigures | None") -> set[str]:
    """The names of the views that an evaluation has."""
    if figures is None:
        return set()
    columns = set() if figures.slices is None else {"show_columns"}
    if figures.matrix is not None:
        return {"show_matrix", "show_thresholds", "show_calibration", *columns}
    if figures.labels is not None:
        return {"show_labels", "show_thresholds", *columns}
    return columns if figures.values is None else {"show_values", *columns}


def _no_classes_words(found: EvaluationDone, figures: "EvaluationFigures | None") -> str:
    """Why no confusion matrix is shown."""
    if figures is not None and figures.problems:
        return figures.unread_words
    if found.class_count:
        return _NOT_SAVED
    return _VALUES if found.metrics.accuracy is None else _SEVERAL_LABELS
