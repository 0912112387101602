"""The table of classes, sorted by any of its columns."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QSizePolicy,
    QTableView,
    QWidget,
)
from typing_extensions import override

from gpupanel.ui.panels.evaluation_panel.class_model import COLUMNS, ClassModel

if TYPE_CHECKING:
    # NumPy, which it needs, takes longer to load than a window may.
    from gpupanel.runs.following.confusion_matrix import ConfusionMatrix

_ROW_HEIGHT = 26
_NARROWEST, _WIDEST = 320, 520
_PADDING, _SORT_MARK = 8, 8
_ROWS_MEASURED = 100


class ClassTable(QTableView):
    """A row per class: precision, recall, F1, examples, and the worst mistake."""

    classChosen = Signal(object)
    """The number of the class whose row is chosen; ``None``: none is."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("class_table")
        self.setAccessibleName("Metrics of each class")
        self.setProperty("textSize", "small")
        self._model = ClassModel(self)
        self.setModel(self._model)
        self.setSortingEnabled(True)
        self.sortByColumn(0, Qt.SortOrder.AscendingOrder)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self.setShowGrid(False)
        self.setAlternatingRowColors(True)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(_ROW_HEIGHT)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setStretchLastSection(True)
        header.setHighlightSections(False)
        # Of thousands of rows so many tell how wide a column has to be.
        header.setResizeContentsPrecision(_ROWS_MEASURED)
        self.selectionModel().selectionChanged.connect(self._on_selection_changed)

    def setMatrix(self, matrix: "ConfusionMatrix") -> None:
        """Shows other classes; the order of sorting stays."""
        self._model.set_matrix(matrix)
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
        return QSize(_NARROWEST, 120)

    def _widths(self) -> list[int]:
        """Of each column: what stands in it or its title with the mark of sorting."""
        metrics = self.horizontalHeader().fontMetrics()
        return [
            max(
                self.sizeHintForColumn(number) + _PADDING,
                metrics.horizontalAdvance(column.title) + 2 * _PADDING + _SORT_MARK,
            )
            for number, column in enumerate(COLUMNS)
        ]

    @Slot()
    def _on_selection_changed(self) -> None:
        rows = self.selectionModel().selectedRows()
        self.classChosen.emit(self._model.number_at(rows[0]) if rows else None)
