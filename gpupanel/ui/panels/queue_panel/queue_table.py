"""The table of the queue: one row chosen, waiting rows dragged, as high as its rows."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from gpupanel.runs.queue.entry import QueueEntry
from gpupanel.runs.queue.waiting_line import WaitingLine
from gpupanel.ui.panels.queue_panel.queue_model import QueueModel
from gpupanel.ui.theme import GRID

_ROW_HEIGHT = 4 * GRID
_MOST_ROWS = 5
"""More are scrolled: the runs below need their room, too."""
_WIDTHS = (5 * GRID, 24 * GRID, 13 * GRID, 20 * GRID)


class QueueTable(QTableView):
    """The chosen entry stays chosen while its row moves."""

    removePressed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("queue_table")
        self.setAccessibleName("Queue")
        self.queue = QueueModel(self)
        self.setModel(self.queue)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.setDragDropOverwriteMode(False)
        self.setShowGrid(False)
        self.setAlternatingRowColors(True)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(_ROW_HEIGHT)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setStretchLastSection(True)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        for column, width in enumerate(_WIDTHS):
            header.resizeSection(column, width)
        remove = QAction("Remove", self)
        remove.setShortcut(QKeySequence("Del"))
        remove.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        remove.triggered.connect(self.removePressed)
        self.addAction(remove)

    def set_line(self, line: WaitingLine) -> None:
        """Show this state of the queue."""
        chosen = self.chosen()
        self.queue.set_line(line)
        rows = min(_MOST_ROWS, self.queue.rowCount())
        frame = 2 * self.frameWidth() + 2
        self.setFixedHeight(
            self.horizontalHeader().sizeHint().height() + rows * _ROW_HEIGHT + frame
        )
        if chosen is not None:
            self.choose(chosen.id)

    def chosen(self) -> QueueEntry | None:
        """The chosen entry."""
        rows = self.selectionModel().selectedRows()
        return self.queue.entry(rows[0].row()) if rows else None

    def choose(self, entry_id: str) -> None:
        """Choose an entry, if it is there."""
        row = self.queue.row_of(entry_id)
        if row is not None:
            self.selectRow(row)
