"""Figures per class as a table, sorted by any of its columns."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QHeaderView, QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.domain.confusion import ClassMetrics, LabelMetrics, Mistake
from gpupanel.ui import formatting
from gpupanel.ui.widgets.table_model import Column, TableModel
from gpupanel.ui.widgets.table_view import TableView

if TYPE_CHECKING:
    # NumPy, which it needs, takes longer to load than a window may.
    from gpupanel.runs.following.confusion_matrix import ConfusionMatrix

_ROW_HEIGHT = 26
_NARROWEST, _WIDEST, _LOWEST = 320, 520, 200
_PADDING, _SORT_MARK = 8, 8
_ROWS_MEASURED = 100


@dataclass(frozen=True, slots=True)
class _Row:
    """A class with the worst mistake about it."""

    number: int
    metrics: ClassMetrics
    mistake: Mistake | None


def _or_last(value: float | None) -> float:
    return -1.0 if value is None else value


def _mistake_text(row: _Row) -> str:
    return "" if row.mistake is None else row.mistake.text


_COLUMNS: tuple[Column[_Row], ...] = (
    Column(
        "Class",
        "The class, in the order of the class numbers.",
        lambda row: row.metrics.name,
        lambda row: row.number,
    ),
    Column(
        "Precision",
        "Of the examples predicted as this class, the fraction that belongs to it.",
        lambda row: formatting.fraction(row.metrics.precision),
        lambda row: _or_last(row.metrics.precision),
        is_number=True,
    ),
    Column(
        "Recall",
        "Of the examples of this class, the fraction predicted as it.",
        lambda row: formatting.fraction(row.metrics.recall),
        lambda row: _or_last(row.metrics.recall),
        is_number=True,
    ),
    Column(
        "F1",
        "The harmonic mean of precision and recall: high only where both are.",
        lambda row: formatting.fraction(row.metrics.f1),
        lambda row: _or_last(row.metrics.f1),
        is_number=True,
    ),
    Column(
        "Examples",
        "How many examples of this class there are.",
        lambda row: formatting.count(row.metrics.examples),
        lambda row: row.metrics.examples,
        is_number=True,
    ),
    Column(
        "Confused with",
        "The wrong class that was predicted most often for its examples, and how often; several "
        "where they are equally frequent.",
        _mistake_text,
        cell_tip=_mistake_text,
        order=lambda row: 0.0 if row.mistake is None else row.mistake.count,
    ),
)


class ClassTable(TableView[_Row]):
    """A row per class: precision, recall, F1, examples, and the worst mistake."""

    classChosen = Signal(object)
    """The number of the class whose row is chosen; ``None``: none is."""

    def __init__(self, parent: QWidget | None = None) -> None:
        content = TableModel(_COLUMNS, lambda row: row.number)
        super().__init__(content, "class_table", "Metrics of each class", _ROW_HEIGHT, parent)
        self.setProperty("textSize", "small")
        self.setSortingEnabled(True)
        self.sortByColumn(0, Qt.SortOrder.AscendingOrder)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        # Of thousands of rows so many show how wide a column has to be.
        header.setResizeContentsPrecision(_ROWS_MEASURED)
        self.selectionModel().selectionChanged.connect(self._on_selection_changed)

    def setMetrics(
        self, matrix: "ConfusionMatrix | LabelMetrics", *, of_labels: bool = False
    ) -> None:
        """Shows other classes; the order of sorting stays.

        Args:
            matrix: Their metrics.
            of_labels: Of labels, of which an example may have several: none is confused with
                another.
        """
        self.setColumnHidden(len(_COLUMNS) - 1, of_labels)
        self.clearSelection()  # it was about another evaluation
        self.content.set_rows(
            _Row(number, metrics, matrix.most_mistaken_for(number))
            for number, metrics in enumerate(matrix.classes)
        )
        for column, width in enumerate(self._widths()):
            self.setColumnWidth(column, width)
        self.updateGeometry()

    @override
    def sizeHint(self) -> QSize:
        """As wide as what stands in it, up to a limit; as high as there is room."""
        bar = self.verticalScrollBar().sizeHint().width()
        whole = sum(self._widths()) + bar + 2 * self.frameWidth()
        return QSize(min(_WIDEST, whole), 400)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(_NARROWEST, _LOWEST)

    def _widths(self) -> list[int]:
        """Of each column: what stands in it or its title with the mark of sorting."""
        metrics = self.horizontalHeader().fontMetrics()
        return [
            max(
                self.sizeHintForColumn(number) + _PADDING,
                metrics.horizontalAdvance(column.title) + 2 * _PADDING + _SORT_MARK,
            )
            for number, column in enumerate(_COLUMNS)
        ]

    @Slot()
    def _on_selection_changed(self) -> None:
        rows = self.chosen_rows()
        self.classChosen.emit(rows[0].number if rows else None)
