"""What the compared runs were told differently, as a table that can be copied."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QGuiApplication, QIcon, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QPushButton,
    QStackedLayout,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from gpupanel.domain.visible_text import visible_line
from gpupanel.runs.history.differences import Difference
from gpupanel.ui import formatting, theme
from gpupanel.ui.panels.comparison_panel import run_styles
from gpupanel.ui.panels.comparison_panel.run_styles import MARK_SIZE
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.empty_state import EmptyState
from gpupanel.ui.widgets.tips import wrapped

_ABSENT = "This run's profile has no such key, or cannot be read any more."
_WIDEST_COLUMN = 320


class DifferenceTable(QWidget):
    """A row for each key that differs, a column for each run."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._table = self._make_table()
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
        column = QVBoxLayout(filled)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
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
        theme.changes.changed.connect(self._mark_columns)

    def setDifferences(self, titles: Sequence[str], found: Sequence[Difference]) -> None:
        """Show what differs between the runs of these names."""
        self._table.clear()
        self._table.setRowCount(len(found))
        self._table.setColumnCount(1 + len(titles))
        self._table.setHorizontalHeaderLabels(["Key", *titles])
        for row, difference in enumerate(found):
            self._table.setItem(row, 0, _item(difference.key))
            for column, value in enumerate(difference.values, start=1):
                self._table.setItem(row, column, _value_item(value))
        self._mark_columns()
        self._fit_columns()
        self._stack.setCurrentIndex(1 if found else 0)

    def text(self) -> str:
        """The whole table, its columns set apart by tabs."""
        return self._rows_text(range(self._table.rowCount()))

    @Slot()
    def copy(self) -> None:
        """Put the whole table on the clipboard."""
        QGuiApplication.clipboard().setText(self.text())

    @Slot()
    def _copy_chosen(self) -> None:
        rows = sorted({index.row() for index in self._table.selectedIndexes()})
        QGuiApplication.clipboard().setText(self._rows_text(rows) if rows else self.text())

    def _rows_text(self, rows: Sequence[int]) -> str:
        count = self._table.columnCount()
        heads = [self._table.horizontalHeaderItem(column) for column in range(count)]
        lines = ["\t".join("" if head is None else head.text() for head in heads)]
        for row in rows:
            items = [self._table.item(row, column) for column in range(count)]
            lines.append("\t".join("" if item is None else item.text() for item in items))
        return "\n".join(lines)

    def _make_table(self) -> QTableWidget:
        table = QTableWidget()
        table.setObjectName("difference_table")
        table.setAccessibleName("Differences between the runs' profiles")
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setShowGrid(False)
        table.setAlternatingRowColors(True)
        table.setWordWrap(False)
        table.setTabKeyNavigation(False)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(28)
        table.setIconSize(MARK_SIZE)
        header = table.horizontalHeader()
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setStretchLastSection(True)
        return table

    def _fit_columns(self) -> None:
        self._table.resizeColumnsToContents()
        for column in range(self._table.columnCount()):
            width = self._table.columnWidth(column) + 2 * GRID
            self._table.setColumnWidth(column, min(width, _WIDEST_COLUMN))

    @Slot()
    def _mark_columns(self) -> None:
        for place in range(self._table.columnCount() - 1):
            head = self._table.horizontalHeaderItem(1 + place)
            if head is not None:
                ratio = self.devicePixelRatioF()
                head.setIcon(QIcon(run_styles.mark(place, is_hidden=False, ratio=ratio)))


def _item(text: str) -> QTableWidgetItem:
    item = QTableWidgetItem(visible_line(text))
    item.setToolTip(wrapped(text))
    return item


def _value_item(value: str | None) -> QTableWidgetItem:
    if value is not None:
        return _item(value)
    item = QTableWidgetItem(formatting.DASH)
    item.setToolTip(wrapped(_ABSENT))
    return item
