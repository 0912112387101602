"""A line, what is found below it, and a sentence about the one that is chosen."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QWidget
from typing_extensions import override

from gpupanel.domain.visible_text import visible_line
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.layouts import column_in
from gpupanel.ui.widgets.table_model import Column, TableModel
from gpupanel.ui.widgets.table_view import TableView
from gpupanel.ui.widgets.tips import teach

RowT = TypeVar("RowT")
_ROW_HEIGHT = 28
_LIST_KEYS = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


@dataclass(frozen=True, slots=True)
class Search(Generic[RowT]):
    """What is searched, and how.

    Attributes:
        name: Begins the object names of the line, the table and the sentence.
        columns: Of the table, each with its width in pixels; the last takes what is left.
        find: What is found by the words that were typed, in small letters; the best first.
        tip: A sentence about a row.
        placeholder: Stands in the empty line.
        line_tip: Teaches what can be typed.
        nothing: Said where nothing is found.
    """

    name: str
    columns: Sequence[tuple[Column[RowT], int]]
    find: Callable[[Sequence[str]], Sequence[RowT]]
    tip: Callable[[RowT], str]
    placeholder: str
    line_tip: str
    nothing: str


class SearchedList(QWidget, Generic[RowT]):
    """The line keeps the focus: arrow keys go through the list, Return takes what is chosen."""

    taken = Signal(object)
    """A person wants that row."""

    def __init__(self, search: Search[RowT], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._search_for = search
        self._line = QLineEdit(self)
        self._line.setObjectName(f"{search.name}_line")
        self._line.setPlaceholderText(search.placeholder)
        teach(self._line, "Find", search.line_tip)
        self._line.setToolTip("")
        self._line.setClearButtonEnabled(True)
        self._line.installEventFilter(self)
        self._line.textChanged.connect(self._search)
        self._line.returnPressed.connect(self._take)
        self.setFocusProxy(self._line)
        self._model: TableModel[RowT] = TableModel([each for each, _ in search.columns], key=id)
        self._table = TableView(self._model, f"{search.name}_table", "What is found", _ROW_HEIGHT)
        self._table.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._table.clicked.connect(self._take_row)
        self._tip = QLabel(self)
        self._tip.setObjectName(f"{search.name}_tip")
        self._tip.setTextFormat(Qt.TextFormat.PlainText)
        self._tip.setProperty("tone", "muted")
        self._tip.setWordWrap(True)
        self._tip.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self._tip.setFixedHeight(3 * self._tip.fontMetrics().lineSpacing())
        layout = column_in(self, spacing=GRID)
        layout.addWidget(self._line)
        layout.addWidget(self._table, 1)
        layout.addWidget(self._tip)
        self._search("")
        for place, (_, width) in enumerate(search.columns[:-1]):
            self._table.setColumnWidth(place, width)
        self._table.selectionModel().currentRowChanged.connect(self._show_tip)

    def set_head_visible(self, *, visible: bool) -> None:
        """Show or hide the titles of the columns."""
        self._table.horizontalHeader().setVisible(visible)

    def found(self) -> tuple[RowT, ...]:
        """What the line finds, the best first."""
        return self._model.rows

    def choose(self, place: int) -> None:
        """Choose one of what is found."""
        self._table.setCurrentIndex(self._model.index(place, 0))

    def chosen(self) -> RowT | None:
        """What Return takes; ``None``: nothing was found."""
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
        found = self._search_for.find(text.casefold().split())
        self._model.set_rows(found)
        self._table.setCurrentIndex(self._model.index(0, 0) if found else QModelIndex())
        self._table.scrollToTop()
        self._show_tip()

    @Slot()
    def _show_tip(self) -> None:
        row = self.chosen()
        search = self._search_for
        self._tip.setText(search.nothing if row is None else visible_line(search.tip(row)))

    @Slot(QModelIndex)
    def _take_row(self, index: QModelIndex) -> None:
        self.choose(index.row())
        self._take()

    @Slot()
    def _take(self) -> None:
        row = self.chosen()
        if row is not None:
            self.taken.emit(row)
