"""What all inputs have in common."""

from typing import Any, Protocol, runtime_checkable

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


_LONGEST_QUOTE = 24


@runtime_checkable
class TypedInput(Protocol):
    """An input whose text may be no value: the last value holds, and the text stays, with why.

    Attributes:
        errorChanged: What is wrong with the text changed, also by :meth:`Input.setValue`.
    """

    errorChanged: SignalInstance

    def error(self) -> str:
        """Why the text is no value, as a sentence; empty when it is one."""

    def discard(self) -> None:
        """Shows the value again in place of a text that is none."""


def quoted(text: str) -> str:
    """What was typed, for a sentence that says what is wrong with it: no longer than a line has.

    Args:
        text: Of any length.
    """
    return f"“{text if len(text) <= _LONGEST_QUOTE else f'{text[:_LONGEST_QUOTE]}…'}”"


def finish_editing() -> None:
    """Let the input that has the focus take over what was typed.

    Inputs do so when the focus leaves, and a shortcut takes it from nobody.
    """
    widget = QApplication.focusWidget()
    if isinstance(widget, QLineEdit | QAbstractSpinBox):
        widget.clearFocus()
        widget.setFocus()
