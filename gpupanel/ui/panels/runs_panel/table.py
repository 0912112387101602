"""The table of runs: its columns, what is chosen in it, and that nothing in it jumps."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from operator import is_

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QWidget
from typing_extensions import override

from gpupanel.runs.history.run_settings import RunSettings
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.ui.panels.runs_panel.actions import action
from gpupanel.ui.panels.runs_panel.column_choices import ColumnChoices
from gpupanel.ui.panels.runs_panel.column_layout import NAME_PLACE, ColumnLayout
from gpupanel.ui.panels.runs_panel.columns import COLUMNS, STARTED
from gpupanel.ui.panels.runs_panel.run_rows import (
    Arrangement,
    Figure,
    RunGroup,
    RunRow,
    RunRowsModel,
    row_column,
    row_key,
    row_tip,
    toggled,
)
from gpupanel.ui.panels.runs_panel.scatter_axes import scatter_axes
from gpupanel.ui.panels.runs_panel.setting_columns import (
    DIFFERS,
    ColumnOffer,
    SettingColumns,
    fixed_offers,
    is_setting,
)
from gpupanel.ui.panels.runs_panel.table_menus import ColumnMenu, GroupMenu
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.table_model import Column
from gpupanel.ui.widgets.table_view import TableView

_ROW_HEIGHT = 4 * GRID
_FOLDING: dict[int, bool | None] = {
    Qt.Key.Key_Left: True,
    Qt.Key.Key_Right: False,
    Qt.Key.Key_Return: None,
    Qt.Key.Key_Enter: None,
    Qt.Key.Key_Space: None,
}
"""What keys make of the title of a group: folded, unfolded, or what it is not."""


class RunsTable(TableView[RunRow]):
    """Several rows can be chosen; columns are as wide as their texts unless drawn by hand."""

    columnsChanged = Signal()
    """A person hid, showed, moved, widened, sorted or grouped by a column, or pinned a run."""
    settingsWanted = Signal()
    """A column shows a setting: what the runs were started with is to be read."""

    def __init__(self, parent: QWidget | None = None) -> None:
        content = RunRowsModel(
            [row_column(column, self.baseline) for column in COLUMNS],
            row_key,
            row_tip,
            sorted_by=(STARTED, Qt.SortOrder.DescendingOrder),
        )
        self._runs: tuple[RunSummary, ...] = ()
        self._baseline: RunSummary | None = None
        self._grouped_by = ""
        self._arrangement = Arrangement()
        super().__init__(content, "runs_table", "Runs", _ROW_HEIGHT, parent)
        self.more_columns = action(self, "&All settings and metrics…", "column_more")
        """Offers all columns that there are; stands in the menu of columns."""
        self._single = SettingColumns()
        self._dress()
        self.horizontalHeader().setSortIndicator(STARTED, Qt.SortOrder.DescendingOrder)
        self.setSortingEnabled(True)
        self._columns = ColumnLayout(self)
        self._columns.changed.connect(self.columnsChanged)
        self.horizontalHeader().customContextMenuRequested.connect(self._open_column_menu)
        self.clicked.connect(self._toggle_group)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._columns.fit()

    def set_runs(self, runs: tuple[RunSummary, ...]) -> bool:
        """Show these runs; choice, current row and the visible rows stay.

        Returns:
            Whether there was anything to bring up to date: of a run that goes on, time goes on.
        """
        is_same = len(runs) == len(self._runs) and all(map(is_, runs, self._runs))
        if is_same and not any(run.is_running for run in runs):
            return False
        bar = self.verticalScrollBar()
        content = self.content
        at = bar.value()
        top = row_key(content.row(at)) if 0 < at < content.rowCount() else None
        self._runs = runs
        self._find_baseline()
        self._columns.set_runs(runs)
        content.set_rows(runs, keep_order=True)
        place = None if top is None else content.place_of(top)
        if place is not None:
            bar.setValue(place)
        self._columns.fit()
        return True

    def set_settings(self, settings: Mapping[str, RunSettings]) -> None:
        """What the runs were started with, by the names of their directories."""
        self._single.set_settings(settings)
        shown = [key for key, is_shown in self._columns.shown.items() if is_shown]
        if any(map(is_setting, (*shown, self._grouped_by))):
            self._columns.widths.forget()
            self._rebuild()

    @property
    def runs(self) -> tuple[RunSummary, ...]:
        """All that there are."""
        return self._runs

    @property
    def settings(self) -> Mapping[str, RunSettings]:
        """What the runs were started with, as far as it was read."""
        return self._single.settings

    def set_search(self, is_found: Callable[[RunSummary], bool] | None) -> None:
        """Show only runs of which that is true; of these, chosen ones stay chosen."""
        if is_found is None:
            self.content.set_search(None)
        else:
            self.content.set_search(lambda row: isinstance(row, RunSummary) and is_found(row))

    def chosen_runs(self) -> tuple[RunSummary, ...]:
        """The chosen runs, as they stand in the table."""
        return tuple(row for row in self.chosen_rows() if isinstance(row, RunSummary))

    def baseline(self) -> RunSummary | None:
        """The run that is pinned, if it is among those that there are."""
        return self._baseline

    def set_baseline(self, name: str) -> None:
        """Pin the run of that name above all others; empty: none any more."""
        self._arrangement = replace(self._arrangement, baseline=name)
        self._find_baseline()
        self._columns.widths.forget(COLUMNS[NAME_PLACE].key)
        self._arrange()
        self.columnsChanged.emit()

    def _find_baseline(self) -> None:
        name = self._arrangement.baseline
        self._baseline = next((run for run in self._runs if run.name == name), None)

    def group_by(self, key: str) -> None:
        """Group the runs by what a column says of them; empty: not any more."""
        self._grouped_by = key
        self._arrangement = replace(self._arrangement, folded=frozenset())
        if is_setting(key):
            self.settingsWanted.emit()
        self._arrange()
        self.columnsChanged.emit()

    def show_figure(self, figure: Figure) -> None:
        """Have the titles of groups show that of each column of numbers."""
        self._arrangement = replace(self._arrangement, figure=figure)
        self._arrange()
        self.columnsChanged.emit()

    def group_menu(self, parent: QWidget) -> GroupMenu:
        """What runs can be grouped by, and what titles of groups show."""
        shown, hidden = self.offers()
        menu = GroupMenu(shown, hidden, self._grouped_by, self._arrangement.figure, parent)
        menu.groupChosen.connect(self.group_by)
        menu.figureChosen.connect(self.show_figure)
        return menu

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        index = self.currentIndex()
        row = self.content.row(index.row()) if index.isValid() else None
        if isinstance(row, RunGroup) and event.key() in _FOLDING:
            is_folded = _FOLDING[event.key()]
            if is_folded is None or is_folded is not row.is_folded:
                self._toggle_group(index)
            return
        super().keyPressEvent(event)

    @Slot(QModelIndex)
    def _toggle_group(self, index: QModelIndex) -> None:
        row = self.content.row(index.row())
        if isinstance(row, RunGroup):
            self._arrangement = toggled(self._arrangement, row.value)
            self._arrange()

    def _arrange(self) -> None:
        fixed = {column.key: column for column in COLUMNS}
        key = self._grouped_by
        column = fixed.get(key) or self._single.column(key)
        self._arrangement = replace(self._arrangement, group_of=column)
        is_plain = column is None and not self._arrangement.baseline
        self.content.set_arrangement(None if is_plain else self._arrangement.arranged)
        self._columns.fit()

    def choices(self) -> ColumnChoices:
        """How the columns are, to be remembered."""
        header = self.horizontalHeader()
        return ColumnChoices(
            self._columns.shown,
            dict(self._columns.widths.drawn),
            self.content.columns[header.sortIndicatorSection()].key,
            header.sortIndicatorOrder() is Qt.SortOrder.DescendingOrder,
            self._columns.order,
            self._grouped_by,
            self._arrangement.figure.value,
            self._arrangement.baseline,
        )

    def set_choices(self, choices: ColumnChoices) -> None:
        """Have the columns so; keys of columns that there are none of any more are forgotten."""
        keys = {column.key for column in COLUMNS}

        def is_known(key: str) -> bool:
            return key in keys or self._single.column(key) is not None

        self._columns.set_choices(
            {key: shown for key, shown in choices.shown.items() if is_known(key)},
            {key: width for key, width in choices.widths.items() if is_known(key)},
            [key for key in choices.order if is_known(key)],
        )
        self._grouped_by = choices.grouped_by if is_known(choices.grouped_by) else ""
        figures = {figure.value: figure for figure in Figure}
        figure = figures.get(choices.figure, Figure.MEAN)
        self._arrangement = Arrangement(figure=figure, baseline=choices.baseline)
        self._find_baseline()
        self._rebuild(choices.sorted_by, is_descending=choices.descending)

    def offers(self) -> tuple[tuple[ColumnOffer, ...], tuple[ColumnOffer, ...]]:
        """The columns that are shown, from left to right, and those that could be."""
        offered = {each.key: each for each in (*fixed_offers(), *self._single.offers(self._runs))}
        shown = self._columns.shown_keys()
        for column in self.content.columns:
            offered.setdefault(column.key, ColumnOffer(column.key, column.title, column.tip))
        hidden = [offer for key, offer in offered.items() if key not in shown]
        hidden.sort(key=lambda offer: offer.what != DIFFERS)
        return tuple(offered[key] for key in shown), tuple(hidden)

    def axis_columns(
        self,
    ) -> tuple[tuple[Column[RunSummary], ...], tuple[Column[RunSummary], ...]]:
        """What runs can be drawn by: across, settings that differ first, and up, only numbers."""
        shown = [row for row in self.content.found_rows if isinstance(row, RunSummary)]
        return scatter_axes(self._single, self._runs, shown)

    def show_columns(self, keys: Sequence[str]) -> None:
        """Show these columns, from left to right, and hide all others."""
        self._columns.choose_only(keys)
        self._rebuild()
        self.columnsChanged.emit()

    def column_menu(self, parent: QWidget, at: int | None = None) -> ColumnMenu:
        """A menu in which columns are shown and hidden; the name is always shown.

        Args:
            parent: Owns it.
            at: The place of the column that it was opened on.
        """
        columns = self.content.columns
        shown = [(each, not self.isColumnHidden(place)) for place, each in enumerate(columns)]
        menu = ColumnMenu(shown, columns[at] if at else None, self.more_columns, parent)
        menu.columnToggled.connect(self._on_column_toggled)
        menu.groupChosen.connect(self.group_by)
        return menu

    def _dress(self) -> None:
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerItem)
        for each in (self, self.horizontalHeader()):
            each.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)

    def _rebuild(self, sorted_by: str | None = None, *, is_descending: bool | None = None) -> None:
        """Have the columns that are chosen; what is chosen, sorting and visible rows stay."""
        header, content, bar = self.horizontalHeader(), self.content, self.verticalScrollBar()
        before = self.choices()
        chosen, top = [run.name for run in self.chosen_runs()], bar.value()
        shown = self._columns.shown.items()
        single = (self._single.column(key) for key, is_shown in shown if is_shown)
        columns = (*COLUMNS, *(column for column in single if column is not None))
        with self._columns.arranging():
            content.set_columns([row_column(each, self.baseline) for each in columns], self._runs)
            self._columns.show()
            keys = [column.key for column in content.columns]
            by = before.sorted_by if sorted_by is None else sorted_by
            is_down = before.descending if is_descending is None else is_descending
            order = Qt.SortOrder.DescendingOrder if is_down else Qt.SortOrder.AscendingOrder
            place = keys.index(by) if by in keys else STARTED
            header.setSortIndicator(place, order)
            content.sort(place, order)
        self._choose(chosen)
        bar.setValue(top)
        self._arrange()
        if any(is_setting(key) for key in (*keys, self._grouped_by)):
            self.settingsWanted.emit()

    def choose(self, name: str) -> None:
        """Choose the run of that name alone, and show its row."""
        place = self.content.place_of(name)
        if place is not None:
            self.selectRow(place)
            self.scrollTo(self.content.index(place, 0))

    def _choose(self, names: Sequence[str]) -> None:
        if [run.name for run in self.chosen_runs()] == list(names):
            return
        flags = QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows
        for name in names:
            place = self.content.place_of(name)
            if place is not None:
                self.selectionModel().select(self.content.index(place, 0), flags)

    @Slot(QPoint)
    def _open_column_menu(self, place: QPoint) -> None:
        at = self.horizontalHeader().logicalIndexAt(place)
        menu = self.column_menu(self, at if at >= 0 else None)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.horizontalHeader().mapToGlobal(place))

    @Slot(str, bool)
    def _on_column_toggled(self, key: str, is_shown: bool) -> None:
        self._columns.choose(key, is_shown=is_shown)
        self._rebuild()
        self.columnsChanged.emit()
