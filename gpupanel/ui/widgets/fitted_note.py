"""Says which settings were chosen for the data, and why."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import ProseLabel
from gpupanel.ui.widgets.layouts import row_in
from gpupanel.ui.widgets.tips import wrapped


class FittedNote(QFrame):
    """Sentences, and a button that brings back the settings of before."""

    revertRequested = Signal()
    """The settings of before are wanted."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("fitted_note")
        self.setProperty("card", "true")
        self._words = ProseLabel()
        revert = QPushButton("Undo", self)
        revert.setObjectName("fitted_note_revert")
        revert.setProperty("role", "quiet")
        revert.setToolTip(wrapped("Brings back the settings that the session had before"))
        revert.setAccessibleName("Undo the choice of settings")
        revert.clicked.connect(self.revertRequested)
        row = row_in(self)
        row.setContentsMargins(2 * GRID, GRID, GRID, GRID)
        row.addWidget(self._words, 1)
        row.addWidget(revert)
        self.setSentence("")

    def setSentence(self, sentence: str) -> None:
        """Say this; nothing: no settings were chosen, or others have been chosen since."""
        self._words.setProse(sentence)
        self.setVisible(bool(sentence))

    def text(self) -> str:
        """What it says."""
        return self._words.text()
