"""A height and a width."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLabel, QWidget

from gpupanel.ui.inputs.counter import Counter
from gpupanel.ui.widgets.layouts import row_in
from gpupanel.ui.widgets.tips import teach


class SizeInput(QWidget):
    """Two whole numbers."""

    valueChanged = Signal(object)
    """A person changed one of them: both, a tuple of int; :meth:`setValue` is silent."""

    def __init__(self, *, title: str, tip: str, least: int, most: int, unit: str) -> None:
        """Makes the field.

        Args:
            title: What has that size.
            tip: What the size does.
            least: The least height and width.
            most: The greatest height and width.
            unit: Of both, in the singular.
        """
        super().__init__()
        self._height, self._width = Counter(least), Counter(least, unit=unit)
        for name, side in (("height", self._height), ("width", self._width)):
            teach(side, f"{title}: {name}", tip)
            side.setMaximum(most)
            side.valueChanged.connect(self._change)
        layout = row_in(self)
        layout.addWidget(self._height, 1)
        layout.addWidget(QLabel("x"))
        layout.addWidget(self._width, 1)
        self.setFocusProxy(self._height)

    def value(self) -> tuple[int, int]:
        """Height and width."""
        return self._height.value(), self._width.value()

    def setValue(self, value: tuple[int, int]) -> None:
        """Shows another size silently."""
        self._height.setValue(value[0])
        self._width.setValue(value[1])

    def _change(self) -> None:
        self.valueChanged.emit(self.value())
