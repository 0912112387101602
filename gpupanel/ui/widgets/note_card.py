"""A sentence about the session on a card, with what can be done about it."""

from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.beside_or_below import BesideOrBelow
from gpupanel.ui.widgets.labels import ProseLabel
from gpupanel.ui.widgets.layouts import row_in
from gpupanel.ui.widgets.tips import wrapped

_LEAST_WORDS = 30 * GRID
"""Pixels of a sentence that has its buttons beside it; else they stand below."""


class NoteCard(QFrame):
    """Seen while it has something to say.

    Args:
        name: Of the object.
        parent: Owns it.
    """

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setProperty("card", "true")
        self._words = ProseLabel()
        self._words.setMinimumWidth(_LEAST_WORDS)
        buttons = QWidget()
        self._buttons = row_in(buttons)
        self._buttons.addStretch(1)
        row = row_in(self)
        row.setContentsMargins(2 * GRID, GRID, GRID, GRID)
        row.addWidget(BesideOrBelow(self._words, buttons))
        self.setSentence("")

    def add_button(self, text: str, name: str, tip: str, *, spoken: str = "") -> QPushButton:
        """A further button.

        Args:
            text: What stands on it.
            name: Its object name follows the card's: "open" of "sweep_note" is "sweep_note_open".
            tip: What it does.
            spoken: What is read aloud where the text alone does not say what is meant; such a
                button is a quiet one.
        """
        button = QPushButton(text, self)
        button.setObjectName(f"{self.objectName()}_{name}")
        button.setToolTip(wrapped(tip))
        if spoken:
            button.setProperty("role", "quiet")
            button.setAccessibleName(spoken)
        self._buttons.insertWidget(self._buttons.count() - 1, button)
        return button

    def setSentence(self, sentence: str) -> None:
        """Say this; nothing: the card is not seen."""
        self._words.setProse(sentence)
        self.setVisible(bool(sentence))

    def text(self) -> str:
        """What it says."""
        return self._words.text()
