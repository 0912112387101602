"""What an empty place says: what will appear here, and how."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from gpupanel.ui.theme import GRID


class EmptyState(QWidget):
    """A title and a sentence in the middle of an empty place."""

    def __init__(self, title: str, sentence: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = QLabel(title)
        self._title.setProperty("role", "title")
        self._sentence = QLabel(sentence)
        self._sentence.setProperty("tone", "muted")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(3 * GRID, 3 * GRID, 3 * GRID, 3 * GRID)
        layout.setSpacing(GRID)
        layout.addStretch(1)
        for label in (self._title, self._sentence):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            label.setWordWrap(True)
            layout.addWidget(label)
        layout.addStretch(1)

    def setTexts(self, title: str, sentence: str) -> None:
        """Say something else."""
        self._title.setText(title)
        self._sentence.setText(sentence)

    def text(self) -> str:
        """All that it says."""
        return f"{self._title.text()}\n{self._sentence.text()}"
