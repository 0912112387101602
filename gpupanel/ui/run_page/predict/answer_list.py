"""The answers of the page, the newest first, and what can be done with all of them."""

from functools import partial

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QCheckBox, QPushButton, QStackedLayout, QVBoxLayout, QWidget

from gpupanel.domain.asked_kind import AskedKind
from gpupanel.domain.asked_prediction import PredictionAnswer
from gpupanel.ui import formatting
from gpupanel.ui.run_page.predict.answer_card import AnswerCard
from gpupanel.ui.run_page.predict.example_answer import GivenExample, as_csv
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import EmptyState, ShorterLabel, set_role
from gpupanel.ui.widgets.layouts import column_in, discard, row_in
from gpupanel.ui.widgets.page_scroll import PageScroll
from gpupanel.ui.widgets.tips import wrapped

MOST_ANSWERS = 200
"""The oldest go when there are more."""
_EMPTY = {
    AskedKind.IMAGE: "What the model says of each picture appears here, the newest first.",
    AskedKind.ARRAY: "What the model says of each example appears here, the newest first.",
    AskedKind.ROW: "What the model says of the row appears here.",
    AskedKind.TEXT: "What the model says of the text appears here as you type.",
}
_LOADING, _PREDICTING = "Loading the model…", "Predicting…"


