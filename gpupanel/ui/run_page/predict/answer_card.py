"""The answer about one example: it, what it is in large letters, and how probable."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from gpupanel.ui.run_page.predict.example_answer import GivenExample
from gpupanel.ui.run_page.predict.heat_picture import heat_picture
from gpupanel.ui.run_page.predict.probability_bars import ProbabilityBars
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.example_image import scaled_image
from gpupanel.ui.widgets.labels import ElidedLabel, NameLabel, Note, Tone, set_tone
from gpupanel.ui.widgets.tips import wrapped

_SIDE = 14 * GRID
_GAP = GRID + GRID // 2
_LEAST_WORDS, _ROOMY_WORDS = 18 * GRID, 26 * GRID
"""Pixels for names with their bars: at the least, and where two pictures stand beside them."""


class AnswerCard(QFrame):
    """Shows an example; its answer replaces the words that it is waited for."""

    swapRequested = Signal()
    """The model is to be asked about the picture with light and dark the other way round."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("prediction_answer")
        self.setProperty("card", "true")
        self._picture, self._heat = _Picture("Picture"), _Picture("Heat map")
        self._name = ElidedLabel()
        self._name.setProperty("role", "headline")
        self._title = NameLabel()
        set_tone(self._title, Tone.MUTED)
        self._bars = ProbabilityBars()
        self._note = Note()
        self._swap = QToolButton(self)
        self._swap.setText("Swap light and dark")
        self._swap.setObjectName("prediction_swap")
        self._swap.setToolTip(
            wrapped("Asks about the same picture again, light and dark the other way round")
        )
        self._swap.setProperty("role", "link")
        self._swap.clicked.connect(self.swapRequested)
        self._swap.hide()
        words = QVBoxLayout()
        words.setSpacing(GRID // 2)
        for part in (self._title, self._name, self._bars, self._note):
            words.addWidget(part)
        words.addWidget(self._swap, 0, Qt.AlignmentFlag.AlignLeft)
        words.addStretch(1)
        self._pictures = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._pictures.setSpacing(_GAP)
        for picture in (self._picture, self._heat):
            self._pictures.addWidget(picture, 0, Qt.AlignmentFlag.AlignTop)
        row = QHBoxLayout(self)
        row.setContentsMargins(_GAP, _GAP, 2 * GRID, _GAP)
        row.setSpacing(_GAP)
        row.addLayout(self._pictures)
        row.addLayout(words, 1)

    @override
    def minimumSizeHint(self) -> QSize:
        # That of one picture above the other, however they stand now.
        return QSize(_width_with(1, _LEAST_WORDS), super().minimumSizeHint().height())

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        direction = QBoxLayout.Direction
        has_room = self.width() >= _width_with(2, _ROOMY_WORDS)
        self._pictures.setDirection(direction.LeftToRight if has_room else direction.TopToBottom)

    def setExample(self, example: GivenExample, *, waiting: str, with_heat: bool) -> None:
        """Show that.

        Args:
            example: With its answer, or without.
            waiting: What is said as long as there is none.
            with_heat: Show its heat map, or why there is none.
        """
        answer = example.answer
        self._title.setText(example.title)
        self._title.setVisible(bool(example.title))
        self._name.setText(example.headline)
        self._name.setVisible(answer is not None and bool(answer.predicted))
        self.setAccessibleName(": ".join(filter(None, (example.title, example.headline))))
        image = None if answer is None else answer.image
        seen = None if image is None else scaled_image(image, _SIDE)
        self._picture.show_picture(seen, "As the model gets it")
        self._swap.setVisible(answer is not None and answer.is_swapped is not None)
        self._heat.show_picture(None, "")
        self._bars.hide()
        told = [example.sentences if answer is not None else waiting]
        if answer is not None:
            self._bars.setAnswer(answer)
            heat = answer.heat_map if with_heat else None
            if image is not None and heat is not None:
                tip = f"Which parts of the picture speak for {heat.about}: red most (Grad-CAM)"
                self._heat.show_picture(heat_picture(image, heat, _SIDE), tip)
            if with_heat and answer.without_heat_map:
                told.append(f"No heat map: {answer.without_heat_map}")
            elif with_heat and image is not None and heat is None:
                told.append("The heat map is being made…")
        self._note.setText("\n".join(filter(None, told)))
        self._note.setVisible(bool(self._note.text()))
        is_wrong = answer is not None and not answer.predicted
        set_tone(self._note, Tone.ERROR if is_wrong else Tone.MUTED)


def _width_with(pictures: int, words: int) -> int:
    """Of a card with so many pictures beside so many pixels of words."""
    return pictures * (_SIDE + _GAP) + words + _GAP + 2 * GRID


class _Picture(QLabel):
    """Hidden as long as there is none."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.hide()

    def show_picture(self, pixmap: QPixmap | None, tip: str) -> None:
        """Show that, or nothing."""
        if pixmap is not None:
            self.setPixmap(pixmap)
        self.setToolTip(wrapped(tip) if tip else "")
        self.setVisible(pixmap is not None)
