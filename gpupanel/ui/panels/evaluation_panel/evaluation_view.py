"""What one evaluation found: its figures, and the views of them that there are."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from gpupanel.domain.events import EvaluationDone
from gpupanel.domain.shown_examples import ExampleChoice
from gpupanel.runs.following.status import RunStatus
from gpupanel.ui.panels.evaluation_panel.calibration_view import CalibrationView
from gpupanel.ui.panels.evaluation_panel.classes_view import ClassesView
from gpupanel.ui.panels.evaluation_panel.columns_view import ColumnResultsView
from gpupanel.ui.panels.evaluation_panel.threshold_view import ThresholdView
from gpupanel.ui.panels.evaluation_panel.totals import Totals
from gpupanel.ui.panels.evaluation_panel.value_pictures import ValuePictures
from gpupanel.ui.panels.evaluation_panel.views import View, Views
from gpupanel.ui.widgets.layouts import column_in

if TYPE_CHECKING:
    # NumPy, which it needs, takes longer to load than a window may.
    from gpupanel.runs.following.evaluation_figures import EvaluationFigures

_VALUES = "The labels are values, not classes: there is no confusion matrix."
_SEVERAL_LABELS = (
    "An example may have several labels at once: there is no confusion matrix. Accuracy is the "
    "fraction of all labels that was right."
)
_ARRAYS = (
    "The model gives arrays, or several outputs: there is no confusion matrix. Each example counts "
    "the same: its loss is the mean over its places."
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


class EvaluationView(QWidget):
    """Totals, and a confusion matrix with a table of classes, or what else the labels allow."""

    examplesRequested = Signal(str, object)
    """Examples are to be shown: a title, and the :class:`ExampleChoice`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: EvaluationDone | None = None
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
        column = column_in(self)
        column.addWidget(self._totals)
        column.addWidget(self._views, 1)
        column.addWidget(self._no_classes)
        column.addStretch(0)

    def forget(self) -> None:
        """What is shown was of another run."""
        self._shown = None

    def setEvaluation(
        self, status: RunStatus, found: EvaluationDone, figures: "EvaluationFigures | None"
    ) -> None:
        """Show what was found.

        Args:
            status: Where the run stands.
            found: Its figures over all examples.
            figures: What it left beside these.
        """
        self._totals.setStatus(status)
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
        has_mistakes = has_matrix or not (found.class_count or is_unread or found.of_arrays)
        self._mistakes.setVisible(has_mistakes)
        self._views.setVisible(bool(offered) or has_mistakes)
        self._mistakes.setToolTip(_OF_CLASSES if has_matrix else _OF_ERRORS)

    @Slot()
    def _show_mistakes(self) -> None:
        self.examplesRequested.emit("Worst mistakes", ExampleChoice(which="mistakes"))

    @Slot(int, int, str)
    def _show_cell(self, row: int, column: int, title: str) -> None:
        choice = ExampleChoice(which="cell", row=row, column=column)
        self.examplesRequested.emit(title, choice)

    def _make_classes(self) -> ClassesView:
        made = ClassesView()
        made.cellChosen.connect(self._show_cell)
        return made


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
    if found.of_arrays:
        return _ARRAYS
    if found.class_count:
        return _NOT_SAVED
    return _VALUES if found.metrics.accuracy is None else _SEVERAL_LABELS
