"""How curves are drawn: what is counted at the bottom, smoothing, logarithms, the whole again."""

from bisect import bisect_right

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QLabel, QPushButton, QWidget
from typing_extensions import override

from gpupanel.ui.inputs.quiet_inputs import Slider
from gpupanel.ui.plots.axis_range import AxisKind
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.flow_layout import FlowLayout
from gpupanel.ui.widgets.layouts import row_in
from gpupanel.ui.widgets.tips import wrapped

_SPANS = (0, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
"""Steps, by the places of the slider."""
_FEWEST_SPANS = _SPANS.index(10)
_SMOOTHING_TIP = (
    "Exponential moving average: a value this many steps back has about a third of the "
    "weight. The measured values stay visible behind it. Values of whole epochs are not "
    "smoothed."
)
_LOG_TIP = "Logarithmic vertical axis of losses, errors and learning rates."
SHORT_ZOOM_HINT = "Drag to zoom, Shift and drag to pan"
ZOOM_HINT = (
    "Drag a box or turn the wheel to zoom, Shift and drag to pan, double-click to reset. "
    "Keys: + and -, Shift and the arrows, 0."
)


class AxisTools(QWidget):
    """One row, or several where it is narrow; whoever shows the curves does what it asks for.

    Args:
        prefix: Of the names of its objects.
        time_tip: What counting by time means there.
        has_mnemonics: Whether Alt and a letter reach the parts.
    """

    axisChosen = Signal(object)
    """What a person wants counted at the bottom: an :class:`AxisKind`."""

    def __init__(
        self,
        prefix: str = "",
        *,
        time_tip: str,
        has_mnemonics: bool = True,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        texts = ["&Steps", "Epochs", "T&ime", "S&moothing", "Log y"]
        if not has_mnemonics:
            texts = [text.replace("&", "") for text in texts]
        self._axes = {
            AxisKind.STEP: switch(texts[0], f"{prefix}step_axis", "Horizontal axis: steps"),
            AxisKind.EPOCH: switch(texts[1], f"{prefix}epoch_axis", "Horizontal axis: epochs"),
            AxisKind.TIME: switch(texts[2], f"{prefix}time_axis", time_tip),
        }
        self.smoothing = _SmoothingSlider(f"{prefix}smoothing_slider", texts[3])
        self.logarithmic = switch(texts[4], f"{prefix}log_values", _LOG_TIP)
        group = QButtonGroup(self)
        kinds = QWidget()
        row = row_in(kinds)
        row.setContentsMargins(0, 0, GRID, 0)
        for place, button in enumerate(self._axes.values()):
            group.addButton(button, place)
            row.addWidget(button)
        self._row = FlowLayout(self)
        for widget in (kinds, self.smoothing, self.logarithmic):
            self._row.addWidget(widget)
        self._axes[AxisKind.STEP].setChecked(True)
        group.idClicked.connect(self._on_axis_clicked)

    @override
    def hasHeightForWidth(self) -> bool:
        # A page that scrolls takes such a height for the least of all that is in it.
        return False

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.setFixedHeight(self._row.heightForWidth(self.width()))

    def addTool(self, tool: QWidget) -> None:
        """Let something else stand behind them."""
        self._row.addWidget(tool)

    def setAxis(self, kind: AxisKind) -> None:
        """Show that this is counted, without a signal."""
        self._axes[kind].setChecked(True)

    def setEpochsKnown(self, are_known: bool) -> None:
        """Whether it is known how long an epoch is."""
        self._axes[AxisKind.EPOCH].setEnabled(are_known)

    def setSteps(self, steps: float) -> None:
        """Offer smoothing over at most half of so many steps: over more a curve is a line."""
        self.smoothing.setSteps(steps)

    @Slot(int)
    def _on_axis_clicked(self, place: int) -> None:
        self.axisChosen.emit(tuple(self._axes)[place])


class _SmoothingSlider(QWidget):
    """From no smoothing, at the left, to that over half of the run."""

    valueChanged = Signal(float)
    """Steps; 0: no smoothing."""

    def __init__(self, name: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._slider = Slider()
        self._slider.setObjectName(name)
        self._slider.setRange(0, _FEWEST_SPANS)
        self._slider.setPageStep(3)
        self._slider.setMinimumWidth(8 * GRID)
        self._slider.setMaximumWidth(16 * GRID)
        self._slider.setAccessibleName("Smoothing")
        self._words = QLabel()
        self._words.setMinimumWidth(self._words.fontMetrics().horizontalAdvance(_words(_SPANS[-1])))
        caption = QLabel(title)
        caption.setBuddy(self._slider)
        layout = row_in(self)
        for widget in (caption, self._slider, self._words):
            layout.addWidget(widget)
        self.setToolTip(wrapped(_SMOOTHING_TIP))
        self._slider.valueChanged.connect(self._on_moved)
        self._on_moved(0)

    def value(self) -> float:
        """Steps over which is smoothed; 0: none."""
        return float(_SPANS[self._slider.value()])

    def setSteps(self, steps: float) -> None:
        """Offer what suits so many steps; what was chosen stays."""
        most = bisect_right(_SPANS, 0.5 * steps) - 1
        self._slider.setMaximum(max(_FEWEST_SPANS, most, self._slider.value()))

    @Slot(int)
    def _on_moved(self, _place: int) -> None:
        span = self.value()
        self._words.setText(_words(span))
        self._slider.setAccessibleDescription(self._words.text())
        self.valueChanged.emit(span)


def _words(span: float) -> str:
    """A span of smoothing, short: "50k steps"."""
    if not span:
        return "Off"
    return f"{span:.0f} steps" if span < 1_000.0 else f"{span / 1_000.0:.0f}k steps"


def switch(text: str, name: str, tip: str) -> QPushButton:
    """A button that stays down."""
    button = QPushButton(text)
    button.setObjectName(name)
    button.setToolTip(wrapped(tip))
    button.setCheckable(True)
    return button
