"""The values of a setting that is tried, typed in one line: ``0.1, 0.01``."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget
from typing_extensions import override

from gpupanel.domain.setting import Setting
from gpupanel.domain.sweep import SweptValue
from gpupanel.domain.swept_text import example_text, swept_text, swept_values

_LONGEST_TEXT = 20_000
"""Characters: a thousand numbers with all their digits."""


class SweptListEdit(QLineEdit):
    """A list of values; a text that cannot be read stays until it is corrected.

    Args:
        setting: Whose values they are.
        parent: Owns it.
    """

    valueChanged = Signal(object)
    """A person made another list of it: a tuple of values; :meth:`setValue` is silent."""
    errorChanged = Signal()
    """See :class:`~gpupanel.ui.inputs.input.TypedInput`."""

    def __init__(self, setting: Setting, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._setting = setting
        self._values: tuple[SweptValue, ...] = ()
        self._error = ""
        self.setMaxLength(_LONGEST_TEXT)
        self.setPlaceholderText(example_text(setting))
        self.textEdited.connect(self._take_text)
        self.editingFinished.connect(self._tidy)

    def value(self) -> tuple[SweptValue, ...]:
        """The last list that could be read."""
        return self._values

    def setValue(self, values: Sequence[SweptValue]) -> None:
        """Shows a list silently."""
        # Typing "0.1, " must not be tidied away under the fingers, nor what is to be corrected.
        if tuple(values) != self._values:
            self._values = tuple(values)
            self._show()

    def error(self) -> str:
        """Why the text cannot be read; empty when it can."""
        return self._error

    def discard(self) -> None:
        """Shows the last list again in place of a text that cannot be read."""
        if self._error:
            self._show()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Goes back to the last list by Escape, and closes the dialog only by the next one."""
        if event.key() == Qt.Key.Key_Escape and self._error:
            self.discard()
        else:
            super().keyPressEvent(event)

    def _take_text(self, text: str) -> None:
        try:
            values = swept_values(self._setting, text)
        except ValueError as error:
            self._set_error(str(error))
            return
        self._set_error("")
        if values != self._values:
            self._values = values
            self.valueChanged.emit(values)

    def _set_error(self, sentence: str) -> None:
        if sentence != self._error:
            self._error = sentence
            self.errorChanged.emit()

    def _tidy(self) -> None:
        if not self._error:
            self._show()

    def _show(self) -> None:
        self.setText(swept_text(self._setting, self._values))
        self.setCursorPosition(0)
        self._set_error("")
