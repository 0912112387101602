"""Runs as a table: searched, sorted, and brought up to date in place."""

from itertools import groupby

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from typing_extensions import override

from gpupanel.domain.visible_text import visible_line
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.runs.history.search import matches, search_words
from gpupanel.ui.panels.runs_panel.columns import COLUMNS, run_tip
from gpupanel.ui.widgets.tips import wrapped

_Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
_ALIGN_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
STARTED = next(place for place, column in enumerate(COLUMNS) if column.key == "started")


class RunsModel(QAbstractTableModel):
    """Read-only; a row per run that is found, its columns in :data:`COLUMNS`.

    Rows keep their place while what they tell changes: they are put in order anew when a run
    comes or goes, another search is typed or another column is chosen.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all: tuple[RunSummary, ...] = ()
        self._rows: list[RunSummary] = []
        self._words: tuple[str, ...] = ()
        self._sort = (STARTED, Qt.SortOrder.DescendingOrder)

    @property
    def all_runs(self) -> tuple[RunSummary, ...]:
        """Every run, also those that the search does not find."""
        return self._all

    def set_runs(self, runs: tuple[RunSummary, ...]) -> None:
        """Show other runs; rows of runs that are still there keep their selection."""
        by_name = {run.name: run for run in runs}
        same = by_name.keys() == {run.name for run in self._all}
        self._all = runs
        self._show([by_name[run.name] for run in self._rows] if same else self._found())

    def set_search(self, text: str) -> None:
        """Show only the runs in which each word of the text is found; empty: all."""
        words = search_words(text)
        if words != self._words:
            self._words = words
            self._show(self._found())

    def run(self, row: int) -> RunSummary:
        """The run in a row."""
        return self._rows[row]

    def row_of(self, name: str) -> int | None:
        """The row of the run whose directory has that name; ``None``: it is not shown."""
        return next((row for row, run in enumerate(self._rows) if run.name == name), None)

    @override
    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self._sort = (column, order)
        self._show(self._found())

    def _found(self) -> list[RunSummary]:
        """The runs that the search finds, in the order of the chosen column, then newest first."""
        column, direction = COLUMNS[self._sort[0]], self._sort[1]
        keyed = [(column.order(run), run) for run in self._all if matches(run, self._words)]
        known = [each for each in keyed if each[0] is not None]
        known.sort(key=lambda each: each[0], reverse=direction is Qt.SortOrder.DescendingOrder)  # type: ignore[arg-type, return-value]
        return [run for _, run in known] + [run for key, run in keyed if key is None]

    def _show(self, rows: list[RunSummary]) -> None:
        """Bring the table to these rows by the least that it takes."""
        wanted = {run.name for run in rows}
        self._remove([place for place, run in enumerate(self._rows) if run.name not in wanted])
        kept = {run.name for run in self._rows}
        self._reorder([run.name for run in rows if run.name in kept])
        self._insert([(place, run) for place, run in enumerate(rows) if run.name not in kept])
        self._update(rows)

    def _remove(self, places: list[int]) -> None:
        for first, last in reversed(_stretches(places)):
            self.beginRemoveRows(_NO_INDEX, first, last)
            del self._rows[first : last + 1]
            self.endRemoveRows()

    def _reorder(self, names: list[str]) -> None:
        before = [run.name for run in self._rows]
        if before == names:
            return
        self.layoutAboutToBeChanged.emit()
        by_name = {run.name: run for run in self._rows}
        self._rows = [by_name[name] for name in names]
        place = {name: row for row, name in enumerate(names)}
        kept = self.persistentIndexList()
        moved = [self.index(place[before[each.row()]], each.column()) for each in kept]
        self.changePersistentIndexList(kept, moved)
        self.layoutChanged.emit()

    def _insert(self, new: list[tuple[int, RunSummary]]) -> None:
        by_place = dict(new)
        for first, last in _stretches([place for place, _ in new]):
            self.beginInsertRows(_NO_INDEX, first, last)
            self._rows[first:first] = [by_place[place] for place in range(first, last + 1)]
            self.endInsertRows()

    def _update(self, rows: list[RunSummary]) -> None:
        # A run that goes on took longer than the last time, whatever else it tells.
        changed = [
            place
            for place, (old, new) in enumerate(zip(self._rows, rows, strict=True))
            if old is not new or new.is_running
        ]
        self._rows = rows
        for first, last in _stretches(changed):
            self.dataChanged.emit(self.index(first, 0), self.index(last, len(COLUMNS) - 1))

    @override
    def rowCount(self, parent: _Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self._rows)

    @override
    def columnCount(self, parent: _Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    @override
    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        run, column = self._rows[index.row()], COLUMNS[index.column()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return visible_line(column.text(run))
            case Qt.ItemDataRole.ToolTipRole:
                return wrapped(run_tip(run))
            case Qt.ItemDataRole.TextAlignmentRole if column.is_number:
                return _ALIGN_RIGHT
        return None

    @override
    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> object:
        if orientation is Qt.Orientation.Vertical:
            return None
        column = COLUMNS[section]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return column.title
            case Qt.ItemDataRole.ToolTipRole:
                return column.tip
            case Qt.ItemDataRole.TextAlignmentRole if column.is_number:
                return _ALIGN_RIGHT
        return None


def _stretches(places: list[int]) -> list[tuple[int, int]]:
    """Neighbouring places together: ``[1, 2, 5]`` is ``[(1, 2), (5, 5)]``."""
    stretches = []
    for _, group in groupby(enumerate(places), key=lambda each: each[1] - each[0]):
        found = [place for _, place in group]
        stretches.append((found[0], found[-1]))
    return stretches
