"""What all inputs have in common."""

from typing import Any, Protocol

from PySide6.QtCore import SignalInstance


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
