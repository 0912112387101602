"""What a run is validated on: a set of its own, a part held back, or nothing."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from gpupanel.ui.widgets.choice_box import Choice, ChoiceBox
from gpupanel.ui.widgets.real_spin_box import RealRange, RealSpinBox
from gpupanel.ui.widgets.settings_form import teach

_OWN = Choice("own", "Its own test set", "The examples that the source set aside for testing.")
_PART = Choice("part", "A part", "Drawn by the seed, and never trained on.")
_NONE = Choice("none", "Nothing", "All examples are trained on; nothing tells how well it learns.")
_FIRST_PART = 0.2
_PART_WIDTH = 88
_PART_TIP = "The part of the examples that is held back for validation: 0.2 is one in five."


class ValidationField(QWidget):
    """Edits ``validation_fraction``: ``None``, 0, or a part of the examples.

    A fraction of 0 means no validation; ``None`` means the source's own test set, or no
    validation for a source that has none.
    """

    fractionChanged = Signal(object)
    """A person chose another fraction: a float or ``None``."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._has_own = True
        self._with_own = ChoiceBox((_OWN, _PART, _NONE))
        self._without_own = ChoiceBox((_PART, _NONE))
        self._part = RealSpinBox(RealRange(lowest_allowed=False, below=1.0), step=0.05)
        self._part.setNumber(_FIRST_PART)
        self._part.setFixedWidth(_PART_WIDTH)
        teach(self._part, "Part held back for validation", _PART_TIP)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addWidget(self._with_own, 1)
        layout.addWidget(self._without_own, 1)
        layout.addWidget(self._part)
        self.setFocusProxy(self._with_own)
        self._with_own.choiceMade.connect(self._choose)
        self._without_own.choiceMade.connect(self._choose)
        self._part.numberChanged.connect(self.fractionChanged.emit)

    def setFraction(self, fraction: float | None, *, has_own: bool) -> None:
        """Shows another fraction without telling anyone.

        Args:
            fraction: Of the examples; see the class.
            has_own: Whether the source has a test set of its own.
        """
        self._has_own = has_own
        box = self._box()
        self.setFocusProxy(box)
        teach(box, "Validation", self.toolTip())
        self._with_own.setVisible(has_own)
        self._without_own.setVisible(not has_own)
        if fraction:
            self._part.setNumber(fraction)
            box.setChoice(_PART.value)
        else:
            box.setChoice(_OWN.value if has_own and fraction is None else _NONE.value)
        self._part.setVisible(bool(fraction))

    def _box(self) -> ChoiceBox:
        return self._with_own if self._has_own else self._without_own

    def _choose(self, choice: str) -> None:
        chosen = {_OWN.value: None, _PART.value: self._part.number(), _NONE.value: 0.0}
        self._part.setVisible(choice == _PART.value)
        self.fractionChanged.emit(chosen[choice])
