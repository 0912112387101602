"""Whole numbers in a row, typed as a person would write them: ``128, 64``."""

import re
from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget
from typing_extensions import override

from gpupanel.ui.inputs.input import quoted
from gpupanel.ui.widgets.layouts import column_in

_GREATEST = 1_000_000


class NumberListEdit(QWidget):
    """A list of positive whole numbers, as a line of text."""

    valueChanged = Signal(object)
    """A person made another list of it (a tuple of int); :meth:`setValue` is silent."""
    errorChanged = Signal()
    """See :class:`~gpupanel.ui.inputs.input.TypedInput`."""

    def __init__(
        self,
        *,
        placeholder: str,
        most_length: int,
        least_length: int = 0,
        parent: QWidget | None = None,
    ) -> None:
        """Makes the field.

        Args:
            placeholder: Shown while the list is empty.
            most_length: How many numbers there may be.
            least_length: How many numbers there must be.
            parent: The owner in Qt's sense.
        """
        super().__init__(parent)
        self._most_length = most_length
        self._least_length = least_length
        self._numbers: tuple[int, ...] = ()
        self._field = QLineEdit(self)
        self._field.setPlaceholderText(placeholder)
        self._error = ""
        column_in(self).addWidget(self._field)
        # A label's letter reaches it; Tab goes to the field alone, and leaves it again.
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setFocusProxy(self._field)
        self._field.textEdited.connect(self._take_text)
        self._field.editingFinished.connect(self._tidy)

    def value(self) -> tuple[int, ...]:
        """The last list that could be read."""
        return self._numbers

    def setValue(self, numbers: Sequence[int]) -> None:
        """Shows a list silently."""
        # Typing "128, " must not be tidied away under the fingers, nor what is to be corrected.
        if tuple(numbers) == self._numbers and (self._field.hasFocus() or self._error):
            return
        self._numbers = tuple(numbers)
        self._show()

    @override
    def changeEvent(self, event: QEvent) -> None:
        """Hands the accessible name on to the field that has the focus."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.ToolTipChange:
            self._field.setAccessibleName(self.accessibleName())

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Goes back to the last list by Escape."""
        if event.key() == Qt.Key.Key_Escape and self._error:
            self.discard()
        else:
            super().keyPressEvent(event)

    def error(self) -> str:
        """Why the text cannot be read; empty when it can."""
        return self._error

    def discard(self) -> None:
        """Shows the last list again in place of a text that cannot be read."""
        if self._error:
            self._show()

    def _take_text(self, text: str) -> None:
        numbers = self._read(text)
        if isinstance(numbers, str):
            self._set_error(numbers)
            return
        self._set_error("")
        if numbers != self._numbers:
            self._numbers = numbers
            self.valueChanged.emit(numbers)

    def _read(self, text: str) -> tuple[int, ...] | str:
        """The list in a text, or the sentence that says why there is none."""
        words = [word for word in re.split(r"[,;\s]+", text) if word]
        strange = next((word for word in words if not re.fullmatch(r"[0-9]{1,7}", word)), None)
        if strange is not None:
            return f"{quoted(strange)} is not a whole number; numbers are written as in “128, 64”."
        numbers = tuple(int(word) for word in words)
        if any(number == 0 or number > _GREATEST for number in numbers):
            return f"Each number must lie between 1 and {_GREATEST:,}."
        if len(numbers) < self._least_length:
            return "There must be at least one number here."
        if len(numbers) > self._most_length:
            return f"There may be {self._most_length} numbers at most."
        return numbers

    def _set_error(self, sentence: str) -> None:
        if sentence != self._error:
            self._error = sentence
            self.errorChanged.emit()

    def _tidy(self) -> None:
        if not isinstance(self._read(self._field.text()), str):
            self._show()

    def _show(self) -> None:
        self._field.setText(", ".join(str(number) for number in self._numbers))
        self._set_error("")
