"""The differences of the compared runs' profiles, as a table that can be copied."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QGuiApplication, QIcon, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QPushButton,
    QStackedLayout,
    QWidget,
)
from typing_extensions import override

from gpupanel.domain.visible_text import visible_line
from gpupanel.runs.history.differences import Difference
from gpupanel.ui import formatting, theme
from gpupanel.ui.panels.comparison_panel import run_styles
from gpupanel.ui.panels.comparison_panel.run_styles import MARK_SIZE
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import EmptyState
from gpupanel.ui.widgets.layouts import column_in
from gpupanel.ui.widgets.table_model import Column, TableModel
from gpupanel.ui.widgets.table_view import TableView

_ABSENT = "This run's profile has no such key, or can no longer be read."
_SAME = "="
_SAME_TIP = f"“{_SAME}”: as the baseline has it"
_ROW_HEIGHT = 28
_WIDEST_COLUMN, _NARROWEST_COLUMN = 320, 17 * GRID
"""Of what a run has: where all have room, and before they are scrolled to."""
_KEY: Column[Difference] = Column("Key", "", lambda each: each.key, cell_tip=lambda each: each.key)


class _Table(TableView[Difference]):
    """Its columns are as wide as their texts, or share what room there is."""

    def __init__(self, content: TableModel[Difference]) -> None:
        title = "Differences between the runs' profiles"
        super().__init__(content, "difference_table", title, _ROW_HEIGHT)
        self._whole: list[int] = []
        self._shared: list[int] = []
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setIconSize(MARK_SIZE)
        # Long names differ at their end: a trial's values, or when a run was started.
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        header = self.horizontalHeader()
        header.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        header.setProperty("hasIcons", "true")

    def fit(self) -> None:
        """Measure all texts, which are others than before."""
        self.resizeColumnsToContents()
        places = range(self.content.columnCount())
        widths = (self.columnWidth(place) + 2 * GRID for place in places)
        self._whole = [min(width, _WIDEST_COLUMN) for width in widths]
        self._share(self._whole)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # The last one is stretched by Qt; of the others a person may have drawn one.
        drawn = [self.columnWidth(place) for place in range(len(self._shared))]
        if self._shared and drawn[:-1] == self._shared[:-1]:
            self._share(self._whole)

    def _share(self, whole: Sequence[int]) -> None:
        key, *runs = whole
        room = self.viewport().width() - key
        if sum(runs) > room:
            most = max(room // max(1, len(runs)), _NARROWEST_COLUMN)
            runs = [min(width, most) for width in runs]
        self._shared = [key, *runs]
        # The last one is stretched from its own width, and never below.
        self.horizontalHeader().setStretchLastSection(False)
        for place, width in enumerate(self._shared):
            self.setColumnWidth(place, width)
        self.horizontalHeader().setStretchLastSection(True)


class DifferenceTable(QWidget):
    """A row for each key that differs, a column for each run."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._styles: tuple[int, ...] = ()
        self._content = TableModel((_KEY,), lambda each: each.key)
        self._table = _Table(self._content)
        self._copy = QPushButton("Copy &table")
        self._copy.setObjectName("copy_differences")
        self._copy.setToolTip("Copies the whole table, for a spreadsheet or a text (Ctrl+C)")
        self._copy.clicked.connect(self.copy)
        shortcut = QShortcut(QKeySequence(QKeySequence.StandardKey.Copy), self._table)
        shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
        shortcut.activated.connect(self._copy_chosen)
        foot = QHBoxLayout()
        foot.addWidget(self._copy)
        foot.addStretch(1)
        filled = QWidget()
        column = column_in(filled)
        column.addWidget(self._table, 1)
        column.addLayout(foot)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(
            EmptyState(
                "No differences",
                "All of these runs had the same profile, the same devices and the same shares.",
            )
        )
        self._stack.addWidget(filled)
        theme.changes.changed.connect(self._content.refresh)

    def setDifferences(
        self,
        titles: Sequence[str],
        found: Sequence[Difference],
        styles: Sequence[int] = (),
        *,
        has_baseline: bool = False,
    ) -> None:
        """Show what differs between the runs of these names.

        Args:
            titles: Of the runs.
            found: What differs.
            styles: Numbers of the runs' colours and kinds of line; left out: by their places.
            has_baseline: The first run is what the others are compared with: of these only what
                differs from it is written out.
        """
        self._styles = tuple(styles) or tuple(range(len(titles)))
        runs = (
            self._run_column(place, title, has_baseline=has_baseline)
            for place, title in enumerate(titles)
        )
        self._content.set_columns((_KEY, *runs), found)
        self._table.fit()
        self._stack.setCurrentIndex(1 if found else 0)

    def text(self) -> str:
        """The whole table, its columns set apart by tabs."""
        return self._rows_text(self._content.rows)

    @Slot()
    def copy(self) -> None:
        """Put the whole table on the clipboard."""
        QGuiApplication.clipboard().setText(self.text())

    @Slot()
    def _copy_chosen(self) -> None:
        rows = self._table.chosen_rows()
        QGuiApplication.clipboard().setText(self._rows_text(rows) if rows else self.text())

    def _rows_text(self, rows: Sequence[Difference]) -> str:
        columns = self._content.columns
        lines = [[visible_line(column.title) for column in columns]]
        lines += [[visible_line(column.text(row)) for column in columns] for row in rows]
        return "\n".join("\t".join(line) for line in lines)

    def _run_column(self, place: int, title: str, *, has_baseline: bool) -> Column[Difference]:
        is_baseline, named = has_baseline and place == 0, visible_line(title)
        return Column(
            f"{title} (baseline)" if is_baseline else title,
            f"{named}\n{_SAME_TIP}" if has_baseline and place else named,
            partial(_value_to_baseline if has_baseline and place else _value, place),
            cell_tip=partial(_value_tip, place),
            icon=partial(self._mark, place),
        )

    def _mark(self, place: int) -> QIcon:
        ratio = self.devicePixelRatioF()
        return QIcon(run_styles.mark(self._styles[place], is_hidden=False, ratio=ratio))


def _value(place: int, difference: Difference) -> str:
    value = difference.values[place]
    return formatting.DASH if value is None else value


def _value_to_baseline(place: int, difference: Difference) -> str:
    is_same = difference.values[place] == difference.values[0]
    return _SAME if is_same else _value(place, difference)


def _value_tip(place: int, difference: Difference) -> str:
    value = difference.values[place]
    return _ABSENT if value is None else value
