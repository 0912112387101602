"""The table of the queue: one row chosen, waiting rows dragged, as high as its rows."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QMimeData, QModelIndex, QObject, QSize, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.domain.hours import until_text
from gpupanel.runs.queue.entry import EntryState, QueueEntry
from gpupanel.runs.queue.waiting_line import WaitingLine
from gpupanel.ui import formatting
from gpupanel.ui.run_texts import outcome_text
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.table_model import Column, Index, TableModel
from gpupanel.ui.widgets.table_view import TableView


def line_text(line: WaitingLine) -> str:
    """How many wait and run, in one short line."""
    waiting, running = len(line.waiting), len(line.running)
    parts = [f"{running:,} running" if running else "", f"{waiting:,} waiting" if waiting else ""]
    parts.append("paused: nothing more is started" if line.paused else "")
    return " · ".join(part for part in parts if part) or "none waiting"


def ended_entries(line: WaitingLine) -> tuple[QueueEntry, ...]:
    """The entries that have ended, well or not; what could not start is to be edited yet."""
    return tuple(each for each in line.entries if each.state is EntryState.ENDED)


def ended_text(line: WaitingLine) -> str:
    """How many have ended, and how many of them badly: "4 ended, 1 failed"; empty: none."""
    ended = ended_entries(line)
    bad = [each for each in ended if each.outcome and not each.outcome.was_successful]
    failed = f", {len(bad):,} failed" if bad else ""
    return f"{len(ended):,} ended{failed}" if ended else ""


def state_text(entry: QueueEntry) -> str:
    """The state of an entry, in words."""
    match entry.state:
        case EntryState.WAITING:
            words = "Suspended" if entry.is_suspended else "Waiting"
            return f"{words}{until_text(entry.begin_s, time.time())}"
        case EntryState.RUNNING:
            return "Running"
        case EntryState.REFUSED:
            return "Cannot start"
        case EntryState.ENDED:
            return outcome_text(entry.outcome) if entry.outcome is not None else "Ended"


def needed_devices_text(entry: QueueEntry) -> str:
    """The devices that it needs."""
    names = [formatting.short_device_name(name) for name in entry.devices]
    return ", ".join(names) or formatting.DASH


def reason_text(entry: QueueEntry, *, is_paused: bool) -> str:
    """Why it waits, or what became of it.

    Args:
        entry: The entry.
        is_paused: Nothing is started now.
    """
    if entry.is_waiting:
        return "The queue is paused." if is_paused else entry.waits or formatting.DASH
    if entry.problems:
        return entry.problems[0].message
    return "" if entry.run is None else entry.run.name


def tip(entry: QueueEntry, *, is_paused: bool) -> str:
    """All that is known of it, a line each."""
    lines = [entry.name, reason_text(entry, is_paused=is_paused)]
    for problem in entry.problems:
        lines += [problem.message, problem.hint]
    lines.append("" if entry.run is None else str(entry.run))
    return "\n".join(dict.fromkeys(line for line in lines if line))


_MIME = "application/x-gpupanel-queue-entry"


@dataclass(frozen=True, slots=True)
class QueueRow:
    """An entry where it stands.

    Attributes:
        place: Among those that wait, counted from 1; ``None``: it does not wait.
        is_paused: Nothing is started now.
    """

    entry: QueueEntry
    place: int | None
    is_paused: bool


COLUMNS: tuple[Column[QueueRow], ...] = (
    Column(
        "#",
        "Position in the queue. The first entry whose devices are free starts.",
        lambda row: "" if row.place is None else str(row.place),
    ),
    Column(
        "Profile",
        "The name of the profile that the run is started with.",
        lambda row: row.entry.name,
    ),
    Column(
        "State",
        "Whether it waits, runs or has ended, and how.",
        lambda row: state_text(row.entry),
    ),
    Column(
        "Devices",
        "The physical devices that the run needs.",
        lambda row: needed_devices_text(row.entry),
    ),
    Column(
        "Remark",
        "Why it waits, or its result.",
        lambda row: reason_text(row.entry, is_paused=row.is_paused),
    ),
)


class QueueModel(TableModel[QueueRow]):
    """A row per entry: what runs, what waits in its order, what cannot start, what has ended.

    A drop changes nothing here: it asks for the move, and the queue that follows is shown.
    """

    moveRequested = Signal(str, int)
    """The id of a waiting entry, and the place among the waiting ones that it is to get."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(
            COLUMNS,
            lambda row: row.entry.id,
            lambda row: tip(row.entry, is_paused=row.is_paused),
            parent=parent,
        )

    def set_line(self, line: WaitingLine, *, with_ended: bool = True) -> None:
        """Show another state of the queue, with or without what has ended."""
        refused = (each for each in line.entries if each.state is EntryState.REFUSED)
        ended = ended_entries(line) if with_ended else ()
        entries = (*line.running, *line.waiting, *refused, *ended)
        places = {each.id: place for place, each in enumerate(line.waiting, start=1)}
        self.set_rows(QueueRow(each, places.get(each.id), line.paused) for each in entries)

    @override
    def flags(self, index: Index) -> Qt.ItemFlag:
        usual = super().flags(index)
        if not index.isValid():
            return usual | Qt.ItemFlag.ItemIsDropEnabled
        waits = self.row(index.row()).entry.is_waiting
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
        data.setData(_MIME, self.row(indexes[0].row()).entry.id.encode())
        return data

    @override
    def dropMimeData(
        self, data: QMimeData, action: Qt.DropAction, row: int, column: int, parent: Index
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
        before = self.rows if row < 0 else self.rows[:row]
        return 1 + sum(each.entry.is_waiting and each.entry.id != entry_id for each in before)


_ROW_HEIGHT = 4 * GRID
_MOST_ROWS = 5
"""More are scrolled: the runs below need their room, too."""
_WIDTHS = (5 * GRID, 24 * GRID, 13 * GRID, 20 * GRID)
_NAME, _STATE = 1, 2
_WIDEST_STATE = 22 * GRID
"""Pixels: "Suspended until 22:00"."""
_LEAST_LAST = 13 * GRID
"""Pixels of the last column."""


class QueueTable(TableView[QueueRow]):
    """The chosen entry stays chosen while its row moves; without a row it is hidden."""

    removePressed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        self.queue = QueueModel()
        super().__init__(self.queue, "queue_table", "Queue", _ROW_HEIGHT, parent)
        self.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.setDragDropOverwriteMode(False)
        for column, width in enumerate(_WIDTHS):
            self.horizontalHeader().resizeSection(column, width)
        self._fitted, self._fitted_state = _WIDTHS[_NAME], _WIDTHS[_STATE]
        remove = QAction("Remove", self)
        remove.setShortcut(QKeySequence("Del"))
        remove.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        remove.triggered.connect(self.removePressed)
        self.addAction(remove)
        # Where a small window has no room for all rows the runs below keep theirs.
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        self.horizontalScrollBar().rangeChanged.connect(self.updateGeometry)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_names()

    def set_line(self, line: WaitingLine, *, with_ended: bool) -> None:
        """Show this state of the queue, with or without what has ended."""
        chosen = self.chosen()
        before = None if chosen is None else self.queue.place_of(chosen.id)
        self.queue.set_line(line, with_ended=with_ended)
        self.setVisible(self.queue.rowCount() > 0)
        self._fit_states()
        self._fit_names()
        self.updateGeometry()
        if chosen is not None:
            self._follow(self.queue.place_of(chosen.id), before)

    @override
    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self._height(_MOST_ROWS))

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(super().minimumSizeHint().width(), self._height(1))

    def _height(self, most_rows: int) -> int:
        """What the head, the rows and a bar that scrolls to the side take, in pixels."""
        rows = min(most_rows, self.queue.rowCount())
        head = self.horizontalHeader().sizeHint().height() + 2 * self.frameWidth() + 2
        bar = self.horizontalScrollBar()
        scrolls = bar.sizeHint().height() if bar.maximum() > 0 else 0
        return head + rows * _ROW_HEIGHT + scrolls

    def chosen(self) -> QueueEntry | None:
        """The chosen entry."""
        rows = self.chosen_rows()
        return rows[0].entry if rows else None

    def choose(self, entry_id: str) -> None:
        """Choose an entry, if it is there."""
        row = self.queue.place_of(entry_id)
        if row is not None:
            self.selectRow(row)

    def _fit_states(self) -> None:
        """Have states whole: what waits for its hours says until when."""
        header = self.horizontalHeader()
        if header.sectionSize(_STATE) != self._fitted_state:
            return  # drawn to another width by hand
        wanted = min(self.sizeHintForColumn(_STATE), _WIDEST_STATE)
        header.resizeSection(_STATE, max(_WIDTHS[_STATE], wanted))
        self._fitted_state = header.sectionSize(_STATE)

    def _fit_names(self) -> None:
        """Have names whole as far as they leave half of the table to the rest."""
        header = self.horizontalHeader()
        if not self.queue.rowCount() or header.sectionSize(_NAME) != self._fitted:
            return  # empty, or drawn to another width by hand
        last = header.count() - 1
        others = sum(header.sectionSize(each) for each in range(last) if each != _NAME)
        # The last column takes what is left: with less than its least the table would scroll.
        room = min(self.viewport().width() // 2, self.viewport().width() - others - _LEAST_LAST)
        wanted = min(self.sizeHintForColumn(_NAME), room)
        header.resizeSection(_NAME, max(_WIDTHS[_NAME], wanted))
        self._fitted = header.sectionSize(_NAME)

    def _follow(self, place: int | None, before: int | None) -> None:
        """Keep the chosen row visible; when it is gone, choose none: Del is for one entry."""
        if place is None:
            self.clearSelection()
            self.setCurrentIndex(QModelIndex())
        elif place != before:
            self.scrollTo(self.queue.index(place, 0))
