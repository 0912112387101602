"""One line of text."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget


class TextInput(QLineEdit):
    """One line of text."""

    valueChanged = Signal(str)
    """A person typed; :meth:`setValue` is silent."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.textEdited.connect(self.valueChanged)

    def value(self) -> str:
        """The text."""
        return self.text()

    def setValue(self, value: str) -> None:
        """Shows another text silently; what is being typed is left alone."""
        if value != self.text():
            self.setText(value)
