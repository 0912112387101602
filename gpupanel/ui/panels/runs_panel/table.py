"""The table of runs: its columns, what is chosen in it, and that nothing in it jumps."""

from dataclasses import dataclass

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QMenu, QTableView, QWidget

from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.ui.panels.runs_panel.columns import COLUMNS
from gpupanel.ui.panels.runs_panel.model import STARTED, RunsModel
from gpupanel.ui.theme import GRID

_ROW_HEIGHT = 4 * GRID
_WIDEST = 34 * GRID
"""Of a column that fits its texts; a person may draw it wider."""
_CELL_MARGINS = 3 * GRID
_NAME = 0


@dataclass(frozen=True, slots=True)
class ColumnChoices:
    """How a person wants the columns.

    Attributes:
        shown: Which are shown against what is usual, or hidden, by their keys.
        widths: In pixels, of those that were drawn wider or narrower by hand.
        sorted_by: The key of the column that the rows are sorted by.
    """

    shown: dict[str, bool]
    widths: dict[str, int]
    sorted_by: str = "started"
    descending: bool = True


class RunsTable(QTableView):
    """Several rows can be chosen; columns are as wide as their texts unless drawn by hand."""

    columnsChanged = Signal()
    """A person hid, showed, widened or sorted by a column."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("runs_table")
        self.setAccessibleName("Runs")
        self.runs = RunsModel(self)
        self.setModel(self.runs)
        self._drawn: dict[str, int] = {}
        self._shown: dict[str, bool] = {}
        self._fitting: dict[str, int] = {}
        self._measured: dict[str, RunSummary] = {}
        self._is_fitting = False
        self._dress()
        self._prepare_header()

    def set_runs(self, runs: tuple[RunSummary, ...]) -> None:
        """Show these runs; choice, current row and what is in sight stay."""
        bar = self.verticalScrollBar()
        top = self.runs.run(bar.value()).name if 0 < bar.value() < self.runs.rowCount() else None
        self.runs.set_runs(runs)
        place = None if top is None else self.runs.row_of(top)
        if place is not None:
            bar.setValue(place)
        self._fit_columns()

    def set_search(self, text: str) -> None:
        """Show only the runs that are found; what is chosen and still found stays chosen."""
        self.runs.set_search(text)

    def chosen(self) -> tuple[RunSummary, ...]:
        """The chosen runs, as they stand in the table."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        return tuple(self.runs.run(row) for row in rows)

    def choices(self) -> ColumnChoices:
        """How the columns are, to be remembered."""
        header = self.horizontalHeader()
        return ColumnChoices(
            dict(self._shown),
            dict(self._drawn),
            COLUMNS[header.sortIndicatorSection()].key,
            header.sortIndicatorOrder() is Qt.SortOrder.DescendingOrder,
        )

    def set_choices(self, choices: ColumnChoices) -> None:
        """Have the columns so; keys of columns that there are none of any more are forgotten."""
        keys = [column.key for column in COLUMNS]
        self._shown = {key: shown for key, shown in choices.shown.items() if key in keys}
        self._drawn = {key: width for key, width in choices.widths.items() if key in keys}
        self._show_columns()
        order = Qt.SortOrder.DescendingOrder if choices.descending else Qt.SortOrder.AscendingOrder
        place = keys.index(choices.sorted_by) if choices.sorted_by in keys else STARTED
        self.horizontalHeader().setSortIndicator(place, order)
        self._fit_columns()

    def column_menu(self, parent: QWidget) -> QMenu:
        """A menu in which columns are shown and hidden; the name is always shown."""
        menu = QMenu(parent)
        menu.setObjectName("column_menu")
        for place, column in enumerate(COLUMNS):
            action = menu.addAction(column.title)
            action.setCheckable(True)
            action.setChecked(not self.isColumnHidden(place))
            action.setEnabled(place != _NAME)
            action.setToolTip(column.tip)
            action.setData(column.key)
        menu.setToolTipsVisible(True)
        menu.triggered.connect(self._on_column_toggled)
        return menu

    def _dress(self) -> None:
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerItem)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setShowGrid(False)
        self.setAlternatingRowColors(True)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(_ROW_HEIGHT)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)

    def _prepare_header(self) -> None:
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setStretchLastSection(True)
        header.setMinimumSectionSize(6 * GRID)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.setSortIndicator(STARTED, Qt.SortOrder.DescendingOrder)
        self.setSortingEnabled(True)
        self._show_columns()
        self._fit_columns()
        header.customContextMenuRequested.connect(self._open_column_menu)
        header.sectionResized.connect(self._on_resized)
        header.sortIndicatorChanged.connect(self._on_sorted)

    def _show_columns(self) -> None:
        self._is_fitting = True
        for place, column in enumerate(COLUMNS):
            self.setColumnHidden(place, not self._shown.get(column.key, column.is_shown))
        self._is_fitting = False

    def _fit_columns(self) -> None:
        """Each column as wide as its widest text ever was, unless it was drawn by hand."""
        runs = self.runs.all_runs
        new = [run for run in runs if self._measured.get(run.name) is not run]
        self._measured = {run.name: run for run in runs}
        header = self.horizontalHeader()
        self._is_fitting = True
        for place, column in enumerate(COLUMNS[:-1]):
            # Of letters of several widths the longest text is hardly ever narrower than another.
            longest = sorted({column.text(run) for run in new}, key=len, reverse=True)[:3]
            width = max((self.fontMetrics().horizontalAdvance(text) for text in longest), default=0)
            title = header.fontMetrics().horizontalAdvance(column.title) + 2 * GRID
            fitting = max(min(width, _WIDEST), title, self._fitting.get(column.key, 0))
            self._fitting[column.key] = fitting
            if not self.isColumnHidden(place):
                width = self._drawn.get(column.key, fitting + _CELL_MARGINS)
                header.resizeSection(place, width)
        self._is_fitting = False

    def _last_shown(self) -> int:
        return max(place for place in range(len(COLUMNS)) if not self.isColumnHidden(place))

    @Slot(QPoint)
    def _open_column_menu(self, place: QPoint) -> None:
        menu = self.column_menu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.horizontalHeader().mapToGlobal(place))

    @Slot(QAction)
    def _on_column_toggled(self, action: QAction) -> None:
        self._shown[str(action.data())] = action.isChecked()
        self._show_columns()
        self._fit_columns()
        self.columnsChanged.emit()

    @Slot(int, int, int)
    def _on_resized(self, place: int, _before: int, width: int) -> None:
        # The last one takes what is left, however wide the window is.
        if self._is_fitting or place == self._last_shown():
            return
        self._drawn[COLUMNS[place].key] = width
        self.columnsChanged.emit()

    @Slot()
    def _on_sorted(self) -> None:
        self.columnsChanged.emit()
