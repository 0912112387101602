"""Finds a setting or an action by a part of its name, and goes there."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QLineEdit, QVBoxLayout, QWidget
from typing_extensions import override

from gpupanel.domain.visible_text import visible_line
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.screen_fit import resize_within_screen
from gpupanel.ui.widgets.table_model import Column, TableModel
from gpupanel.ui.widgets.table_view import TableView
from gpupanel.ui.widgets.tips import teach

_ROW_HEIGHT = 28
_LIST_KEYS = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)
_WORD = re.compile(r"\w+")
_NOTHING = "Nothing is called so."


@dataclass(frozen=True, slots=True)
class FinderEntry:
    """Something that a person can go to, or have done.

    Attributes:
        name: As the window calls it.
        place: The section or the menu that has it.
        keys: That do the same; empty: none.
        tip: What it is, or why it cannot be done now.
        more: What else it is found by, such as the names of its choices.
        is_possible: Whether it can be done now.
        go: Does it.
    """

    name: str
    place: str
    keys: str
    tip: str
    more: str
    is_possible: bool
    go: Callable[[], object]


_COLUMNS: tuple[Column[FinderEntry], ...] = (
    Column("Name", "", lambda each: each.name),
    Column("Where", "", lambda each: each.place if each.is_possible else f"{each.place}: not now"),
    Column("Keys", "", lambda each: each.keys),
)


class FinderDialog(QDialog):
    """A line, what is found below it, and a sentence about the one that is chosen.

    Args:
        entries: All that can be found, in the order of the window.
        window: Stands before it.
    """

    def __init__(self, entries: Sequence[FinderEntry], window: QWidget) -> None:
        super().__init__(window)
        self.setObjectName("finder")
        self.setWindowTitle("Find a setting or an action")
        self._entries = tuple(entries)
        self._line = QLineEdit(self)
        self._line.setObjectName("finder_line")
        self._line.setPlaceholderText("Learning rate, augmentation, ResNet50, stop…")
        teach(self._line, "Find", "Parts of a name; Return goes to what is chosen in the list.")
        self._line.setToolTip("")
        self._line.setClearButtonEnabled(True)
        self._line.installEventFilter(self)
        self._line.textChanged.connect(self._search)
        self._line.returnPressed.connect(self._go)
        model: TableModel[FinderEntry] = TableModel(_COLUMNS, key=id)
        self._model = model
        self._table = TableView(model, "finder_table", "What is found", _ROW_HEIGHT)
        self._table.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._table.horizontalHeader().hide()
        self._table.horizontalHeader().setStretchLastSection(True)
        self._table.clicked.connect(self._go_to_row)
        self._tip = QLabel(self)
        self._tip.setObjectName("finder_tip")
        self._tip.setTextFormat(Qt.TextFormat.PlainText)
        self._tip.setProperty("tone", "muted")
        self._tip.setWordWrap(True)
        self._tip.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self._tip.setFixedHeight(3 * self._tip.fontMetrics().lineSpacing())
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(GRID)
        layout.addWidget(self._line)
        layout.addWidget(self._table, 1)
        layout.addWidget(self._tip)
        resize_within_screen(self, 80 * GRID, 56 * GRID)
        model.set_rows(self._entries)
        self._table.setColumnWidth(0, 34 * GRID)
        self._table.setColumnWidth(1, 26 * GRID)
        self._table.selectionModel().currentRowChanged.connect(self._show_tip)
        self._search("")

    def found(self) -> tuple[FinderEntry, ...]:
        """What the line finds, the best first."""
        return self._model.rows

    def choose(self, place: int) -> None:
        """Choose one of what is found."""
        self._table.setCurrentIndex(self._model.index(place, 0))

    def chosen(self) -> FinderEntry | None:
        """What Return goes to; ``None``: nothing was found."""
        place = self._table.currentIndex().row()
        return self._model.row(place) if 0 <= place < len(self._model.rows) else None

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        is_press = event.type() is QEvent.Type.KeyPress
        if is_press and isinstance(event, QKeyEvent) and event.key() in _LIST_KEYS:
            QApplication.sendEvent(self._table, event)
            return True
        return super().eventFilter(watched, event)

    @Slot(str)
    def _search(self, text: str) -> None:
        words = text.casefold().split()
        ranked = [(_rank(each, words), each) for each in self._entries]
        found = [each for each in ranked if each[0] is not None]
        # Sorting keeps the window's order among equals.
        found.sort(key=lambda each: (not each[1].is_possible, each[0]))
        self._model.set_rows([entry for _, entry in found])
        self._table.setCurrentIndex(self._model.index(0, 0) if found else QModelIndex())
        self._table.scrollToTop()
        self._show_tip()

    @Slot()
    def _show_tip(self) -> None:
        entry = self.chosen()
        self._tip.setText(_NOTHING if entry is None else visible_line(entry.tip))

    @Slot(QModelIndex)
    def _go_to_row(self, index: QModelIndex) -> None:
        self.choose(index.row())
        self._go()

    @Slot()
    def _go(self) -> None:
        entry = self.chosen()
        if entry is not None and entry.is_possible:
            # First: the window has the focus again when it is done.
            self.accept()
            entry.go()


def _rank(entry: FinderEntry, words: Sequence[str]) -> int | None:
    """How well an entry fits, 0 best; ``None``: it has not every word."""
    name, more = entry.name.casefold(), f"{entry.place} {entry.more}".casefold()
    # Within a word of these nobody means it: "rate" is no strategy.
    begins = (*more.split(), *_WORD.findall(more))
    if not all(word in name or any(each.startswith(word) for each in begins) for word in words):
        return None
    if not words or name.startswith(words[0]):
        return 0
    if any(part.startswith(words[0]) for part in name.split()):
        return 1
    return 2 if all(word in name for word in words) else 3
