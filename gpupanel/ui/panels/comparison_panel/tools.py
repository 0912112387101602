"""What can be done with a comparison: how it is drawn, and what can be taken along."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import (
    QButtonGroup,
    QLabel,
    QMenu,
    QPushButton,
    QToolButton,
    QWidget,
)

from gpupanel.ui.inputs.quiet_inputs import Slider
from gpupanel.ui.plots.axis_range import AxisKind
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.layouts import row_in
from gpupanel.ui.widgets.tips import wrapped

_SPANS = (0, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
"""Steps, by the places of the slider."""
_SMOOTHING_TIP = (
    "Exponential moving average: a value this many steps back has about a third of the "
    "weight. The measured values stay visible behind it. Values of whole epochs are not "
    "smoothed."
)


class ViewTools(QWidget):
    """Curves or differences; the axis and the smoothing of the curves."""

    differencesChosen = Signal(bool)
    """Whether the differences are to be shown; else the curves."""
    axisChosen = Signal(object)
    """What the curves are to be counted by: an :class:`AxisKind`."""
    spanChanged = Signal(float)
    wholeRequested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._curves = _switch(
            "&Curves", "show_curves", "Loss, accuracy and speed of the runs, one plot each"
        )
        self._differences = _switch(
            "&Differences", "show_differences", "Settings and devices in which the runs differ"
        )
        self._steps = _switch("&Steps", "step_axis", "Horizontal axis: steps")
        self._time = _switch(
            "T&ime",
            "time_axis",
            "Horizontal axis: time since each run's start, without pauses",
        )
        self._smoothing = _SmoothingSlider()
        self._whole = QPushButton("Reset &zoom")
        self._whole.setObjectName("whole_runs")
        self._whole.setToolTip("Shows the whole range again (also: double-click in a plot)")
        self._whole.setEnabled(False)
        self._compose()
        self._differences.toggled.connect(self._on_differences_toggled)
        self._time.toggled.connect(self._on_time_toggled)
        self._smoothing.valueChanged.connect(self.spanChanged)
        self._whole.clicked.connect(self.wholeRequested)

    @property
    def shows_differences(self) -> bool:
        """Whether the differences were chosen; else the curves."""
        return self._differences.isChecked()

    @Slot(bool)
    def setWhole(self, is_whole: bool) -> None:
        """Whether the runs are shown whole."""
        self._whole.setEnabled(not is_whole)

    def _compose(self) -> None:
        layout = row_in(self)
        for pair in ((self._curves, self._differences), (self._steps, self._time)):
            group = QButtonGroup(self)
            for button in pair:
                group.addButton(button)
                layout.addWidget(button)
            pair[0].setChecked(True)
            layout.addSpacing(2 * GRID)
        layout.addWidget(self._smoothing)
        layout.addStretch(1)
        layout.addWidget(self._whole)

    @Slot(bool)
    def _on_differences_toggled(self, is_on: bool) -> None:
        for widget in (self._steps, self._time, self._smoothing):
            widget.setEnabled(not is_on)
        self.differencesChosen.emit(is_on)

    @Slot(bool)
    def _on_time_toggled(self, is_on: bool) -> None:
        self.axisChosen.emit(AxisKind.TIME if is_on else AxisKind.STEP)


class ExportTools(QWidget):
    """Saves what is compared into files; says what became of it."""

    tableRequested = Signal()
    pictureRequested = Signal(bool)
    """Whether it is to be on white, whatever the window looks like."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._table = QPushButton("E&xport CSV…")
        self._table.setObjectName("save_curves")
        self._table.setToolTip(
            "Writes every value of these runs into a CSV file: run, step, time_s, metric, value"
        )
        self._picture = QToolButton()
        self._picture.setObjectName("save_picture")
        self._picture.setText("Save &picture…")
        self._picture.setToolTip("Saves the plots with their legend as a PNG picture, on white")
        self._picture.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
        menu = QMenu(self._picture)
        menu.addAction("White background…", self._ask_for_white)
        menu.addAction("Current theme…", self._ask_as_shown)
        self._picture.setMenu(menu)
        layout = row_in(self)
        layout.addWidget(self._table)
        layout.addWidget(self._picture)
        self._table.clicked.connect(self.tableRequested)
        self._picture.clicked.connect(self._ask_for_white)

    def setTableBusy(self, is_busy: bool) -> None:
        """Whether a table is being written: one at a time."""
        self._table.setEnabled(not is_busy)

    def setPictureEnabled(self, is_enabled: bool) -> None:
        """Whether there is anything to draw."""
        self._picture.setEnabled(is_enabled)

    @Slot()
    def _ask_for_white(self) -> None:
        self.pictureRequested.emit(True)

    @Slot()
    def _ask_as_shown(self) -> None:
        self.pictureRequested.emit(False)


class _SmoothingSlider(QWidget):
    """From no smoothing, at the left, to that over 100,000 steps."""

    valueChanged = Signal(float)
    """Steps; 0: no smoothing."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._slider = Slider()
        self._slider.setObjectName("smoothing_slider")
        self._slider.setRange(0, len(_SPANS) - 1)
        self._slider.setPageStep(3)
        self._slider.setFixedWidth(16 * GRID)
        self._slider.setAccessibleName("Smoothing")
        self._words = QLabel()
        self._words.setMinimumWidth(self._words.fontMetrics().horizontalAdvance("100,000 steps"))
        caption = QLabel("S&moothing")
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

    @Slot(int)
    def _on_moved(self, _place: int) -> None:
        span = self.value()
        self._words.setText(f"{span:,.0f} steps" if span else "Off")
        self._slider.setAccessibleDescription(self._words.text())
        self.valueChanged.emit(span)


def _switch(text: str, name: str, tip: str) -> QPushButton:
    button = QPushButton(text)
    button.setObjectName(name)
    button.setToolTip(tip)
    button.setCheckable(True)
    return button
