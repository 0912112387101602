"""The table of runs: its columns, what is chosen in it, and that nothing in it jumps."""

from dataclasses import dataclass

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractItemView, QMenu, QWidget

from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.runs.history.run_text import matches, search_words
from gpupanel.ui.panels.runs_panel.columns import COLUMNS, STARTED, run_tip
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.table_model import TableModel
from gpupanel.ui.widgets.table_view import TableView

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


class RunsTable(TableView[RunSummary]):
    """Several rows can be chosen; columns are as wide as their texts unless drawn by hand."""

    columnsChanged = Signal()
    """A person hid, showed, widened or sorted by a column."""

    def __init__(self, parent: QWidget | None = None) -> None:
        content = TableModel(
            COLUMNS,
            lambda run: run.name,
            run_tip,
            sorted_by=(STARTED, Qt.SortOrder.DescendingOrder),
        )
        super().__init__(content, "runs_table", "Runs", _ROW_HEIGHT, parent)
        self._words: tuple[str, ...] = ()
        self._drawn: dict[str, int] = {}
        self._shown: dict[str, bool] = {}
        self._fitting: dict[str, int] = {}
        self._measured: dict[str, RunSummary] = {}
        self._is_fitting = False
        self._dress()
        self._prepare_header()

    def set_runs(self, runs: tuple[RunSummary, ...]) -> None:
        """Show these runs; choice, current row and the visible rows stay."""
        bar = self.verticalScrollBar()
        content = self.content
        top = content.row(bar.value()).name if 0 < bar.value() < content.rowCount() else None
        content.set_rows(runs, keep_order=True)
        place = None if top is None else content.place_of(top)
        if place is not None:
            bar.setValue(place)
        self._fit_columns()

    def set_search(self, text: str) -> None:
        """Show only the runs in which each word is found; of these, chosen ones stay chosen."""
        words = search_words(text)
        if words != self._words:
            self._words = words
            self.content.set_search(lambda run: matches(run, words))

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
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerItem)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)

    def _prepare_header(self) -> None:
        header = self.horizontalHeader()
        header.setMinimumSectionSize(6 * GRID)
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
        runs = self.content.all_rows
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
