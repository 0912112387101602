"""Quiet words beside what can be changed."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget


class Caption(QLabel):
    """The title of a part inside a card."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.setProperty("role", "title")


class Note(QLabel):
    """A quiet sentence below or beside a setting: wrapped, and copyable with the mouse."""

    def __init__(
        self, text: str = "", *, tone: str = "muted", parent: QWidget | None = None
    ) -> None:
        super().__init__(text, parent)
        self.setProperty("tone", tone)
        self.setProperty("textSize", "small")
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        # A wrapped label asks for as much width as its text; this one takes what there is.
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def setTone(self, tone: str) -> None:
        """Says how the sentence is meant, by its colour."""
        if tone != self.property("tone"):
            self.setProperty("tone", tone)
            self.style().polish(self)
