"""A check box whose value is set silently."""

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QWidget


class CheckBox(QCheckBox):
    """Yes or no; its text says what."""

    valueChanged = Signal(bool)
    """A person turned it; :meth:`setValue` is silent."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.toggled.connect(self.valueChanged)

    def value(self) -> bool:
        """Whether it is checked."""
        return self.isChecked()

    def setValue(self, value: bool) -> None:
        """Checks it, or not, silently."""
        with QSignalBlocker(self):
            self.setChecked(value)
        self.update()
