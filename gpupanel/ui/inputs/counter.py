"""Spin boxes for whole numbers, which report at each keystroke and can speak in words."""

from PySide6.QtCore import QSignalBlocker
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.setting import EVERY
from gpupanel.ui.inputs.quiet_inputs import SpinBox

GREATEST = 2**31 - 1
"""The greatest number that Qt's spin boxes hold."""
_NARROWEST = 80


class Counter(SpinBox):
    """Counts from ``least`` on.

    What a number means stands in the field itself ("3 epochs"), so that nobody has to guess.
    ``valueChanged`` comes when a person typed or stepped to another number; :meth:`setValue` is
    silent.
    """

    def __init__(
        self,
        least: int = 0,
        *,
        zero: str = "",
        before: str = "",
        unit: str = "",
        parent: QWidget | None = None,
    ) -> None:
        """Makes the field.

        Args:
            least: The least number.
            zero: What the least number means, shown in its place.
            before: Shown before the number.
            unit: Shown behind the number, in the singular ("epoch"); gets an "s" for others.
            parent: The owner in Qt's sense.
        """
        # Asked while Qt makes the field.
        self._always_says_one = before != EVERY or not unit
        super().__init__(parent)
        self.setRange(least, GREATEST)
        # Room for the greatest number of all would widen the column for nothing.
        self.setMinimumWidth(_NARROWEST)
        self.setKeyboardTracking(True)
        self.setSpecialValueText(zero)
        self.setPrefix(before)
        self._unit = unit
        self._name_unit(self.value())
        self.valueChanged.connect(self._name_unit)

    @override
    def setValue(self, value: int) -> None:
        """Shows a number silently; one beyond the range as the nearest inside."""
        # What a person is typing ("1234", not yet "1,234") is left alone when it comes back.
        if value == self._number:
            return
        with QSignalBlocker(self):
            super().setValue(min(value, GREATEST))
        self._name_unit(self._number)

    @override
    def textFromValue(self, val: int) -> str:
        """The number; "every epoch" needs none, but while a person may type one."""
        return super().textFromValue(val) if val != 1 or self._says_one else ""

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        if not self._always_says_one:
            self._name_unit(self._number)
        super().focusInEvent(event)

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if not self._always_says_one:
            self._name_unit(self._number)

    @property
    def _number(self) -> int:
        """The number itself: a subclass may say "none" for the least one."""
        return SpinBox.value(self)

    @property
    def _says_one(self) -> bool:
        return self._always_says_one or self.hasFocus()

    def _name_unit(self, count: int) -> None:
        if self._unit and count == 1:
            self.setSuffix(f" {self._unit}" if self._says_one else self._unit)
        elif self._unit:
            self.setSuffix(f" {self._unit}s")


class OptionalCounter(Counter):
    """A number whose least, 0, stands for none."""

    @override
    def value(self) -> int | None:  # type: ignore[override]
        """The number, or ``None``."""
        return super().value() or None

    @override
    def setValue(self, value: int | None) -> None:
        """Shows a number, or that there is none, silently."""
        super().setValue(value or 0)
