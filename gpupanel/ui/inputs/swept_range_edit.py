"""A range of numbers that is tried: from, to, whether by factors, and how many of a grid."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLabel, QWidget

from gpupanel.domain.setting import setting_of
from gpupanel.domain.sweep import MOST_TRIALS, SweptRange
from gpupanel.ui.inputs.counter import Counter
from gpupanel.ui.inputs.real_spin_box import RealRange, RealSpinBox
from gpupanel.ui.inputs.switch import CheckBox
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.flow_layout import FlowLayout
from gpupanel.ui.widgets.layouts import row_in
from gpupanel.ui.widgets.tips import teach

_FIRST_STEPS = 4


class SweptRangeEdit(QWidget):
    """Its parts stand in one line, or in two where it is narrow.

    Args:
        numbers: Which the setting takes.
        title: Of the setting, for assistive technology.
        parent: Owns it.
    """

    valueChanged = Signal(object)
    """A person made another range: a :class:`SweptRange`; :meth:`setValue` is silent."""
    errorChanged = Signal()
    """See :class:`~gpupanel.ui.inputs.input.TypedInput`."""

    def __init__(self, numbers: RealRange, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._value = SweptRange(low=0.0, high=1.0)
        declared = {name: setting_of(SweptRange, name) for name in ("low", "high", "log", "steps")}
        self._low, self._high = RealSpinBox(numbers), RealSpinBox(numbers)
        self._log = CheckBox(declared["log"].title)
        self._steps = Counter(2)
        self._steps.setMaximum(MOST_TRIALS)
        self._steps.setValue(_FIRST_STEPS)
        self._steps_part = _labelled("in", self._steps, "steps")
        parts = {"low": self._low, "high": self._high, "log": self._log, "steps": self._steps}
        for name, part in parts.items():
            teach(part, f"{title}: {declared[name].title}", declared[name].description)
        layout = FlowLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(_labelled("from", self._low))
        layout.addWidget(_labelled("to", self._high))
        # As tall as the fields, so that all stand on one line of text.
        self._log.setMinimumHeight(self._low.sizeHint().height())
        layout.addWidget(self._log)
        layout.addWidget(self._steps_part)
        self.setFocusProxy(self._low)
        self._low.valueChanged.connect(self._report)
        self._high.valueChanged.connect(self._report)
        self._log.toggled.connect(self._report)
        self._steps.valueChanged.connect(self._report)
        for field in (self._low, self._high):
            field.errorChanged.connect(self.errorChanged)

    def value(self) -> SweptRange:
        """The range as shown."""
        return self._value

    def setValue(self, value: SweptRange) -> None:
        """Shows another range silently."""
        self._value = value
        self._low.setValue(value.low)
        self._high.setValue(value.high)
        self._log.setValue(value.log)
        if value.steps is not None:
            self._steps.setValue(value.steps)

    def setGrid(self, is_grid: bool) -> None:
        """Ask for the number of steps, which only a grid needs; it is part of the range then."""
        self._steps_part.setVisible(is_grid)
        if is_grid and self._value.steps is None:
            self._report()

    def error(self) -> str:
        """Why what was typed is no number; empty when it is one."""
        found = ((self._low, "From"), (self._high, "To"))
        return next((f"{name}: {error}" for each, name in found if (error := each.error())), "")

    def discard(self) -> None:
        """Shows the last numbers again in place of texts that are none."""
        self._low.discard()
        self._high.discard()

    def _report(self, *_: object) -> None:
        keeps = self._value.steps is not None or not self._steps_part.isHidden()
        value = SweptRange(
            low=self._low.value(),
            high=self._high.value(),
            log=self._log.value(),
            steps=self._steps.value() if keeps else None,
        )
        if value != self._value:
            self._value = value
            self.valueChanged.emit(value)


def _labelled(before: str, field: QWidget, after: str = "") -> QWidget:
    part = QWidget()
    row = row_in(part, spacing=GRID // 2)
    field.setMinimumWidth(11 * GRID)
    field.setMaximumWidth(14 * GRID)
    for each in (before, field, after):
        if isinstance(each, str):
            label = QLabel(each)
            label.setProperty("tone", "muted")
            label.setVisible(bool(each))
            row.addWidget(label)
        else:
            row.addWidget(each)
    return part
