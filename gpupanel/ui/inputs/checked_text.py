"""A text of which not every one is a value, such as an address."""

from collections.abc import Callable

from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.ui.inputs.checked_line import CheckedLine
from gpupanel.ui.inputs.input import quoted


class CheckedText(CheckedLine):
    """Its value is the text itself, without space around it.

    Args:
        mistake: Says what is wrong with a text, as the end of a sentence; empty: nothing.
        first: The value until one is typed; the line is empty.
        placeholder: Shown while the line is empty.
        parent: The owner in Qt's sense.
    """

    def __init__(
        self,
        mistake: Callable[[str], str],
        *,
        first: str = "",
        placeholder: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(first, parent)
        self._mistake, self._first = mistake, first
        self.setPlaceholderText(placeholder)

    @override
    def _read(self, text: str) -> str:
        typed = text.strip()
        wrong = self._mistake(typed)
        if wrong:
            raise ValueError(f"{quoted(typed)}: {wrong}." if typed else f"{wrong}.")
        return typed

    @override
    def _text_of(self, value: str) -> str:
        return "" if value == self._first else value
