"""A number field for real numbers that shows exactly what it holds, 1e-05 included."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QValidator, QWheelEvent
from PySide6.QtWidgets import QAbstractSpinBox, QWidget
from typing_extensions import override

from gpupanel.domain.round_numbers import next_round
from gpupanel.ui.inputs.input import quoted
from gpupanel.ui.inputs.quiet_inputs import TEXT_MARGIN

_NARROWEST = 80
_LEAST_FLOAT = 1e-30
"""The least number that training takes, where 0 is none."""


@dataclass(frozen=True, slots=True)
class RealRange:
    """Which numbers a field takes: from ``lowest`` (perhaps without it) up to below ``below``."""

    lowest: float = 0.0
    lowest_allowed: bool = True
    below: float = math.inf

    def holds(self, number: float) -> bool:
        """Whether the number lies inside."""
        above = number >= self.lowest if self.lowest_allowed else number > self.lowest
        return above and number < self.below

    def bound_beyond(self, number: float, shown: Callable[[float], str]) -> str:
        """What a number that is not in it would have to be: "less than 1".

        Args:
            number: Which.
            shown: From a number to its text.
        """
        if number >= self.below:
            # Where a number is allowed, the range goes to the one after it.
            most = math.nextafter(self.below, -math.inf)
            is_allowed = len(repr(most)) < len(repr(self.below))
            return f"at most {shown(most)}" if is_allowed else f"less than {shown(self.below)}"
        if 0.0 < self.lowest <= _LEAST_FLOAT:
            return f"more than {shown(0.0)}"
        return f"{'at least' if self.lowest_allowed else 'more than'} {shown(self.lowest)}"


class RealSpinBox(QAbstractSpinBox):
    """A spin box for real numbers, written as Python writes them (``0.001``, ``1e-05``).

    :class:`QDoubleSpinBox` rounds to a fixed number of decimals, and a learning rate spans six
    decades. Here the arrows go 1, 2, 5, 10 when the range is open upwards, and by ``step``
    otherwise. The wheel is left to the scroll area unless the field has the focus. A text that is
    no number of the range stays until it is corrected; Escape goes back to the last number.
    """

    valueChanged = Signal(float)
    """A person typed or stepped to another number; :meth:`setValue` is silent."""
    errorChanged = Signal()
    """See :class:`~gpupanel.ui.inputs.input.TypedInput`."""

    def __init__(
        self,
        numbers: RealRange,
        *,
        step: float | None = None,
        is_percent: bool = False,
        zero: str = "",
        parent: QWidget | None = None,
    ) -> None:
        """Makes the field.

        Args:
            numbers: Which numbers it takes.
            step: What an arrow adds; ``None``: the arrows go 1, 2, 5, 10.
            is_percent: The number is a fraction, shown as percent: 0.2 is "20 %".
            zero: What is shown in place of 0.
            parent: The owner in Qt's sense.
        """
        super().__init__(parent)
        self._range = numbers
        self._step = step
        self._is_percent = is_percent
        self._zero = zero
        self._number = _first(numbers)
        self._error = ""
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumWidth(_NARROWEST)
        self.lineEdit().setTextMargins(TEXT_MARGIN, 0, 0, 0)
        self.setKeyboardTracking(True)
        self.lineEdit().textEdited.connect(self._take_text)
        self.editingFinished.connect(self._tidy)
        self._show()

    def value(self) -> float:
        """The last valid number."""
        return self._number

    def setValue(self, number: float) -> None:
        """Shows a number silently."""
        # What a person is typing ("1e-") is left alone when it comes back as the value it had.
        if number == self._number and (self._error or self._read(self._text()) == number):
            return
        self._number = number
        self._show()

    def error(self) -> str:
        """Why the text is no number of the range; empty when it is one."""
        return self._error

    def discard(self) -> None:
        """Shows the last number again in place of a text that is none."""
        if self._error:
            self._show()

    @override
    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        """Whether the text is a number, or may become one."""
        number = self._read(text)
        if number is not None and self._range.holds(number):
            return QValidator.State.Acceptable, text, position
        typable = all(character in "0123456789.,eE+-% " for character in text.strip())
        state = QValidator.State.Intermediate if typable else QValidator.State.Invalid
        return state, text, position

    @override
    def fixup(self, text: str) -> str:
        """A text that is no number stays, to be corrected."""
        return text

    @override
    def stepEnabled(self) -> QAbstractSpinBox.StepEnabledFlag:
        """Which of the arrows lead to a number of the range."""
        enabled = QAbstractSpinBox.StepEnabledFlag.StepNone
        if self._range.holds(self._stepped(1)):
            enabled |= QAbstractSpinBox.StepEnabledFlag.StepUpEnabled
        if self._range.holds(self._stepped(-1)):
            enabled |= QAbstractSpinBox.StepEnabledFlag.StepDownEnabled
        return enabled

    @override
    def stepBy(self, steps: int) -> None:
        for _ in range(abs(steps)):
            number = self._stepped(1 if steps > 0 else -1)
            if not self._range.holds(number):
                break
            self._take(number)
        self._show()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._error:
            self.discard()
        else:
            super().keyPressEvent(event)

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()

    @override
    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.FocusOut:
            self._tidy()
        return super().event(event)

    def _text(self) -> str:
        return self.lineEdit().text()

    def _take_text(self, text: str) -> None:
        number = self._read(text)
        if number is not None and self._range.holds(number):
            self._set_error("")
            self._take(number)
        else:
            self._set_error(self._why_not(text.strip(), number))

    def _why_not(self, text: str, number: float | None) -> str:
        if not text:
            return "there is no number."
        if number is None:
            return f"{quoted(text)} is not a number."
        bound = self._range.bound_beyond(number, self._in_text)
        return f"{quoted(text)} is out of range: it has to be {bound}."

    def _set_error(self, sentence: str) -> None:
        if sentence != self._error:
            self._error = sentence
            self.errorChanged.emit()

    def _tidy(self) -> None:
        if not self._error:
            self._show()

    def _take(self, number: float) -> None:
        if number != self._number:
            self._number = number
            self.valueChanged.emit(number)

    def _show(self) -> None:
        if self._text() != self._shown():
            self.lineEdit().setText(self._shown())
        self._set_error("")

    def _shown(self) -> str:
        return self._zero if self._zero and self._number == 0.0 else self._in_text(self._number)

    def _in_text(self, number: float) -> str:
        return f"{_shown(round(number * 100.0, 10))} %" if self._is_percent else _shown(number)

    def _read(self, text: str) -> float | None:
        if self._zero and text == self._zero:
            return 0.0
        if not self._is_percent:
            return _real(text)
        percent = _real(text.replace("%", ""))
        return None if percent is None else round(percent / 100.0, 12)

    def _stepped(self, direction: int) -> float:
        if self._step is not None:
            return round(self._number + direction * self._step, 10)
        return next_round(self._number, direction)


def _shown(number: float) -> str:
    """The shortest text that reads back as the number."""
    return f"{number:g}" if float(f"{number:g}") == number else repr(number)


def _real(text: str) -> float | None:
    """The number in a text; a comma is taken for the decimal point that many keyboards have."""
    try:
        number = float(text.strip().replace(",", "."))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _first(numbers: RealRange) -> float:
    """What a field shows before it was given a number."""
    if not math.isfinite(numbers.lowest):
        return 0.0
    return numbers.lowest if numbers.lowest_allowed else 1.0
