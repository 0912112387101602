"""What was taken for what, and the metrics of each class."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget
from typing_extensions import override

from gpupanel.ui.panels.evaluation_panel.class_table import ClassTable
from gpupanel.ui.panels.evaluation_panel.confusion_map import ConfusionMap
from gpupanel.ui.panels.evaluation_panel.views import FiguresView
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.beside_or_below import BesideOrBelow
from gpupanel.ui.widgets.layouts import column_in

if TYPE_CHECKING:
    # NumPy, which it needs, takes longer to load than a window may.
    from gpupanel.runs.following.evaluation_figures import EvaluationFigures

_LEAST_MATRIX = 30 * GRID, 36 * GRID
"""Pixels: of less nobody can tell what was taken for what."""


class ClassesView(FiguresView):
    """A confusion matrix and a table of classes; of several labels at once the table alone."""

    cellChosen = Signal(int, int, str)
    """A cell was clicked: the numbers of its true and predicted class, and what its examples are
    called."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._map = ConfusionMap()
        self._table = ClassTable()
        self._map.cellChosen.connect(self._on_cell_chosen)
        self._table.classChosen.connect(self._map.choose)
        scroll = QScrollArea()
        scroll.setAccessibleName("Findings")
        scroll.setWidgetResizable(True)
        scroll.setWidget(self._map)
        self._map.setProperty("page", "true")
        self._card = QFrame()
        self._card.setProperty("card", "true")
        inside = QVBoxLayout(self._card)
        inside.setContentsMargins(2 * GRID, GRID, GRID, GRID)
        inside.addWidget(scroll)
        self._card.setMinimumSize(*_LEAST_MATRIX)
        column_in(self).addWidget(BesideOrBelow(self._card, self._table))

    @override
    def setFigures(self, figures: "EvaluationFigures") -> None:
        """Show its classes, or its labels."""
        matrix = figures.matrix
        self._card.setVisible(matrix is not None)
        if matrix is not None:
            self._map.setMatrix(matrix)
            self._table.setMetrics(matrix)
        elif figures.labels is not None:
            self._table.setMetrics(figures.labels, of_labels=True)

    @Slot(int, int)
    def _on_cell_chosen(self, row: int, column: int) -> None:
        true, taken = (self._map.name_of(number) for number in (row, column))
        title = f"{true}, predicted correctly" if row == column else f"{true}, predicted as {taken}"
        self.cellChosen.emit(row, column, title)
