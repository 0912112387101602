"""Names in a row, typed with commas between: ``conv_1, conv_2``."""

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.ui.inputs.checked_line import CheckedLine


class NamesEdit(CheckedLine):
    """A list of names; its value is a tuple of them."""

    def __init__(
        self, *, placeholder: str, most_length: int, parent: QWidget | None = None
    ) -> None:
        """Makes the field.

        Args:
            placeholder: Shown while the list is empty.
            most_length: How many names there may be.
            parent: The owner in Qt's sense.
        """
        super().__init__((), parent)
        self._most_length = most_length
        self.setPlaceholderText(placeholder)

    @override
    def setValue(self, value: Sequence[str]) -> None:
        """Shows a list silently."""
        super().setValue(tuple(value))

    @override
    def _read(self, text: str) -> tuple[str, ...]:
        names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
        if len(names) > self._most_length:
            raise ValueError(f"There may be {self._most_length:,} names at most.")
        return names

    @override
    def _text_of(self, value: Sequence[str]) -> str:
        return ", ".join(value)