class AnswerList(QWidget):
    """A card for each example that was given."""

    heatMapsWanted = Signal()
    """Heat maps are shown from now on."""
    swapRequested = Signal(int)
    """The picture of that number is to be given with light and dark the other way round."""
    answeredChanged = Signal(bool)
    """Whether there is an answer."""
    saveRequested = Signal(str)
    """The answers are to be saved: as a CSV."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._examples: dict[int, GivenExample] = {}
        self._cards: dict[int, AnswerCard] = {}
        self._next, self._is_loading = 0, True
        self._count = ShorterLabel()
        self._count.setObjectName("prediction_count")
        self._count.setProperty("role", "title")
        self.heat = QCheckBox("Heat &map")
        self.heat.setObjectName("prediction_heat_map")
        self.heat.setToolTip(
            wrapped("Shows which parts of a picture speak for its class (Grad-CAM)")
        )
        self.heat.toggled.connect(self._show_heat)
        self._copy = self._button("Cop&y", "prediction_copy", "Copies all answers as a table")
        self._copy.clicked.connect(self._copy_all)
        self._save = self._button("&Save CSV…", "prediction_save", "Saves all answers as a file")
        self._save.clicked.connect(self._save_all)
        self._clear = self._button("Clear", "prediction_clear", "Removes all answers from the page")
        self._clear.clicked.connect(self.clear)
        head = QWidget()
        row = row_in(head)
        row.addWidget(self._count, 1)
        for part in (self.heat, self._copy, self._save, self._clear):
            row.addWidget(part)
        self._empty = EmptyState("No answers yet", "")
        scroll = PageScroll("Answers of the model")
        self._column = QVBoxLayout(scroll.page)
        self._column.setContentsMargins(0, 0, GRID // 2, 0)
        self._column.setSpacing(GRID)
        self._column.addStretch(1)
        self._stack = QStackedLayout()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(scroll)
        self._scroll = scroll
        column = column_in(self)
        column.addWidget(head)
        column.addLayout(self._stack, 1)
        self._show_all()

    def begin(self, kind: AskedKind) -> None:
        """Forget all answers: another model is asked about such examples."""
        self._is_loading = True
        self._empty.setTexts("No answers yet", _EMPTY.get(kind, ""))
        self.heat.setVisible(kind in (AskedKind.IMAGE, AskedKind.ARRAY))
        self.clear()

    def setLoading(self, *, is_loading: bool) -> None:
        """Whether the model has to be loaded before the next answer: what is waited for."""
        self._is_loading = is_loading
        for number, example in self._examples.items():
            if example.answer is None:
                self._show(number)

    def add(self, title: str, place: int = 0) -> int:
        """Show an example that is waited for; its number.

        Args:
            title: What it is called.
            place: From the top: of several that are given together the first one stands first.
        """
        number, self._next = self._next, self._next + 1
        card = AnswerCard()
        card.swapRequested.connect(partial(self.swapRequested.emit, number))
        self._examples[number], self._cards[number] = GivenExample(title), card
        self._show(number)
        self._column.insertWidget(place, card)
        for oldest in list(self._cards)[: max(0, len(self._cards) - MOST_ANSWERS)]:
            self._remove(oldest)
        self._show_all()
        self._scroll.verticalScrollBar().setValue(0)
        return number

    def answer_of(self, number: int) -> PredictionAnswer | None:
        """The answer of that one; ``None``: it is waited for, or was removed meanwhile."""
        known = self._examples.get(number)
        return None if known is None else known.answer

    def place_of(self, number: int) -> int:
        """Where the card of that one stands, from the top."""
        return self._column.indexOf(self._cards[number])

    def has(self, number: int) -> bool:
        """Whether that one was not removed meanwhile."""
        return number in self._examples

    def answer(self, number: int, answer: PredictionAnswer, title: str = "") -> None:
        """Show what the model says.

        Args:
            number: Of the card; one that was removed meanwhile is none any more.
            answer: About its example.
            title: Of that, where it is another one than before.
        """
        known = self._examples.get(number)
        if known is not None:
            self._examples[number] = GivenExample(title or known.title, answer)
            self._show(number)
            self._show_all()
        self.setLoading(is_loading=False)

    def lack_heat_map(self, number: int, why: str) -> None:
        """Say why that one gets no heat map; its answer stays."""
        known = self._examples.get(number)
        if known is not None and known.answer is not None:
            self.answer(number, known.answer.model_copy(update={"without_heat_map": why}))

    def without_heat_maps(self) -> list[int]:
        """The pictures that were answered, and whose heat map nobody asked for."""
        return [
            number
            for number, each in self._examples.items()
            if each.answer is not None
            and each.answer.image is not None
            and each.answer.heat_map is None
            and not each.answer.without_heat_map
        ]

    @Slot()
    def clear(self) -> None:
        """Show none."""
        for number in list(self._cards):
            self._remove(number)
        self._show_all()

    def text(self, *, delimiter: str = ",") -> str:
        """All answers as a table, the newest first."""
        return as_csv(list(reversed(self._examples.values())), delimiter=delimiter)

    def _button(self, text: str, name: str, tip: str) -> QPushButton:
        button = QPushButton(text, self)
        button.setObjectName(name)
        button.setToolTip(wrapped(tip))
        set_role(button, "quiet")
        return button

    def _show(self, number: int) -> None:
        waiting = _LOADING if self._is_loading else _PREDICTING
        with_heat = self.heat.isChecked()
        self._cards[number].setExample(self._examples[number], waiting=waiting, with_heat=with_heat)

    def _show_all(self) -> None:
        count = len(self._examples)
        words = {0: "", 1: "1 answer"}.get(count, f"{formatting.count(count)} answers")
        self._count.setForms((words, words.partition(" ")[0]))
        self._stack.setCurrentIndex(1 if count else 0)
        has_answers = any(each.answer is not None for each in self._examples.values())
        self._copy.setEnabled(has_answers)
        self._save.setEnabled(has_answers)
        self._clear.setEnabled(bool(count))
        self.answeredChanged.emit(has_answers)

    def _remove(self, number: int) -> None:
        del self._examples[number]
        discard(self._column, [self._cards.pop(number)])

    @Slot(bool)
    def _show_heat(self, is_wanted: bool) -> None:
        for number in self._cards:
            self._show(number)
        if is_wanted:
            self.heatMapsWanted.emit()

    @Slot()
    def _copy_all(self) -> None:
        QGuiApplication.clipboard().setText(self.text(delimiter="\t"))

    @Slot()
    def _save_all(self) -> None:
        self.saveRequested.emit(self.text())
