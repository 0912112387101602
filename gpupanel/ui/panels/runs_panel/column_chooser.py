"""Which columns the table of runs has, and in which order: a list to search, tick and drag."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QModelIndex, Qt, Signal, Slot
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gpupanel.domain.visible_text import visible_line
from gpupanel.ui.panels.runs_panel.setting_columns import ColumnOffer
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.tips import wrapped

_KEY = Qt.ItemDataRole.UserRole
_SEARCHED = Qt.ItemDataRole.UserRole + 1
_HELP = (
    "Tick a column to show it (Space). Drag it, or press Alt+Up and Alt+Down, to move it. In a "
    "narrow window columns that you did not choose give way."
)


class ColumnChooser(QDialog):
    """The columns that are shown come first, as they stand in the table, then what else there is.

    Every change is shown at once.
    """

    changed = Signal(object)
    """The keys of the columns that are to be shown, from left to right: a tuple of texts."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("column_chooser")
        self.setWindowTitle("Columns")
        self._fixed = ""
        self._search = QLineEdit(self)
        self._search.setObjectName("column_search")
        self._search.setPlaceholderText("Search settings and metrics")
        self._search.setAccessibleName("Search columns")
        self._search.setClearButtonEnabled(True)
        self._search.textChanged.connect(self._on_search)
        self._list = QListWidget(self)
        self._list.setObjectName("column_list")
        self._list.setAccessibleName("Columns")
        self._list.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self._list.setDefaultDropAction(Qt.DropAction.MoveAction)
        self._list.setUniformItemSizes(True)
        self._list.itemChanged.connect(self._emit)
        self._list.model().rowsMoved.connect(self._on_moved)
        self._list.currentRowChanged.connect(self._show_moves)
        self._up = self._button("Move &up", "column_up", "Alt+Up", self._move_up)
        self._down = self._button("Move &down", "column_down", "Alt+Down", self._move_down)
        self._compose()
        self.resize(56 * GRID, 64 * GRID)

    def setOffers(self, shown: Sequence[ColumnOffer], others: Sequence[ColumnOffer]) -> None:
        """Offer these columns.

        Args:
            shown: From left to right; the first one cannot be hidden.
            others: Those that are hidden.
        """
        chosen = self._list.currentRow()
        key = self._list.item(chosen).data(_KEY) if chosen >= 0 else None
        self._list.blockSignals(True)
        self._list.clear()
        self._fixed = shown[0].key if shown else ""
        for offer in shown:
            self._list.addItem(self._item(offer, is_shown=True))
        for offer in others:
            self._list.addItem(self._item(offer, is_shown=False))
        for place in range(self._list.count()):
            if self._list.item(place).data(_KEY) == key:
                self._list.setCurrentRow(place)
        self._list.blockSignals(False)
        self._on_search(self._search.text())

    def keys(self) -> tuple[str, ...]:
        """The columns that are ticked, from left to right."""
        items = (self._list.item(place) for place in range(self._list.count()))
        return tuple(
            item.data(_KEY) for item in items if item.checkState() is Qt.CheckState.Checked
        )

    def _compose(self) -> None:
        note = QLabel(_HELP, self)
        note.setWordWrap(True)
        note.setProperty("tone", "muted")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        moves = QHBoxLayout()
        moves.setSpacing(GRID)
        moves.addWidget(self._up)
        moves.addWidget(self._down)
        moves.addStretch(1)
        moves.addWidget(buttons)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(GRID)
        layout.addWidget(self._search)
        layout.addWidget(self._list, 1)
        layout.addWidget(note)
        layout.addLayout(moves)
        self._search.setFocus()

    def _button(self, text: str, name: str, key: str, act: Callable[[], None]) -> QPushButton:
        button = QPushButton(text, self)
        button.setObjectName(name)
        # A button's own shortcut presses it for a tenth of a second: too long for a key held down.
        QShortcut(QKeySequence(key), self).activated.connect(act)
        button.setAutoDefault(False)
        button.setToolTip(wrapped(f"Moves the chosen column ({key})"))
        button.clicked.connect(act)
        return button

    def _item(self, offer: ColumnOffer, *, is_shown: bool) -> QListWidgetItem:
        title = visible_line(offer.title)
        item = QListWidgetItem(f"{title}  ({offer.what})" if offer.what else title)
        item.setData(_KEY, offer.key)
        item.setData(_SEARCHED, f"{offer.title} {offer.key} {offer.what}".casefold())
        item.setToolTip(wrapped(offer.tip))
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        flags |= Qt.ItemFlag.ItemIsDragEnabled
        if offer.key != self._fixed:
            flags |= Qt.ItemFlag.ItemIsUserCheckable
        item.setFlags(flags)
        item.setCheckState(Qt.CheckState.Checked if is_shown else Qt.CheckState.Unchecked)
        return item

    @Slot()
    def _emit(self) -> None:
        self.changed.emit(self.keys())

    @Slot(QModelIndex, int, int, QModelIndex, int)
    def _on_moved(self, *_what: object) -> None:
        self._emit()
        self._show_moves()

    @Slot(str)
    def _on_search(self, text: str) -> None:
        words = text.casefold().split()
        for place in range(self._list.count()):
            item = self._list.item(place)
            item.setHidden(not all(word in item.data(_SEARCHED) for word in words))
        # Between rows that are not seen nobody knows where a row would go.
        is_whole = not words
        self._list.setDragEnabled(is_whole)
        self._show_moves()

    @Slot()
    def _show_moves(self) -> None:
        place = self._list.currentRow()
        can = place >= 0 and self._list.dragEnabled()
        can = can and self._list.item(place).checkState() is Qt.CheckState.Checked
        self._up.setEnabled(can and place > 0)
        self._down.setEnabled(can and place + 1 < len(self.keys()))

    @Slot()
    def _move_up(self) -> None:
        if self._up.isEnabled():
            self._move(-1)

    @Slot()
    def _move_down(self) -> None:
        if self._down.isEnabled():
            self._move(1)

    def _move(self, by: int) -> None:
        place = self._list.currentRow()
        item = self._list.takeItem(place)
        self._list.insertItem(place + by, item)
        self._list.setCurrentRow(place + by)
        self._emit()
        self._show_moves()
