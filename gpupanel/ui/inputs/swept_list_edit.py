"""The values of a setting that is tried, typed in one line: ``0.1, 0.01``."""

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.setting import Setting
from gpupanel.domain.sweep import SweptValue
from gpupanel.domain.swept_text import example_text, swept_text, swept_values
from gpupanel.ui.inputs.checked_line import CheckedLine

_LONGEST_TEXT = 20_000
"""Characters: a thousand numbers with all their digits."""


class SweptListEdit(CheckedLine):
    """A list of values; its value is a tuple of them.

    Args:
        setting: Whose values they are.
        parent: Owns it.
    """

    def __init__(self, setting: Setting, parent: QWidget | None = None) -> None:
        super().__init__((), parent)
        self._setting = setting
        self.setMaxLength(_LONGEST_TEXT)
        self.setPlaceholderText(example_text(setting))

    @override
    def setValue(self, value: Sequence[SweptValue]) -> None:
        """Shows a list silently."""
        super().setValue(tuple(value))

    @override
    def _read(self, text: str) -> tuple[SweptValue, ...]:
        return swept_values(self._setting, text)

    @override
    def _text_of(self, value: Sequence[SweptValue]) -> str:
        return swept_text(self._setting, tuple(value))
