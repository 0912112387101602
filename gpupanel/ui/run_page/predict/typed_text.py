"""A text that is typed or pasted."""

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpupanel.domain.asked_prediction import LONGEST_TEXT
from gpupanel.domain.visible_text import as_utf8
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.bounded_text import BoundedText
from gpupanel.ui.widgets.labels import Note

_SETTLE_MS = 300
"""So long nothing is typed, then it is asked about."""
_TITLE_LENGTH = 200


class TypedText(QWidget):
    """Reports the text when nothing was typed for a moment."""

    textGiven = Signal(str, object)
    """Another text: its beginning on a line, and it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("prediction_text")
        self._text = BoundedText("", LONGEST_TEXT, self)
        self._text.setObjectName("prediction_text_field")
        self._text.setAccessibleName("Text to predict on")
        self._text.setPlaceholderText("Type or paste a text")
        self._text.setToolTip("The model is asked when nothing was typed for a moment")
        self._text.setTabChangesFocus(True)
        self._note = Note()
        self._note.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        column.addWidget(self._text, 1)
        column.addWidget(self._note)
        self._soon = QTimer(self, singleShot=True, interval=_SETTLE_MS)
        self._soon.timeout.connect(self._report)
        self._text.textChanged.connect(self._soon.start)
        self._text.exceeded.connect(self._say)

    @Slot()
    def clear(self) -> None:
        """Begin with no text."""
        self._text.clear()
        self._soon.stop()

    @Slot()
    def _report(self) -> None:
        text = as_utf8(self._text.toPlainText())[:LONGEST_TEXT]
        if text.strip():
            self.textGiven.emit(" ".join(text[:_TITLE_LENGTH].split()), text)

    @Slot(str)
    def _say(self, words: str) -> None:
        self._note.setText(words)
        self._note.setVisible(bool(words))
