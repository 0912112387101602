"""What the tasks ``evaluate`` and ``predict`` found, where training shows its curves."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from gpupanel.domain.confusion import LabelMetrics
from gpupanel.domain.events import EvaluationDone
from gpupanel.domain.metric import Metric
from gpupanel.domain.outcome import FURTHER_METRICS, SET_METRICS
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.problem_text import problem_sentences
from gpupanel.domain.shown_examples import ExampleChoice, ShownExamples
from gpupanel.runs.following.evaluated_text import evaluated_text
from gpupanel.runs.following.status import RunStatus
from gpupanel.ui import formatting
from gpupanel.ui.panels.evaluation_panel.class_table import ClassTable
from gpupanel.ui.panels.evaluation_panel.confusion_map import ConfusionMap
from gpupanel.ui.panels.evaluation_panel.predictions_view import PredictionsView
from gpupanel.ui.panels.evaluation_panel.value_pictures import ValuePictures
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import EmptyState
from gpupanel.ui.widgets.layouts import column_in
from gpupanel.ui.widgets.tips import wrapped

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
    from typing_extensions import TypeIs

    from gpupanel.runs.following.confusion_matrix import ConfusionMatrix
    from gpupanel.runs.following.value_pairs import ValueFigures
_VALUES = "The labels are values, not classes: there is no confusion matrix."
_SEVERAL_LABELS = (
    "An example may have several labels at once: there is no confusion matrix. Accuracy is the "
    "fraction of all labels that was right."
)
_OF_CLASSES = "The examples to whose label the model gave the least probability, as images"
_OF_ERRORS = "The examples with the largest error, as images"
_NOT_SAVED = "The confusion matrix could not be saved."


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
        self._map = ConfusionMap()
        self._table = ClassTable()
        self._values = ValuePictures()
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
        self._mistakes = QPushButton("&Worst mistakes…")
        self._mistakes.setObjectName("worst_mistakes")
        self._mistakes.setToolTip(_OF_CLASSES)
        self._mistakes.clicked.connect(self._show_mistakes)
        self._map.cellChosen.connect(self._show_cell)
        self._table.classChosen.connect(self._map.choose)
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
        confusion: "ConfusionMatrix | LabelMetrics | ValueFigures | Problem | None" = None,
    ) -> None:
        """Show what the run found, once it did.

        Args:
            status: Where the run stands.
            folder: The run's directory.
            confusion: What an evaluation confused, or how far its values are off; the problem where
                it cannot be read, ``None`` where there is neither.
        """
        self._show_assumed(status)
        if status.evaluation is not None:
            self._show_evaluation(status, status.evaluation, confusion)
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

    @Slot(int, int)
    def _show_cell(self, row: int, column: int) -> None:
        true, taken = (self._map.name_of(number) for number in (row, column))
        title = f"{true}, predicted correctly" if row == column else f"{true}, predicted as {taken}"
        choice = ExampleChoice(which="cell", row=row, column=column)
        self.examplesRequested.emit(title, choice)

    def _show_assumed(self, status: RunStatus) -> None:
        hints = [each.message for each in status.problems if each.severity is Severity.HINT]
        self._assumed.setText("\n".join(hints))
        self._assumed.setVisible(bool(hints))

    def _evaluation_page(self) -> QWidget:
        scroll = QScrollArea()
        scroll.setAccessibleName("Findings")
        scroll.setWidgetResizable(True)
        scroll.setWidget(self._map)
        self._map.setProperty("page", "true")
        card = self._map_card = QFrame()
        card.setProperty("card", "true")
        inside = QVBoxLayout(card)
        inside.setContentsMargins(2 * GRID, GRID, GRID, GRID)
        inside.addWidget(scroll)
        self._classes = QWidget()
        row = QHBoxLayout(self._classes)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID)
        row.addWidget(card, 1)
        row.addWidget(self._table)
        page = QWidget()
        column = column_in(page)
        totals = QHBoxLayout()
        totals.setSpacing(GRID)
        totals.addWidget(self._totals, 1)
        totals.addWidget(self._mistakes)
        column.addLayout(totals)
        column.addWidget(self._classes, 1)
        column.addWidget(self._values, 1)
        column.addWidget(self._no_classes)
        column.addStretch(0)
        return page

    def _show_evaluation(
        self,
        status: RunStatus,
        found: EvaluationDone,
        confusion: "ConfusionMatrix | LabelMetrics | ValueFigures | Problem | None",
    ) -> None:
        self._totals.setStatus(status)
        self._stack.setCurrentIndex(1)
        if found is self._shown:
            return
        self._shown = found
        has_matrix = has_figures = has_values = False
        if confusion is None or isinstance(confusion, Problem):
            self._no_classes.setText(_no_classes_words(found, confusion))
        elif isinstance(confusion, LabelMetrics):
            has_figures = True
            self._no_classes.setText(_SEVERAL_LABELS)
            self._table.setMetrics(confusion, of_labels=True)
        elif _are_values(confusion):
            has_values = True
            self._values.setFigures(confusion)
        else:
            has_matrix = has_figures = True
            self._map.setMatrix(confusion)
            self._table.setMetrics(confusion)
        self._map_card.setVisible(has_matrix)
        self._classes.setVisible(has_figures)
        self._values.setVisible(has_values)
        self._no_classes.setVisible(not has_matrix and not has_values)
        # Where the file cannot be read, nothing of it can be shown.
        is_kept = has_matrix or not (found.class_count or isinstance(confusion, Problem))
        self._mistakes.setVisible(is_kept)
        self._mistakes.setToolTip(_OF_CLASSES if has_matrix else _OF_ERRORS)


def _are_values(found: "ConfusionMatrix | ValueFigures") -> "TypeIs[ValueFigures]":
    # Not at the top: whoever has read either has loaded NumPy already.
    from gpupanel.runs.following.value_pairs import ValueFigures

    return isinstance(found, ValueFigures)


def _no_classes_words(found: EvaluationDone, confusion: Problem | None) -> str:
    """Why no confusion matrix is shown."""
    if confusion is not None:
        return problem_sentences(confusion)
    if found.class_count:
        return _NOT_SAVED
    return _VALUES if found.metrics.accuracy is None else _SEVERAL_LABELS


_ERROR = SET_METRICS["mean_absolute_error"]
_OFF_BY = "Off by, on average"
"""What a mean absolute error is, in the unit of the values; a mean squared one says little."""
_TIPS = {
    SET_METRICS["accuracy"].title: SET_METRICS["accuracy"].tip,
    _OFF_BY: _ERROR.tip,
    "Loss": "Mean cross-entropy in nats, or mean squared error of values; lower is better.",
    **{
        metric.title: metric.tip
        for metric in FURTHER_METRICS
        if metric.name not in ("accuracy", _ERROR.name)
    },
    "Examples": "How many were evaluated, each once.",
    "Speed": "Examples per second over all devices, start-up not counted.",
}


def _title_of(metric: Metric) -> str:
    return _OFF_BY if metric.name == _ERROR.name else metric.title


class Totals(QFrame):
    """A number and its name for each metric that there is."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", "true")
        self.setObjectName("evaluation_totals")
        row = QHBoxLayout(self)
        row.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        row.setSpacing(4 * GRID)
        self._numbers: dict[str, QLabel] = {}
        self._blocks: dict[str, QWidget] = {}
        for name, tip in _TIPS.items():
            row.addWidget(self._block(name, tip))
        for metric in FURTHER_METRICS:
            # All of them at once would make the whole window wider.
            self._blocks[_title_of(metric)].hide()
        row.addStretch(1)

    def setStatus(self, status: RunStatus) -> None:
        """Show what was found; nothing changes while nothing was."""
        found = status.evaluation
        if found is None:
            return
        metrics = found.metrics
        for metric in FURTHER_METRICS:
            value = metrics.value_of(metric)
            words = formatting.fraction if metric.is_fraction else formatting.number
            self._blocks[_title_of(metric)].setVisible(value is not None)
            self._numbers[_title_of(metric)].setText(words(value))
        self._blocks["Loss"].setVisible(metrics.mean_absolute_error is None)
        self._numbers["Loss"].setText(formatting.number(metrics.loss))
        self._numbers["Examples"].setText(formatting.count(found.examples))
        counted = evaluated_text(found)
        tip = f"Evaluated were {counted}." if counted else _TIPS["Examples"]
        self._blocks["Examples"].setToolTip(wrapped(tip))
        self._numbers["Speed"].setText(formatting.rate(status.examples_per_second))

    def _block(self, name: str, tip: str) -> QWidget:
        block = QWidget(self)
        block.setToolTip(wrapped(tip))
        caption = QLabel(name, block)
        caption.setProperty("role", "section")
        number = QLabel(block)
        number.setProperty("role", "title")
        number.setAccessibleName(name)
        column = column_in(block, spacing=0)
        column.addWidget(caption)
        column.addWidget(number)
        self._numbers[name], self._blocks[name] = number, block
        return block
