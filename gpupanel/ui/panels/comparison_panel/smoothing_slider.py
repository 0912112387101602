"""How far curves are smoothed."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from gpupanel.ui.inputs.quiet_inputs import Slider
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.tips import wrapped

SPANS = (0, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
"""Steps, by the places of the slider."""
_TIP = (
    "Exponential moving average: a value this many steps back has about a third of the "
    "weight. The measured values stay visible behind it. Values of whole epochs are not "
    "smoothed."
)


class SmoothingSlider(QWidget):
    """From no smoothing, at the left, to that over 100,000 steps."""

    spanChanged = Signal(float)
    """Steps; 0: no smoothing."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._slider = Slider()
        self._slider.setObjectName("smoothing_slider")
        self._slider.setRange(0, len(SPANS) - 1)
        self._slider.setPageStep(3)
        self._slider.setFixedWidth(16 * GRID)
        self._slider.setAccessibleName("Smoothing")
        self._words = QLabel()
        self._words.setMinimumWidth(self._words.fontMetrics().horizontalAdvance("100,000 steps"))
        caption = QLabel("S&moothing")
        caption.setBuddy(self._slider)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        for widget in (caption, self._slider, self._words):
            layout.addWidget(widget)
        self.setToolTip(wrapped(_TIP))
        self._slider.valueChanged.connect(self._on_moved)
        self._on_moved(0)

    def span(self) -> float:
        """Steps over which is smoothed; 0: none."""
        return float(SPANS[self._slider.value()])

    def setSpan(self, span: float) -> None:
        """Smooth over that many steps, one of :data:`SPANS`."""
        self._slider.setValue(SPANS.index(int(span)))

    @Slot(int)
    def _on_moved(self, _place: int) -> None:
        span = self.span()
        self._words.setText(f"{span:,.0f} steps" if span else "Off")
        self._slider.setAccessibleDescription(self._words.text())
        self.spanChanged.emit(span)
