"""The table of the queue: one row chosen, waiting rows dragged, as high as its rows."""

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QWidget

from gpupanel.runs.queue.entry import QueueEntry
from gpupanel.runs.queue.waiting_line import WaitingLine
from gpupanel.ui.panels.queue_panel.queue_model import QueueModel, QueueRow
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.table_view import TableView

_ROW_HEIGHT = 4 * GRID
_MOST_ROWS = 5
"""More are scrolled: the runs below need their room, too."""
_WIDTHS = (5 * GRID, 24 * GRID, 13 * GRID, 20 * GRID)


class QueueTable(TableView[QueueRow]):
    """The chosen entry stays chosen while its row moves."""

    removePressed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        self.queue = QueueModel()
        super().__init__(self.queue, "queue_table", "Queue", _ROW_HEIGHT, parent)
        self.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.setDragDropOverwriteMode(False)
        for column, width in enumerate(_WIDTHS):
            self.horizontalHeader().resizeSection(column, width)
        remove = QAction("Remove", self)
        remove.setShortcut(QKeySequence("Del"))
        remove.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        remove.triggered.connect(self.removePressed)
        self.addAction(remove)

    def set_line(self, line: WaitingLine) -> None:
        """Show this state of the queue."""
        chosen = self.chosen()
        before = None if chosen is None else self.queue.place_of(chosen.id)
        self.queue.set_line(line)
        rows = min(_MOST_ROWS, self.queue.rowCount())
        frame = 2 * self.frameWidth() + 2
        self.setFixedHeight(
            self.horizontalHeader().sizeHint().height() + rows * _ROW_HEIGHT + frame
        )
        if chosen is not None:
            self._follow(self.queue.place_of(chosen.id), before)

    def chosen(self) -> QueueEntry | None:
        """The chosen entry."""
        rows = self.chosen_rows()
        return rows[0].entry if rows else None

    def choose(self, entry_id: str) -> None:
        """Choose an entry, if it is there."""
        row = self.queue.place_of(entry_id)
        if row is not None:
            self.selectRow(row)

    def _follow(self, place: int | None, before: int | None) -> None:
        """Keep the chosen row in sight; when it is gone, choose none: Del is for one entry."""
        if place is None:
            self.clearSelection()
            self.setCurrentIndex(QModelIndex())
        elif place != before:
            self.scrollTo(self.queue.index(place, 0))
