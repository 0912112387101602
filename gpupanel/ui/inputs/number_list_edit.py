"""Whole numbers in a row, typed as a person would write them: ``128, 64``."""

import re
from collections.abc import Sequence

from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.ui.inputs.checked_line import CheckedLine
from gpupanel.ui.inputs.input import quoted

_GREATEST = 1_000_000


class NumberListEdit(CheckedLine):
    """A list of whole numbers; its value is a tuple of them."""

    def __init__(
        self,
        *,
        placeholder: str,
        most_length: int,
        least_length: int = 0,
        least: int = 1,
        parent: QWidget | None = None,
    ) -> None:
        """Makes the field.

        Args:
            placeholder: Shown while the list is empty.
            most_length: How many numbers there may be.
            least_length: How many numbers there must be.
            least: The smallest that each may be.
            parent: The owner in Qt's sense.
        """
        super().__init__((), parent)
        self._most_length = most_length
        self._least_length = least_length
        self._least = least
        self.setPlaceholderText(placeholder)

    @override
    def setValue(self, value: Sequence[int]) -> None:
        """Shows a list silently."""
        super().setValue(tuple(value))

    @override
    def _read(self, text: str) -> tuple[int, ...]:
        words = [word for word in re.split(r"[,;\s]+", text) if word]
        strange = next((word for word in words if not re.fullmatch(r"[0-9]{1,7}", word)), None)
        if strange is not None:
            raise ValueError(
                f"{quoted(strange)} is not a whole number; numbers are written as in “128, 64”."
            )
        numbers = tuple(int(word) for word in words)
        if any(not self._least <= number <= _GREATEST for number in numbers):
            raise ValueError(f"Each number must lie between {self._least} and {_GREATEST:,}.")
        if len(numbers) < self._least_length:
            raise ValueError("There must be at least one number here.")
        if len(numbers) > self._most_length:
            raise ValueError(f"There may be {self._most_length} numbers at most.")
        return numbers

    @override
    def _text_of(self, value: Sequence[int]) -> str:
        return ", ".join(str(number) for number in value)
