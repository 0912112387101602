"""A number that can be left out."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QLabel, QWidget

from gpupanel.ui.inputs.real_spin_box import RealRange, RealSpinBox
from gpupanel.ui.inputs.switch import Switch
from gpupanel.ui.widgets.layouts import row_in
from gpupanel.ui.widgets.tips import teach


class OptionalReal(QWidget):
    """A switch, and the number that holds while it is on; off keeps the number for later."""

    valueChanged = Signal(object)
    """A person chose another number, or ``None``; :meth:`setValue` is silent."""
    errorChanged = Signal()
    """See :class:`~gpupanel.ui.inputs.input.TypedInput`."""

    def __init__(
        self,
        numbers: RealRange,
        *,
        first: float,
        name: str,
        tip: str,
        off: str = "off",
        unit: str = "",
    ) -> None:
        """Makes the field.

        Args:
            numbers: Which numbers it takes.
            first: The number that it has when it is switched on for the first time.
            name: What it is called by assistive technology.
            tip: What it does; shown over switch and number alike.
            off: What leaving it out means.
            unit: Shown behind the number.
        """
        super().__init__()
        self._switch = Switch(self)
        self._field = RealSpinBox(numbers, parent=self)
        self._off = QLabel(off, self)
        self._off.setProperty("tone", "muted")
        self._unit = QLabel(unit, self)
        self._field.setValue(first)
        teach(self._switch, f"{name}: on or off", tip)
        teach(self._field, name, tip)
        layout = row_in(self)
        layout.addWidget(self._switch)
        layout.addWidget(self._field, 1)
        layout.addWidget(self._unit)
        layout.addWidget(self._off, 1)
        self.setFocusProxy(self._switch)
        self._switch.toggled.connect(self._turn)
        self._field.valueChanged.connect(self._report)
        self._field.errorChanged.connect(self.errorChanged)
        self._show_state()

    def value(self) -> float | None:
        """The number; ``None`` while it is off."""
        return self._field.value() if self._switch.isChecked() else None

    def setValue(self, number: float | None) -> None:
        """Shows a number, or that there is none, silently."""
        was_blocked = self._switch.blockSignals(True)
        self._switch.setChecked(number is not None)
        self._switch.blockSignals(was_blocked)
        self._switch.update()
        if number is not None:
            self._field.setValue(number)
        self._show_state()

    def error(self) -> str:
        """Why the text is no number; empty when it is one, or while it is off."""
        return self._field.error() if self._switch.isChecked() else ""

    def discard(self) -> None:
        """Shows the last number again in place of a text that is none."""
        self._field.discard()

    @Slot()
    def _turn(self) -> None:
        self._show_state()
        self.errorChanged.emit()
        self._report()

    @Slot()
    def _report(self) -> None:
        self.valueChanged.emit(self.value())

    def _show_state(self) -> None:
        is_on = self._switch.isChecked()
        self._field.setVisible(is_on)
        self._unit.setVisible(is_on and bool(self._unit.text()))
        self._off.setVisible(not is_on)
