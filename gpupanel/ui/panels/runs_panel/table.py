"""The table of runs: its columns, what is chosen in it, and that nothing in it jumps."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QWidget
from typing_extensions import override

from gpupanel.runs.history.run_settings import RunSettings
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.ui.panels.runs_panel.actions import action
from gpupanel.ui.panels.runs_panel.column_choices import ColumnChoices
from gpupanel.ui.panels.runs_panel.column_widths import ColumnWidths
from gpupanel.ui.panels.runs_panel.columns import COLUMNS, SHOWN_WHERE_ANY, STARTED
from gpupanel.ui.panels.runs_panel.run_rows import (
    Arrangement,
    Figure,
    RunGroup,
    RunRow,
    RunRowsModel,
    row_column,
    row_key,
    row_tip,
    title_font,
    toggled,
)
from gpupanel.ui.panels.runs_panel.scatter_axes import scatter_axes
from gpupanel.ui.panels.runs_panel.setting_columns import (
    DIFFERS,
    ColumnOffer,
    SettingColumns,
    fixed_offers,
    is_setting,
    is_single,
)
from gpupanel.ui.panels.runs_panel.table_menus import ColumnMenu, GroupMenu
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.table_model import Column
from gpupanel.ui.widgets.table_view import TableView

_ROW_HEIGHT = 4 * GRID
_NAME = 0
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
        self._filled: set[str] = set()
        self._grouped_by = ""
        self._arrangement = Arrangement()
        super().__init__(content, "runs_table", "Runs", _ROW_HEIGHT, parent)
        self.more_columns = action(self, "&All settings and metrics…", "column_more")
        """Offers all columns that there are; stands in the menu of columns."""
        self._single = SettingColumns()
        self._widths = ColumnWidths()
        self._shown: dict[str, bool] = {}
        self._order: tuple[str, ...] = ()
        self._is_fitting = False
        self._dress()
        self._prepare_header()

    def set_runs(self, runs: tuple[RunSummary, ...]) -> None:
        """Show these runs; choice, current row and the visible rows stay."""
        bar = self.verticalScrollBar()
        content = self.content
        at = bar.value()
        top = row_key(content.row(at)) if 0 < at < content.rowCount() else None
        self._runs = runs
        self._find_baseline()
        self._find_filled()
        content.set_rows(runs, keep_order=True)
        place = None if top is None else content.place_of(top)
        if place is not None:
            bar.setValue(place)
        self._fit_columns()

    def set_settings(self, settings: Mapping[str, RunSettings]) -> None:
        """What the runs were started with, by the names of their directories."""
        self._single.set_settings(settings)
        self._widths.forget()
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
        self._widths.forget(COLUMNS[_NAME].key)
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
        self._fit_columns()

    def choices(self) -> ColumnChoices:
        """How the columns are, to be remembered."""
        header = self.horizontalHeader()
        return ColumnChoices(
            dict(self._shown),
            dict(self._widths.drawn),
            self.content.columns[header.sortIndicatorSection()].key,
            header.sortIndicatorOrder() is Qt.SortOrder.DescendingOrder,
            self._order,
            self._grouped_by,
            self._arrangement.figure.value,
            self._arrangement.baseline,
        )

    def set_choices(self, choices: ColumnChoices) -> None:
        """Have the columns so; keys of columns that there are none of any more are forgotten."""
        keys = {column.key for column in COLUMNS}

        def is_known(key: str) -> bool:
            return key in keys or self._single.column(key) is not None

        self._shown = {key: shown for key, shown in choices.shown.items() if is_known(key)}
        self._widths.drawn = {key: width for key, width in choices.widths.items() if is_known(key)}
        self._order = tuple(dict.fromkeys(key for key in choices.order if is_known(key)))
        self._grouped_by = choices.grouped_by if is_known(choices.grouped_by) else ""
        figures = {figure.value: figure for figure in Figure}
        figure = figures.get(choices.figure, Figure.MEAN)
        self._arrangement = Arrangement(figure=figure, baseline=choices.baseline)
        self._find_baseline()
        self._rebuild(choices.sorted_by, is_descending=choices.descending)

    def offers(self) -> tuple[tuple[ColumnOffer, ...], tuple[ColumnOffer, ...]]:
        """The columns that are shown, from left to right, and those that could be."""
        offered = {each.key: each for each in (*fixed_offers(), *self._single.offers(self._runs))}
        shown = self._shown_keys()
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
        usual = {column.key: self._is_usual(column.key, column.is_shown) for column in COLUMNS}
        shown = {key: key in keys for key in usual if (key in keys) is not usual[key]}
        self._shown = shown | {key: True for key in keys if is_single(key)}
        hidden = [key for key in self._all_keys() if key not in keys and not is_single(key)]
        self._order = (*keys, *hidden)
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
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)

    def _prepare_header(self) -> None:
        header = self.horizontalHeader()
        header.setMinimumSectionSize(6 * GRID)
        header.setSectionsMovable(True)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.setSortIndicator(STARTED, Qt.SortOrder.DescendingOrder)
        self.setSortingEnabled(True)
        self._show_columns()
        self._fit_columns()
        self.clicked.connect(self._toggle_group)
        header.customContextMenuRequested.connect(self._open_column_menu)
        header.sectionResized.connect(self._on_resized)
        header.sectionMoved.connect(self._on_moved)
        header.sortIndicatorChanged.connect(self._on_sorted)

    def _rebuild(self, sorted_by: str | None = None, *, is_descending: bool | None = None) -> None:
        """Have the columns that are chosen; what is chosen, sorting and visible rows stay."""
        header, content, bar = self.horizontalHeader(), self.content, self.verticalScrollBar()
        before = self.choices()
        chosen, top = [run.name for run in self.chosen_runs()], bar.value()
        single = (self._single.column(key) for key, shown in self._shown.items() if shown)
        self._is_fitting = True
        columns = (*COLUMNS, *(column for column in single if column is not None))
        content.set_columns([row_column(each, self.baseline) for each in columns], self._runs)
        self._show_columns()
        keys = [column.key for column in content.columns]
        by = before.sorted_by if sorted_by is None else sorted_by
        is_down = before.descending if is_descending is None else is_descending
        order = Qt.SortOrder.DescendingOrder if is_down else Qt.SortOrder.AscendingOrder
        place = keys.index(by) if by in keys else STARTED
        header.setSortIndicator(place, order)
        content.sort(place, order)
        self._is_fitting = False
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

    def _all_keys(self) -> list[str]:
        """The keys of the columns from left to right, as a person moved them."""
        keys = [column.key for column in self.content.columns]
        moved = [key for key in self._order if key in keys]
        for place, key in enumerate(keys):
            if key not in moved:
                # One that is new stands where it usually does: behind the one before it.
                before = keys[place - 1] if place else None
                moved.insert(moved.index(before) + 1 if before is not None else 0, key)
        return moved

    def _shown_keys(self) -> list[str]:
        header = self.horizontalHeader()
        places = (header.logicalIndex(visual) for visual in range(header.count()))
        return [
            self.content.columns[place].key for place in places if not self.isColumnHidden(place)
        ]

    def _show_columns(self) -> None:
        was_fitting, self._is_fitting = self._is_fitting, True
        header = self.horizontalHeader()
        places = {column.key: place for place, column in enumerate(self.content.columns)}
        for visual, key in enumerate(self._all_keys()):
            header.moveSection(header.visualIndex(places[key]), visual)
        for place, column in enumerate(self.content.columns):
            usual = self._is_usual(column.key, column.is_shown)
            shown = self._shown.get(column.key, usual)
            self.setColumnHidden(place, not shown and place != _NAME)
        self._is_fitting = was_fitting

    def _is_usual(self, key: str, is_shown: bool) -> bool:
        """Whether a column is shown that nobody chose or hid."""
        return is_shown and (key not in SHOWN_WHERE_ANY or key in self._filled)

    def _find_filled(self) -> None:
        """Show columns that have something now, and hide those that have not any more."""
        filled = {key for key, said in SHOWN_WHERE_ANY.items() if any(map(said, self._runs))}
        if filled != self._filled:
            self._filled = filled
            self._show_columns()

    def _fit_columns(self) -> None:
        header, columns = self.horizontalHeader(), self.content.columns
        shown = [place for place in range(len(columns)) if not self.isColumnHidden(place)]
        bold = QFontMetrics(title_font())
        groups = [row.title for row in self.content.rows if isinstance(row, RunGroup)]
        least = {columns[_NAME].key: max(map(bold.horizontalAdvance, groups), default=0)}
        widths = self._widths.fit(
            self._runs,
            [columns[place] for place in shown],
            self.fontMetrics(),
            header.fontMetrics(),
            least,
        )
        last = self._last_shown()
        self._is_fitting = True
        for place in shown:
            if place != last:
                header.resizeSection(place, widths[columns[place].key])
        self._is_fitting = False

    def _last_shown(self) -> int:
        """The place of the column farthest to the right."""
        header = self.horizontalHeader()
        places = range(len(self.content.columns))
        return max(
            (each for each in places if not self.isColumnHidden(each)), key=header.visualIndex
        )

    @Slot(QPoint)
    def _open_column_menu(self, place: QPoint) -> None:
        at = self.horizontalHeader().logicalIndexAt(place)
        menu = self.column_menu(self, at if at >= 0 else None)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.horizontalHeader().mapToGlobal(place))

    @Slot(str, bool)
    def _on_column_toggled(self, key: str, is_shown: bool) -> None:
        if is_single(key) and not is_shown:
            self._shown.pop(key, None)
        else:
            self._shown[key] = is_shown
        self._rebuild()
        self.columnsChanged.emit()

    @Slot(int, int, int)
    def _on_resized(self, place: int, _before: int, width: int) -> None:
        # The last one takes what is left, however wide the window is.
        if self._is_fitting or place == self._last_shown():
            return
        self._widths.drawn[self.content.columns[place].key] = width
        self.columnsChanged.emit()

    @Slot(int, int, int)
    def _on_moved(self, _place: int, _before: int, _after: int) -> None:
        if self._is_fitting:
            return
        header = self.horizontalHeader()
        places = (header.logicalIndex(visual) for visual in range(header.count()))
        self._order = tuple(self.content.columns[place].key for place in places)
        self._fit_columns()
        self.columnsChanged.emit()

    @Slot()
    def _on_sorted(self) -> None:
        if not self._is_fitting:
            self.columnsChanged.emit()
