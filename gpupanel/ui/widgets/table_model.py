"""Values as the rows of a table: columns are declared, rows are brought up to date in place."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Generic, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QIcon, QPixmap
from typing_extensions import override

from gpupanel.domain.visible_text import visible_line
from gpupanel.ui import theme
from gpupanel.ui.widgets.labels import Tone
from gpupanel.ui.widgets.tips import wrapped

RowT = TypeVar("RowT")
Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()


@dataclass(frozen=True, slots=True)
class Column(Generic[RowT]):
    """One column of a table.

    Attributes:
        tip: Of the title.
        text: What its cells say.
        order: What it is sorted by; ``None``: not known, which is last in either direction. Left
            out: the column cannot be sorted by.
        is_number: Title and cells are aligned to the right.
        cell_tip: The tooltip of its cells, instead of the tooltip of their row.
        key: By which it is remembered.
        is_shown: Unless a person chose otherwise.
        icon: Before the title.
        image: Before the text of its cells.
        number_text: What a cell with that number says, for figures of several rows together.
        tone: How the text of a cell is meant, which colours it; its words say the same.
    """

    title: str
    tip: str
    text: Callable[[RowT], str]
    order: Callable[[RowT], str | float | None] | None = None
    is_number: bool = False
    cell_tip: Callable[[RowT], str] | None = None
    key: str = ""
    is_shown: bool = True
    icon: Callable[[], QIcon] | None = None
    image: Callable[[RowT], QPixmap | None] | None = None
    number_text: Callable[[float], str] | None = None
    tone: Callable[[RowT], Tone] | None = None

    @property
    def alignment(self) -> int:
        """The alignment of title and cells."""
        side = Qt.AlignmentFlag.AlignRight if self.is_number else Qt.AlignmentFlag.AlignLeft
        return int(side | Qt.AlignmentFlag.AlignVCenter)


class TableModel(QAbstractTableModel, Generic[RowT]):
    """Read-only; a row per value. Selection follows a row while it moves or its values change.

    Args:
        columns: From left to right.
        key: What distinguishes a row, and stays while its values change.
        tip: The tooltip of a row.
        sorted_by: Place of the column, and direction; left out: rows stay in the order in which
            they are given until a column is chosen.
        parent: Owns the model.
    """

    def __init__(
        self,
        columns: Sequence[Column[RowT]],
        key: Callable[[RowT], Hashable],
        tip: Callable[[RowT], str] | None = None,
        *,
        sorted_by: tuple[int, Qt.SortOrder] | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._columns = tuple(columns)
        self._key = key
        self._tip = tip
        self._sorting = sorted_by
        self._is_found: Callable[[RowT], bool] | None = None
        self._arrange: Callable[[list[RowT]], list[RowT]] | None = None
        self._given: tuple[RowT, ...] = ()
        self._matching: list[RowT] = []
        """Those that a search finds, as they were given."""
        self._sorted: list[RowT] = []
        self._rows: list[RowT] = []
        self._keys: list[Hashable] = []
        """Of the rows as they are shown."""

    @property
    def columns(self) -> tuple[Column[RowT], ...]:
        """The columns from left to right."""
        return self._columns

    @property
    def rows(self) -> tuple[RowT, ...]:
        """The rows as they are shown."""
        return tuple(self._rows)

    @property
    def all_rows(self) -> tuple[RowT, ...]:
        """The rows as they were given, also those that a search does not find."""
        return self._given

    @property
    def found_rows(self) -> tuple[RowT, ...]:
        """Those that a search finds, also where their arrangement hides them."""
        return tuple(self._sorted)

    def row(self, place: int) -> RowT:
        """The value in a row."""
        return self._rows[place]

    def place_of(self, key: Hashable) -> int | None:
        """The row of the value with that key; ``None``: it is not shown."""
        return next((place for place, each in enumerate(self._keys) if each == key), None)

    def set_columns(self, columns: Sequence[Column[RowT]], rows: Iterable[RowT]) -> None:
        """Show these rows in other columns; where their titles differ, nothing stays chosen."""
        is_same = _names(columns) == _names(self._columns)
        if not is_same:
            self.beginResetModel()
            self._given, self._sorted, self._sorting = (), [], None
            self._rows, self._keys = [], []
        self._columns = tuple(columns)
        if not is_same:
            self.endResetModel()
        self.set_rows(rows)

    def set_rows(self, rows: Iterable[RowT], *, keep_order: bool = False) -> None:
        """Show these rows, by the least that it takes.

        Args:
            rows: In the order that equal ones have.
            keep_order: As long as the same rows are there they are neither sorted nor searched
                anew, whatever has become of their values.
        """
        rows = tuple(rows)
        by_key = {self._key(row): row for row in rows}
        is_same = keep_order and by_key.keys() == {self._key(row) for row in self._given}
        self._given = rows
        if is_same:
            self._matching = [by_key[self._key(row)] for row in self._matching]
            self._show_sorted([by_key[self._key(row)] for row in self._sorted])
        else:
            self._search()

    def set_search(self, is_found: Callable[[RowT], bool] | None) -> None:
        """Show only rows of which that is true; ``None``: all."""
        self._is_found = is_found
        self._search()

    def set_arrangement(self, arrange: Callable[[list[RowT]], list[RowT]] | None) -> None:
        """Show what becomes of the sorted rows by that.

        It may move and leave out rows, and add some with keys of their own.
        """
        self._arrange = arrange
        self._show_sorted(self._sorted)

    def refresh(self) -> None:
        """Draw all cells and titles anew, such as after a change of theme."""
        self._refresh_cells()
        if self._columns:
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(self._columns) - 1)

    @override
    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Here and not by a proxy, which asks for each of thousands of rows many times."""
        self._sorting = (column, order)
        self._show_sorted(self._in_order())

    @override
    def rowCount(self, parent: Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self._rows)

    @override
    def columnCount(self, parent: Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self._columns)

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row, column = self._rows[index.row()], self._columns[index.column()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return visible_line(column.text(row))
            case Qt.ItemDataRole.ToolTipRole:
                tip = column.cell_tip or self._tip
                return None if tip is None else wrapped(tip(row))
            case Qt.ItemDataRole.TextAlignmentRole:
                return column.alignment
            case Qt.ItemDataRole.DecorationRole if column.image is not None:
                return column.image(row)
            case Qt.ItemDataRole.ForegroundRole if column.tone is not None:
                tone = column.tone(row)
                return theme.current().color(tone) if tone else None
        return None

    @override
    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if orientation is Qt.Orientation.Vertical:
            return None
        column = self._columns[section]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return visible_line(column.title)
            case Qt.ItemDataRole.ToolTipRole:
                return wrapped(column.tip) or None
            case Qt.ItemDataRole.TextAlignmentRole:
                return column.alignment
            case Qt.ItemDataRole.DecorationRole if column.icon is not None:
                return column.icon()
        return None

    def _search(self) -> None:
        is_found = self._is_found
        self._matching = [row for row in self._given if is_found is None or is_found(row)]
        self._show_sorted(self._in_order())

    def _in_order(self) -> list[RowT]:
        """The rows that a search finds, sorted; equal ones as they were given."""
        found = list(self._matching)
        if self._sorting is None:
            return found
        place, direction = self._sorting
        order = self._columns[place].order
        if order is None:
            return found
        keyed = [(order(row), row) for row in found]
        known = [each for each in keyed if each[0] is not None]
        known.sort(key=lambda each: each[0], reverse=direction is Qt.SortOrder.DescendingOrder)  # type: ignore[arg-type, return-value]
        return [row for _, row in known] + [row for key, row in keyed if key is None]

    def _show_sorted(self, rows: list[RowT]) -> None:
        self._sorted = rows
        self._show(rows if self._arrange is None else self._arrange(list(rows)))

    def _show(self, rows: list[RowT]) -> None:
        """Bring the table to these rows by the least that it takes."""
        wanted = [self._key(row) for row in rows]
        self._remove(set(wanted))
        kept = set(self._keys)
        self._reorder([key for key in wanted if key in kept])
        self._insert(rows, wanted, [at for at, key in enumerate(wanted) if key not in kept])
        self._rows, self._keys = list(rows), wanted
        self._refresh_cells()

    def _remove(self, wanted: set[Hashable]) -> None:
        gone = [place for place, key in enumerate(self._keys) if key not in wanted]
        for first, last in reversed(_stretches(gone)):
            self.beginRemoveRows(_NO_INDEX, first, last)
            del self._rows[first : last + 1], self._keys[first : last + 1]
            self.endRemoveRows()

    def _reorder(self, keys: list[Hashable]) -> None:
        before = self._keys
        if before == keys:
            return
        self.layoutAboutToBeChanged.emit()
        by_key = dict(zip(before, self._rows, strict=True))
        self._rows, self._keys = [by_key[key] for key in keys], keys
        place = {key: row for row, key in enumerate(keys)}
        kept = self.persistentIndexList()
        moved = [self.index(place[before[each.row()]], each.column()) for each in kept]
        self.changePersistentIndexList(kept, moved)
        self.layoutChanged.emit()

    def _insert(self, rows: list[RowT], keys: list[Hashable], places: list[int]) -> None:
        for first, last in _stretches(places):
            self.beginInsertRows(_NO_INDEX, first, last)
            self._rows[first:first] = rows[first : last + 1]
            self._keys[first:first] = keys[first : last + 1]
            self.endInsertRows()

    def _refresh_cells(self) -> None:
        if self._rows:
            last = self.index(len(self._rows) - 1, len(self._columns) - 1)
            self.dataChanged.emit(self.index(0, 0), last)


def _names(columns: Sequence[Column[RowT]]) -> list[tuple[str, str]]:
    return [(column.key, column.title) for column in columns]


def _stretches(places: list[int]) -> list[tuple[int, int]]:
    """Neighbouring places together: ``[1, 2, 5]`` is ``[(1, 2), (5, 5)]``."""
    stretches = []
    for _, group in groupby(enumerate(places), key=lambda each: each[1] - each[0]):
        found = [place for _, place in group]
        stretches.append((found[0], found[-1]))
    return stretches
