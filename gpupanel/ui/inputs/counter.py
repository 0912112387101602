"""Spin boxes for whole numbers, which report at each keystroke and can speak in words."""

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QWidget
from typing_extensions import override

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
        # Of the number itself: a subclass may say "none" for the least one.
        if value == SpinBox.value(self):
            return
        with QSignalBlocker(self):
            super().setValue(min(value, GREATEST))
        self._name_unit(self.value())

    def _name_unit(self, count: int) -> None:
        if self._unit:
            self.setSuffix(f" {self._unit}" if count == 1 else f" {self._unit}s")


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
