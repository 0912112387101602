"""The same validation examples after each epoch, with what they are and what the model says."""

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QLabel, QWidget

from gpupanel.domain.problem import Problem
from gpupanel.domain.problem_text import problem_sentences
from gpupanel.domain.validation_examples import EpochPredictions
from gpupanel.runs.following.validation_history import ValidationHistory
from gpupanel.ui import formatting
from gpupanel.ui.inputs.quiet_inputs import Slider
from gpupanel.ui.run_page.evaluations.example_card import ValidationCard
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.flow_layout import FlowLayout
from gpupanel.ui.widgets.labels import Note
from gpupanel.ui.widgets.layouts import column_in, discard, row_in
from gpupanel.ui.widgets.page_scroll import PageScroll
from gpupanel.ui.widgets.tips import wrapped

_LEAST_SLIDER, _SLIDER_WIDTH = 8 * GRID, 32 * GRID
"""Pixels: beside a long title in a small window, and where there is room."""


class ValidationView(QWidget):
    """A card for each example, and a slider that goes back to earlier epochs.

    Its last place follows a training that goes on.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("validation_examples")
        self._history = ValidationHistory()
        self._cards: list[ValidationCard] = []
        self._title = QLabel()
        self._title.setObjectName("validation_title")
        self._title.setProperty("role", "title")
        self._note = Note()
        self._slider = Slider(self)
        self._slider.setOrientation(Qt.Orientation.Horizontal)
        self._slider.setObjectName("validation_epoch")
        self._slider.setAccessibleName("Epoch after which the examples were predicted")
        self._slider.setToolTip(wrapped("Goes back to what the model said after earlier epochs"))
        self._slider.setMinimumWidth(_LEAST_SLIDER)
        self._slider.setMaximumWidth(_SLIDER_WIDTH)
        self._slider.valueChanged.connect(self._show_epoch)
        head = QWidget()
        row = row_in(head)
        row.addWidget(self._title)
        row.addStretch(1)
        row.addWidget(self._slider, 2)
        scroll = PageScroll("Validation examples")
        self._flow = FlowLayout(scroll.page)
        column = column_in(self)
        column.addWidget(head)
        column.addWidget(self._note)
        column.addWidget(scroll, 1)

    @property
    def has_examples(self) -> bool:
        """Whether there is something to be seen."""
        return bool(self._history.epochs)

    def setHistory(self, history: ValidationHistory) -> None:
        """Show these; the epoch that is looked at stays, unless it is the last one so far."""
        before, self._history = self._history, history
        if history.examples != before.examples:
            self._make_cards()
        seen = self._seen_epoch(before)
        last = max(0, len(history.epochs) - 1)
        place = next((at for at, each in enumerate(history.epochs) if each.epoch == seen), last)
        self._slider.blockSignals(True)
        self._slider.setRange(0, last)
        self._slider.setValue(place)
        self._slider.blockSignals(False)
        self._slider.setVisible(last > 0)
        self._show_epoch()

    def setProblems(self, problems: tuple[Problem, ...]) -> None:
        """Say why there is nothing to be seen."""
        self.setHistory(ValidationHistory())
        self._title.setText("The validation examples cannot be read")
        self._note.setText(" ".join(map(problem_sentences, problems)))

    def _seen_epoch(self, history: ValidationHistory) -> int | None:
        """The epoch that somebody went back to; ``None``: the last one is looked at."""
        place = self._slider.value()
        if place >= len(history.epochs) - 1:
            return None
        return history.epochs[place].epoch

    def _make_cards(self) -> None:
        discard(self._flow, self._cards)
        self._cards = [ValidationCard(each) for each in self._history.examples]
        for card in self._cards:
            self._flow.addWidget(card)

    @Slot()
    def _show_epoch(self) -> None:
        history = self._history
        if not history.epochs:
            self._title.setText("")
            self._note.setText("")
            return
        epoch = history.epochs[min(self._slider.value(), len(history.epochs) - 1)]
        self._title.setText(f"After epoch {formatting.count(epoch.epoch)}: {_sum(epoch)}")
        self._note.setText(_note(history))
        for place, card in enumerate(self._cards):
            chances = [each.label_probability for each in history.of_example(place)]
            card.setPrediction(epoch.predictions[place], chances)


def _sum(epoch: EpochPredictions) -> str:
    """All of them in few words."""
    count, right = len(epoch.predictions), epoch.right_count
    if right is not None:
        return f"{right} of {count} right"
    errors = [each.error for each in epoch.predictions if each.error is not None]
    return f"off by {formatting.number(sum(errors) / max(1, len(errors)))} on average"


def _note(history: ValidationHistory) -> str:
    count, all_of_them = len(history.examples), history.validation_examples
    which = (
        f"The same {count} of {formatting.count(all_of_them)} validation examples each time."
        if count < all_of_them
        else f"All {formatting.count(count)} validation examples each time."
    )
    said = history.epochs[-1].predictions
    if all(each.label_probability is None for each in said):
        return which
    return f"{which} A curve is the probability of what it is, epoch by epoch."
