"""The queue as a table whose waiting rows can be dragged."""

from collections.abc import Sequence

from PySide6.QtCore import (
    QAbstractTableModel,
    QMimeData,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)
from typing_extensions import override

from gpupanel.domain.visible_text import visible_line
from gpupanel.runs.queue.entry import QueueEntry
from gpupanel.runs.queue.waiting_line import WaitingLine
from gpupanel.ui.panels.queue_panel.queue_text import device_words, state_words, tip, why_words
from gpupanel.ui.widgets.tips import wrapped

_Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
_MIME = "application/x-gpupanel-queue-entry"

COLUMNS = (
    ("#", "Position in the queue. The first entry whose devices are free starts."),
    ("Profile", "The name of the profile that the run is started with."),
    ("State", "Whether it waits, runs or has ended, and how."),
    ("Devices", "The physical devices that the run needs."),
    ("Remark", "Why it waits, or its result."),
)


class QueueModel(QAbstractTableModel):
    """A row per entry: what runs first, then what waits in its order, then what has ended.

    A drop changes nothing here: it asks for the move, and the queue that follows is shown.
    """

    moveRequested = Signal(str, int)
    """The id of a waiting entry, and the place among the waiting ones that it is to get."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._line = WaitingLine()
        self._entries: tuple[QueueEntry, ...] = ()

    def set_line(self, line: WaitingLine) -> None:
        """Show another state of the queue; rows that stay keep their place and selection."""
        ended = (each for each in line.entries if not each.is_waiting and not each.is_running)
        entries = (*line.running, *line.waiting, *ended)
        same_rows = [each.id for each in entries] == [each.id for each in self._entries]
        if same_rows and entries:
            self._line, self._entries = line, entries
            last = self.index(len(entries) - 1, len(COLUMNS) - 1)
            self.dataChanged.emit(self.index(0, 0), last)
            return
        self.beginResetModel()
        self._line, self._entries = line, entries
        self.endResetModel()

    def entry(self, row: int) -> QueueEntry:
        """The entry in a row."""
        return self._entries[row]

    def row_of(self, entry_id: str) -> int | None:
        """The row of an entry, or ``None`` when it is gone."""
        ids = [each.id for each in self._entries]
        return ids.index(entry_id) if entry_id in ids else None

    @override
    def rowCount(self, parent: _Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self._entries)

    @override
    def columnCount(self, parent: _Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    @override
    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        entry = self._entries[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return visible_line(self._texts(entry)[index.column()])
            case Qt.ItemDataRole.ToolTipRole:
                return wrapped(tip(entry, is_paused=self._line.paused))
        return None

    @override
    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if orientation is Qt.Orientation.Vertical:
            return None
        title, words = COLUMNS[section]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return title
            case Qt.ItemDataRole.ToolTipRole:
                return words
        return None

    @override
    def flags(self, index: _Index) -> Qt.ItemFlag:
        usual = super().flags(index)
        if not index.isValid():
            return usual | Qt.ItemFlag.ItemIsDropEnabled
        waits = self._entries[index.row()].is_waiting
        return usual | Qt.ItemFlag.ItemIsDragEnabled if waits else usual

    @override
    def supportedDropActions(self) -> Qt.DropAction:
        return Qt.DropAction.MoveAction

    @override
    def mimeTypes(self) -> list[str]:
        return [_MIME]

    @override
    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        data = QMimeData()
        data.setData(_MIME, self._entries[indexes[0].row()].id.encode())
        return data

    @override
    def dropMimeData(
        self, data: QMimeData, action: Qt.DropAction, row: int, column: int, parent: _Index
    ) -> bool:
        if not data.hasFormat(_MIME):
            return False
        entry_id = bytes(data.data(_MIME).data()).decode()
        target = parent.row() if parent.isValid() else row
        self.moveRequested.emit(entry_id, self._place_before(target, entry_id))
        # The view must not remove the row: it moves when the queue says so.
        return False

    def _place_before(self, row: int, entry_id: str) -> int:
        """The place among the waiting ones of what is dropped before a row; -1: at the end."""
        before = self._entries if row < 0 else self._entries[:row]
        return 1 + sum(each.is_waiting and each.id != entry_id for each in before)

    def _texts(self, entry: QueueEntry) -> tuple[str, ...]:
        place = self._line.place(entry.id)
        return (
            "" if place is None else str(place),
            entry.name,
            state_words(entry),
            device_words(entry),
            why_words(entry, is_paused=self._line.paused),
        )
