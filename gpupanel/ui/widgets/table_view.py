"""A table of rows that are chosen as a whole."""

from typing import Generic, TypeVar

from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt, Slot
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget
from typing_extensions import override

from gpupanel.ui.widgets.frozen_column import FrozenColumn
from gpupanel.ui.widgets.table_model import Index, TableModel

RowT = TypeVar("RowT")
_MEASURED = 100
"""Rows that columns are fitted to: Qt's thousand take half a second."""


class TableView(QTableView, Generic[RowT]):
    """As every table of the window looks: rows of one height, no grid, titles above.

    What a row is about, its first column, stays where it is while others are scrolled to.

    Args:
        model: The rows; belongs to the table then.
        name: The object name.
        title: For assistive technology.
        row_height: In pixels.
        parent: Owns it.
    """

    def __init__(
        self,
        model: TableModel[RowT],
        name: str,
        title: str,
        row_height: int,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.content = model
        self._fitted_widths: dict[int, int] = {}
        self._frozen: FrozenColumn | None = None
        model.setParent(self)
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.setModel(model)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setShowGrid(False)
        self.setAlternatingRowColors(True)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(row_height)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setStretchLastSection(True)
        header.setResizeContentsPrecision(_MEASURED)
        self.horizontalScrollBar().valueChanged.connect(self._freeze)

    @Slot(int)
    def _freeze(self, value: int) -> None:
        # Most tables are never scrolled sideways.
        if value and self._frozen is None:
            self._frozen = FrozenColumn(self)

    @override
    def rowsAboutToBeRemoved(self, parent: Index, start: int, end: int) -> None:
        # Qt would choose a neighbour of the current row, which nobody has chosen.
        if start <= self.currentIndex().row() <= end:
            nothing = QItemSelectionModel.SelectionFlag.NoUpdate
            self.selectionModel().setCurrentIndex(QModelIndex(), nothing)
        super().rowsAboutToBeRemoved(parent, start, end)

    def fit_columns(self, *, anew: bool = False, least_last: int | None = None) -> None:
        """Widen columns to what stands in them; none gets narrower, so that nothing jumps.

        Args:
            anew: The columns are others than before. Else those that a person has drawn to another
                width keep it.
            least_last: In pixels, of the last column, whose texts are cut where there is no room
                for all; ``None``: it is as wide as its texts.
        """
        header = self.horizontalHeader()
        header.setStretchLastSection(False)
        if anew:
            self._fitted_widths = {}
        for column in range(header.count()):
            width = header.sectionSize(column)
            if column in self._fitted_widths and self._fitted_widths[column] != width:
                continue
            wanted = max(self.sizeHintForColumn(column), header.sectionSizeHint(column))
            if column not in self._fitted_widths or wanted > width:
                header.resizeSection(column, wanted)
            self._fitted_widths[column] = header.sectionSize(column)
        if least_last is not None:
            # What it is stretched from.
            header.resizeSection(header.count() - 1, least_last)
        # Only so does Qt stretch it after the columns were made others.
        header.setStretchLastSection(True)

    def chosen_rows(self) -> tuple[RowT, ...]:
        """The chosen rows, as they stand in the table."""
        places = sorted(index.row() for index in self.selectionModel().selectedRows())
        return tuple(self.content.row(place) for place in places)
