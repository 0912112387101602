"""Says that the profile has a sweep, which a run of it alone does without."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import ProseLabel
from gpupanel.ui.widgets.layouts import row_in
from gpupanel.ui.widgets.tips import wrapped


class SweepNote(QFrame):
    """A sentence, and buttons that show the sweep or take it out of the profile."""

    openRequested = Signal()
    """The sweep is to be shown."""
    removeRequested = Signal()
    """The profile is to have none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sweep_note")
        self.setProperty("card", "true")
        self._words = ProseLabel()
        show = QPushButton("Open sweep…", self)
        show.setObjectName("sweep_note_open")
        show.setToolTip(wrapped("Shows the trials that would run, and queues them"))
        show.clicked.connect(self.openRequested)
        remove = QPushButton("Remove", self)
        remove.setObjectName("sweep_note_remove")
        remove.setProperty("role", "quiet")
        remove.setToolTip(wrapped("Takes the sweep out of the profile; Undo brings it back"))
        remove.setAccessibleName("Remove the sweep")
        remove.clicked.connect(self.removeRequested)
        row = row_in(self)
        row.setContentsMargins(2 * GRID, GRID, GRID, GRID)
        row.addWidget(self._words, 1)
        row.addWidget(show)
        row.addWidget(remove)
        self.setSentence("")

    def setSentence(self, sentence: str) -> None:
        """Say this; nothing: there is no sweep."""
        self._words.setProse(sentence)
        self.setVisible(bool(sentence))

    def text(self) -> str:
        """What it says."""
        return self._words.text()
