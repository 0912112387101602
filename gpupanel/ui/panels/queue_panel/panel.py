"""What waits for its devices: reordered, edited, taken out, paused."""

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, Signal, Slot
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gpupanel.domain.problem import Problem
from gpupanel.domain.visible_text import visible_line
from gpupanel.runs.queue.entry import QueueEntry
from gpupanel.runs.queue.waiting_line import WaitingLine
from gpupanel.ui.panels.queue_panel.queue_table import QueueTable, ended_text, line_text
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.buttons import FocusKeepingButton, FoldButton
from gpupanel.ui.widgets.labels import ElidedLabel
from gpupanel.ui.widgets.layouts import row_in
from gpupanel.ui.widgets.problem_list import ProblemList
from gpupanel.ui.widgets.tips import wrapped
from gpupanel.ui.widgets.undo_button import UndoButton


class QueuePanel(QWidget):
    """A row per entry, those that have ended folded; hidden while the queue is empty."""

    runOpened = Signal(object)
    """The directory of the run that is to be shown: a :class:`Path`."""
    editRequested = Signal(str)
    """The entry with that id is to be opened in the session."""
    editLeft = Signal()
    """The entry in the session is to stay as it is."""
    moveRequested = Signal(str, int)
    """The waiting entry with that id is to get that place, counted from 1."""
    removeRequested = Signal(str)
    undoRequested = Signal()
    """The entry that was removed last is to come back."""
    pauseRequested = Signal(bool)
    """Nothing more is to be started, or it is to go on."""
    clearRequested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("queue_panel")
        self._line = WaitingLine()
        self._edited = ""
        self._removed = ""
        self._table = QueueTable(self)
        self._problems = ProblemList(self)
        self._problems.hide()
        self._words = ElidedLabel("", self)
        self._words.setObjectName("queue_words")
        self._words.setProperty("tone", "muted")
        self._open = self._button("Open r&un", "queue_open", self._open_chosen)
        self._open.setToolTip("Shows the curves, devices and log of its run in Live (Enter)")
        self._edit = self._button("E&dit", "queue_edit", self._edit_chosen)
        self._up = self._button("▲", "queue_up", self._move_up)
        self._up.setToolTip("Moves the entry up: it starts earlier")
        self._up.setAccessibleName("Move up")
        self._down = self._button("▼", "queue_down", self._move_down)
        self._down.setToolTip("Moves the entry down: it starts later")
        self._down.setAccessibleName("Move down")
        self._remove = FocusKeepingButton("Re&move", self)
        self._remove.setObjectName("queue_remove")
        self._remove.clicked.connect(self._remove_chosen)
        self._undo = UndoButton("Undo", "queue_undo", "Undo removal", self)
        self._undo.clicked.connect(self.undoRequested)
        self._ended = FoldButton("", self)
        self._ended.setObjectName("queue_ended")
        self._ended.setToolTip("Shows or hides the entries that have ended")
        self._ended.toggled.connect(self._show_line)
        self._clear = self._button("Clear e&nded", "queue_clear", self.clearRequested.emit)
        self._clear.setToolTip(
            "Removes entries that have ended or cannot start; their runs stay in the list"
        )
        self._pause = self._button("&Pause", "queue_pause", self._toggle_pause)
        self._compose()
        self._table.queue.moveRequested.connect(self.moveRequested)
        self._table.activated.connect(self._on_activated)
        self._table.removePressed.connect(self._remove_chosen)
        self._table.selectionModel().selectionChanged.connect(self._show_choices)
        self.setLine(self._line)

    def setLine(self, line: WaitingLine) -> None:
        """Show the queue as it is now; the chosen entry stays chosen."""
        self._line = line
        self._show_line()

    @Slot()
    def _show_line(self) -> None:
        line = self._line
        had_focus = self.isAncestorOf(QApplication.focusWidget() or self)
        self._table.set_line(line, with_ended=self._ended.isChecked())
        self._foot.setHidden(self._table.isHidden())
        self._ended.setText(ended_text(line))
        self._ended.setVisible(bool(self._ended.text()))
        self._say()
        self._pause.setText("Resume &queue" if line.paused else "&Pause")
        self._pause.setToolTip(
            "Starts waiting entries again"
            if line.paused
            else "Starts no more entries until you resume; running ones continue"
        )
        self._show_choices()
        self.setVisible(bool(line.entries or self._removed))
        if had_focus and self._foot.isHidden():
            # Or Qt gives it to something else of the page, where keys mean other things.
            (self._pause if self._undo.isHidden() else self._undo).setFocus()

    def setRemoved(self, name: str) -> None:
        """Offer to undo that the entry of that name was removed; empty: nothing can be undone."""
        self._removed = visible_line(name)
        self._undo.offer(f"Puts “{self._removed}” back into the queue" if name else "")
        self._say()
        self.setVisible(bool(self._line.entries or self._removed))

    def setProblems(self, problems: tuple[Problem, ...]) -> None:
        """Say what keeps the queue from working."""
        self._problems.setProblems(problems)
        self._problems.setVisible(bool(problems))

    def problems(self) -> tuple[Problem, ...]:
        """What is said to keep the queue from working."""
        return self._problems.problems()

    def setEdited(self, entry_id: str) -> None:
        """Say which entry is open in the session; empty: none is."""
        self._edited = entry_id
        self._show_choices()

    def chosen(self) -> QueueEntry | None:
        """The chosen entry."""
        return self._table.chosen()

    def choose(self, entry_id: str) -> None:
        """Choose an entry, if it is there."""
        self._table.choose(entry_id)

    def _button(self, text: str, name: str, act: Callable[[], None]) -> QPushButton:
        button = QPushButton(text, self)
        button.setObjectName(name)
        button.clicked.connect(act)
        return button

    def _compose(self) -> None:
        title = QLabel("Queue", self)
        title.setProperty("role", "title")
        title.setToolTip(
            wrapped(
                "Runs that wait for their devices. They start in this order, also while this "
                "window is closed. A later run whose devices are free may start first."
            )
        )
        self._foot = QWidget(self)
        foot = row_in(self._foot, spacing=GRID)
        head = QHBoxLayout()
        head.setSpacing(GRID)
        head.addWidget(title)
        head.addWidget(self._words, 1)
        head.addWidget(self._undo)
        head.addWidget(self._ended)
        head.addWidget(self._clear)
        head.addWidget(self._pause)
        # As wide as the wider of their texts, so that nothing moves when they change.
        self._pause.setMinimumWidth(10 * GRID)
        self._edit.setMinimumWidth(14 * GRID)
        for arrow in (self._up, self._down):
            arrow.setFixedWidth(5 * GRID)
        for button in (self._open, self._edit, self._up, self._down, self._remove):
            foot.addWidget(button)
        foot.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 0)
        layout.setSpacing(GRID)
        layout.addLayout(head)
        layout.addWidget(self._problems)
        layout.addWidget(self._table)
        layout.addWidget(self._foot)

    def _say(self) -> None:
        removed = f" · “{self._removed}” removed" if self._removed else ""
        self._words.setText(f"{line_text(self._line)}{removed}")

    @Slot()
    def _show_choices(self) -> None:
        entry = self.chosen()
        place = None if entry is None else self._line.place(entry.id)
        is_edited = entry is not None and entry.id == self._edited
        self._open.setEnabled(entry is not None and entry.run is not None)
        self._edit.setEnabled(entry is not None and entry.can_be_edited)
        self._edit.setText("Stop e&diting" if is_edited else "E&dit")
        self._edit.setToolTip(
            "Leaves the entry as it is; the session keeps the profile"
            if is_edited
            else "Opens its profile in Session; the button Put back, beside Start, brings it back"
        )
        self._up.setEnabled(place is not None and place > 1)
        self._down.setEnabled(place is not None and place < len(self._line.waiting))
        self._remove.setEnabled(entry is not None and not entry.is_running)
        self._remove.setToolTip(
            "Its run is in progress: stop it first"
            if entry is not None and entry.is_running
            else "Removes the entry (Del); a run that has ended stays in the list below"
        )
        self._clear.setVisible(self._line != self._line.without_ended())

    @Slot(QModelIndex)
    def _on_activated(self, index: QModelIndex) -> None:
        entry = self._table.queue.row(index.row()).entry
        if entry.run is not None:
            self.runOpened.emit(entry.run)

    @Slot()
    def _open_chosen(self) -> None:
        entry = self.chosen()
        if entry is not None and entry.run is not None:
            self.runOpened.emit(entry.run)

    @Slot()
    def _edit_chosen(self) -> None:
        entry = self.chosen()
        if entry is None:
            return
        if entry.id == self._edited:
            self.editLeft.emit()
        else:
            self.editRequested.emit(entry.id)

    @Slot()
    def _move_up(self) -> None:
        self._move_by(-1)

    @Slot()
    def _move_down(self) -> None:
        self._move_by(1)

    def _move_by(self, places: int) -> None:
        entry = self.chosen()
        place = None if entry is None else self._line.place(entry.id)
        if entry is not None and place is not None:
            self.moveRequested.emit(entry.id, place + places)

    @Slot()
    def _remove_chosen(self) -> None:
        entry = self.chosen()
        if entry is not None and not entry.is_running:
            self.removeRequested.emit(entry.id)

    @Slot()
    def _toggle_pause(self) -> None:
        self.pauseRequested.emit(not self._line.paused)
