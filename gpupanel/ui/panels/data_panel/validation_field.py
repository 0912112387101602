"""What a run is validated on: its own test set, examples held out, or nothing."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from gpupanel.domain.choice import Choice
from gpupanel.domain.data_source import DataSource
from gpupanel.domain.setting import setting_of
from gpupanel.ui.inputs.choice_box import ChoiceBox
from gpupanel.ui.inputs.real_spin_box import RealRange, RealSpinBox
from gpupanel.ui.widgets.layouts import row_in
from gpupanel.ui.widgets.tips import teach

_OWN = Choice("own", "Own test set", "The test examples of the data set.")
_PART = Choice("part", "Hold out", "A fraction of the examples, which is not used for training.")
_NONE = Choice(
    "none",
    "None",
    "All examples are used for training; how well the model generalises is not measured.",
)
_FIRST_PART = 0.2
_PART_WIDTH = 88
_TIP = setting_of(DataSource, "validation_fraction").description
_PART_TIP = "Percent of the examples that are held out for validation: 20 % is one in five."


class ValidationField(QWidget):
    """Edits ``validation_fraction``: ``None``, 0, or a part of the examples.

    A fraction of 0 means no validation; ``None`` means the source's own test set, or no
    validation for a source that has none.
    """

    valueChanged = Signal(object)
    """A person chose another fraction: a float or ``None``; :meth:`setValue` is silent."""
    errorChanged = Signal()
    """See :class:`~gpupanel.ui.inputs.input.TypedInput`."""

    def __init__(self, *, has_own: bool, parent: QWidget | None = None) -> None:
        """Makes the field.

        Args:
            has_own: Whether the source has a test set of its own.
            parent: The owner in Qt's sense.
        """
        super().__init__(parent)
        self._has_own = has_own
        self._choice = ChoiceBox((_OWN, _PART, _NONE) if has_own else (_PART, _NONE))
        self._part = RealSpinBox(
            RealRange(lowest_allowed=False, below=1.0), step=0.05, is_percent=True
        )
        self._part.setValue(_FIRST_PART)
        self._part.setFixedWidth(_PART_WIDTH)
        teach(self._choice, "Validation", _TIP)
        teach(self._part, "Percent held out for validation", _PART_TIP)
        layout = row_in(self)
        layout.addWidget(self._choice, 1)
        layout.addWidget(self._part)
        self.setFocusProxy(self._choice)
        self._choice.valueChanged.connect(self._choose)
        self._part.valueChanged.connect(self.valueChanged.emit)
        self._part.errorChanged.connect(self.errorChanged)

    def value(self) -> float | None:
        """The fraction as shown."""
        chosen = {_OWN.value: None, _PART.value: self._part.value(), _NONE.value: 0.0}
        return chosen[self._choice.value()]

    def setValue(self, value: float | None) -> None:
        """Shows another fraction silently."""
        if value:
            self._part.setValue(value)
            self._choice.setValue(_PART.value)
        else:
            self._choice.setValue(_OWN.value if self._has_own and value is None else _NONE.value)
        self._part.setVisible(bool(value))

    def error(self) -> str:
        """Why what was typed is no part of the examples; empty when it is one, or is not asked."""
        return self._part.error() if self._choice.value() == _PART.value else ""

    def discard(self) -> None:
        """Shows the last part again in place of a text that is none."""
        self._part.discard()

    def _choose(self, choice: str) -> None:
        self._part.setVisible(choice == _PART.value)
        self.errorChanged.emit()
        self.valueChanged.emit(self.value())
