"""What all inputs have in common."""

from typing import Any, Protocol

from PySide6.QtCore import SignalInstance
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QLineEdit


class Input(Protocol):
    """A widget that edits one value.

    Attributes:
        valueChanged: A person changed the value; :meth:`setValue` is silent.
    """

    valueChanged: SignalInstance

    def value(self) -> Any:  # noqa: ANN401 - of the setting's type
        """The value as shown."""

    def setValue(self, value: Any) -> None:  # noqa: ANN401
        """Shows another value silently."""


def finish_editing() -> None:
    """Let the input that has the focus take over what was typed.

    Inputs do so when the focus leaves, and a shortcut takes it from nobody.
    """
    widget = QApplication.focusWidget()
    if isinstance(widget, QLineEdit | QAbstractSpinBox):
        widget.clearFocus()
        widget.setFocus()
