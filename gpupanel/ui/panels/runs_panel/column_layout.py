"""Which columns the table of runs shows, in which order, and how wide each is."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtGui import QFontMetrics

from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.ui.panels.runs_panel.column_widths import ColumnWidths
from gpupanel.ui.panels.runs_panel.columns import COLUMNS, GIVING_WAY, SHOWN_WHERE_ANY
from gpupanel.ui.panels.runs_panel.run_rows import RunGroup, RunRow, title_font
from gpupanel.ui.panels.runs_panel.setting_columns import is_single
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.table_model import Column
from gpupanel.ui.widgets.table_view import TableView

NAME_PLACE: Final = 0
"""Of the column that is always shown."""
_FIGURES = tuple(column for column in COLUMNS if column.key in ("loss", "accuracy"))
"""One of them says in any case what a run reached."""


class ColumnLayout(QObject):
    """Columns are as a person had them; of the others those are shown that say something.

    Args:
        table: Has them, and owns this.

    Attributes:
        widths: Of the columns, as texts and a person have them.
    """

    changed = Signal()
    """A person moved, widened or sorted by a column."""

    def __init__(self, table: TableView[RunRow]) -> None:
        super().__init__(table)
        self._table, self._header = table, table.horizontalHeader()
        self.widths = ColumnWidths()
        self._runs: tuple[RunSummary, ...] = ()
        self._filled: set[str] = set()
        self._shown: dict[str, bool] = {}
        self._order: tuple[str, ...] = ()
        self._is_arranging = False
        self._more = QTimer(self, singleShot=True, interval=0)
        self._more.timeout.connect(self.fit)
        self._header.setMinimumSectionSize(6 * GRID)
        self._header.setSectionsMovable(True)
        self.show()
        self.fit()
        self._header.sectionResized.connect(self._on_resized)
        self._header.sectionMoved.connect(self._on_moved)
        self._header.sortIndicatorChanged.connect(self._on_sorted)

    @property
    def shown(self) -> dict[str, bool]:
        """Which columns a person showed or hid, against what is usual, by their keys."""
        return dict(self._shown)

    @property
    def order(self) -> tuple[str, ...]:
        """The keys of the columns from left to right, hidden ones too; empty: as usual."""
        return self._order

    @contextmanager
    def arranging(self) -> Iterator[None]:
        """What happens to columns meanwhile is no person's doing."""
        before, self._is_arranging = self._is_arranging, True
        try:
            yield
        finally:
            self._is_arranging = before

    def set_choices(
        self, shown: Mapping[str, bool], widths: Mapping[str, int], order: Sequence[str]
    ) -> None:
        """Have the columns so, as soon as they are shown anew.

        Args:
            shown: Which are shown or hidden against what is usual, by their keys.
            widths: In pixels, of those that were drawn by hand.
            order: The keys from left to right.
        """
        self._shown, self.widths.drawn = dict(shown), dict(widths)
        self._order = tuple(dict.fromkeys(order))

    def set_runs(self, runs: tuple[RunSummary, ...]) -> None:
        """Show columns that say something of these runs, and hide those that do not any more."""
        self._runs = runs
        filled = {key for key, said in SHOWN_WHERE_ANY.items() if any(map(said, runs))}
        if filled != self._filled:
            self._filled = filled
            self.show()

    def choose_only(self, keys: Sequence[str]) -> None:
        """Have these columns, from left to right, and no others, as soon as they are shown."""
        usual = {column.key: self._is_usual(column.key, column.is_shown) for column in COLUMNS}
        shown = {key: key in keys for key in usual if (key in keys) is not usual[key]}
        # What a person hid before and wants now stays in a narrow table, too.
        wanted = (key for key in keys if is_single(key) or key in self._shown)
        self._shown = shown | dict.fromkeys(wanted, True)
        hidden = [key for key in self._all_keys() if key not in keys and not is_single(key)]
        self._order = (*keys, *hidden)

    def choose(self, key: str, *, is_shown: bool) -> None:
        """Have that column or not, as soon as they are shown."""
        if is_single(key) and not is_shown:
            self._shown.pop(key, None)
        else:
            self._shown[key] = is_shown

    def shown_keys(self) -> list[str]:
        """The keys of the columns that are shown as far as there is room, from left to right."""
        columns = self._table.content.columns
        return [columns[at].key for at in self._places() if self._is_wanted(at)]

    def show(self) -> None:
        """Put the columns of the table into their order, and hide what is not to be seen."""
        columns = self._table.content.columns
        places = {column.key: place for place, column in enumerate(columns)}
        with self.arranging():
            for visual, key in enumerate(self._all_keys()):
                self._header.moveSection(self._header.visualIndex(places[key]), visual)
            for place in range(len(columns)):
                self._table.setColumnHidden(place, not self._is_wanted(place))

    @Slot()
    def fit(self) -> None:
        """Make each column as wide as what it shows, or as it was drawn.

        Those that nobody chose give way where the table is too narrow for all.
        """
        columns = self._table.content.columns
        shown = [each for each in range(len(columns)) if self._is_wanted(each)]
        bold = QFontMetrics(title_font())
        groups = [row.title for row in self._table.content.rows if isinstance(row, RunGroup)]
        least = {columns[NAME_PLACE].key: max(map(bold.horizontalAdvance, groups), default=0)}
        widths = self.widths.fit(
            self._runs,
            [columns[place] for place in shown],
            self._table.fontMetrics(),
            self._header.fontMetrics(),
            least,
            self._table.viewport().width(),
            self._giving_way(),
        )
        with self.arranging():
            # The last one is stretched from its own width, and never below.
            self._header.setStretchLastSection(False)
            for place in shown:
                width = widths.get(columns[place].key)
                self._table.setColumnHidden(place, width is None)
                if width is not None:
                    self._header.resizeSection(place, width)
            self._header.setStretchLastSection(True)
        if self.widths.has_more:
            self._more.start()

    def _all_keys(self) -> list[str]:
        """The keys of the columns from left to right, as a person moved them."""
        keys = [column.key for column in self._table.content.columns]
        moved = [key for key in self._order if key in keys]
        for place, key in enumerate(keys):
            if key not in moved:
                # One that is new stands where it usually does: behind the one before it.
                before = keys[place - 1] if place else None
                moved.insert(moved.index(before) + 1 if before is not None else 0, key)
        return moved

    def _is_wanted(self, place: int) -> bool:
        """Whether the column there is shown where there is room for it."""
        column = self._table.content.columns[place]
        usual = self._is_usual(column.key, column.is_shown)
        return place == NAME_PLACE or self._shown.get(column.key, usual)

    def _giving_way(self) -> list[str]:
        """The keys of columns that nobody chose, drew or sorts by, the least important first."""
        sorted_by = self._table.content.columns[self._header.sortIndicatorSection()].key
        kept = {key for key, shown in self._shown.items() if shown}
        kept |= {*self.widths.drawn, sorted_by}
        empty = [each.key for each in _FIGURES if not self._says_any(each)]
        order = sorted(GIVING_WAY, key=lambda key: key not in empty)
        return [key for key in order[:-1] if key not in kept]

    def _says_any(self, column: Column[RunSummary]) -> bool:
        order = column.order
        return order is not None and any(order(run) is not None for run in self._runs)

    def _is_usual(self, key: str, is_shown: bool) -> bool:
        """Whether a column is shown that nobody chose or hid."""
        return is_shown and (key not in SHOWN_WHERE_ANY or key in self._filled)

    def _places(self) -> list[int]:
        """The places of all columns, from left to right."""
        return [self._header.logicalIndex(visual) for visual in range(self._header.count())]

    def _last_shown(self) -> int:
        """The place of the column farthest to the right."""
        return [each for each in self._places() if not self._table.isColumnHidden(each)][-1]

    @Slot(int, int, int)
    def _on_resized(self, place: int, _before: int, width: int) -> None:
        # The last one takes what is left, however wide the window is.
        if not self._is_arranging and place != self._last_shown():
            self.widths.drawn[self._table.content.columns[place].key] = width
            self.changed.emit()

    @Slot(int, int, int)
    def _on_moved(self, _place: int, _before: int, _after: int) -> None:
        if not self._is_arranging:
            columns = self._table.content.columns
            self._order = tuple(columns[place].key for place in self._places())
            self.fit()
            self.changed.emit()

    @Slot()
    def _on_sorted(self) -> None:
        if not self._is_arranging:
            self.changed.emit()
