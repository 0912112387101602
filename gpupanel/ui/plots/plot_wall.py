"""All plots of a run on one linked time axis."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtGui import QColor, QHideEvent, QShowEvent
from PySide6.QtWidgets import QGridLayout, QWidget
from typing_extensions import override

from gpupanel.domain.device import DeviceInventory
from gpupanel.ui import formatting, theme
from gpupanel.ui.plots.axis_range import time_range
from gpupanel.ui.plots.curve import Curve
from gpupanel.ui.plots.run_curves import RunCurves
from gpupanel.ui.plots.sample_buffer import SampleBuffer
from gpupanel.ui.plots.time_plot import TimePlot
from gpupanel.ui.theme import GRID

_REDRAW_INTERVAL_MS = 250
"""Four times a second while somebody only watches: painting takes time from the training."""
_POINTED_INTERVAL_MS = 66
"""Fifteen times a second while the pointer is in a plot, so that its line keeps up."""
_WIDEST_RATE = "9,999,999 ex/s"
_WIDEST_MEMORY = "1,023.9 GiB"
_METRIC_TITLES = {"accuracy": "Accuracy, %", "mean_absolute_error": "Mean absolute error"}

_NO_STEP = "No steps recorded"


class PlotWall(QWidget):
    """Loss and metric at the left; utilization, memory and examples a second at the right.

    Draws on a timer while it is shown and not otherwise. All plots show the same span of time:
    the whole run until a person moves or zooms one of them, and again after :meth:`follow`.
    """

    followingChanged = Signal(bool)
    """Whether the whole run is shown, after a person changed that."""

    def __init__(self, curves: RunCurves, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._curves = curves
        self._inventory: DeviceInventory | None = None
        self._is_following = True
        self._pointer_s: float | None = None
        self._metric_name: str | None = None
        nothing_below = (0.0, float("inf"))
        self.loss_plot = TimePlot(
            "loss_plot",
            "Loss",
            "Mean loss over the examples of each step; a dot for each validation.",
            bounds=nothing_below,
            empty_note=_NO_STEP,
        )
        self.metric_plot = TimePlot(
            "metric_plot",
            "Accuracy, %",
            "Fraction of examples classified correctly; a dot for each validation.",
            empty_note=_NO_STEP,
        )
        self.utilization_plot = TimePlot(
            "utilization_plot",
            "Utilization, %",
            "Percent of the last moment in which some kernel ran: not how full a GPU is.",
            value_range=(0.0, 100.0),
        )
        self.memory_plot = TimePlot(
            "memory_plot",
            "Memory, %",
            "Percent of each device's memory in use by all processes.",
            value_range=(0.0, 100.0),
        )
        self.rate_plot = TimePlot(
            "rate_plot",
            "Examples per second",
            "Training only: validation and start-up are not counted.",
            bounds=nothing_below,
            empty_note=_NO_STEP,
        )
        self._timer = QTimer(self)
        self._timer.setInterval(_REDRAW_INTERVAL_MS)
        self._timer.timeout.connect(self.redraw)
        self._arrange()
        self._connect()
        self.setCurves(curves)

    @property
    def plots(self) -> tuple[TimePlot, ...]:
        """All of them."""
        left = (self.loss_plot, self.metric_plot)
        return (*left, self.utilization_plot, self.memory_plot, self.rate_plot)

    @property
    def is_following(self) -> bool:
        """Whether the whole run is shown."""
        return self._is_following

    def setCurves(self, curves: RunCurves) -> None:
        """Show another run."""
        self._curves = curves
        self._metric_name = None
        self.loss_plot.setCurves(_pair(curves.loss, curves.validation_loss, formatting.number))
        self._show_metric(curves)
        self.rate_plot.setCurves(
            (Curve(curves.examples_per_second, "", _training_color, formatting.rate, _WIDEST_RATE),)
        )
        self._show_devices()

    def setDevices(self, inventory: DeviceInventory) -> None:
        """Draw a curve for each of these devices, in its colour."""
        self._inventory = inventory
        self._show_devices()

    @Slot()
    def follow(self) -> None:
        """Show the whole run again, and go on doing so."""
        self._set_following(following=True)
        self._set_times(*time_range(self._curves.elapsed_s))
        for plot in self.plots:
            plot.fitValues()
        self.redraw()

    @Slot()
    def redraw(self) -> None:
        """Bring every plot up to date, if anybody can see them."""
        if not self.isVisible() or self.window().isMinimized():
            return
        if self._curves.metric_name != self._metric_name:
            self._show_metric(self._curves)
        if self._is_following and self._pointer_s is None:
            self._set_times(*time_range(self._curves.elapsed_s))
        for plot in self.plots:
            plot.redraw(self._pointer_s)

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._timer.start()

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        self._timer.stop()
        super().hideEvent(event)

    def _arrange(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(GRID)
        # Six rows, so that two plots at the left stand beside three at the right.
        grid.addWidget(self.loss_plot, 0, 0, 4, 1)
        grid.addWidget(self.metric_plot, 4, 0, 2, 1)
        grid.addWidget(self.utilization_plot, 0, 1, 2, 1)
        grid.addWidget(self.memory_plot, 2, 1, 2, 1)
        grid.addWidget(self.rate_plot, 4, 1, 2, 1)
        for row in range(6):
            grid.setRowStretch(row, 1)
        for column in range(2):
            grid.setColumnStretch(column, 1)

    def _connect(self) -> None:
        for plot in self.plots:
            plot.timeRangeChosen.connect(self._take_times)
            plot.timeRangeReset.connect(self.follow)
            plot.pointed.connect(self._take_pointer)

    @Slot(float, float)
    def _take_times(self, start_s: float, end_s: float) -> None:
        self._set_following(following=False)
        self._set_times(start_s, end_s)

    @Slot(object)
    def _take_pointer(self, time_s: float | None) -> None:
        self._pointer_s = time_s
        interval = _REDRAW_INTERVAL_MS if time_s is None else _POINTED_INTERVAL_MS
        if interval != self._timer.interval():
            self._timer.setInterval(interval)

    def _set_following(self, *, following: bool) -> None:
        if following != self._is_following:
            self._is_following = following
            self.followingChanged.emit(following)

    def _set_times(self, start_s: float, end_s: float) -> None:
        for plot in self.plots:
            plot.setTimeRange(start_s, end_s)

    def _show_metric(self, curves: RunCurves) -> None:
        self._metric_name = curves.metric_name
        is_error = self._metric_name == "mean_absolute_error"
        text = formatting.number if is_error else _percent
        self.metric_plot.setTitle(_METRIC_TITLES.get(self._metric_name or "accuracy", ""))
        self.metric_plot.setBounds(0.0, float("inf") if is_error else 100.0)
        self.metric_plot.setCurves(_pair(curves.metric, curves.validation_metric, text))

    def _show_devices(self) -> None:
        if self._inventory is None:
            return
        devices = self._inventory.devices
        labels = formatting.device_labels(tuple(device.name for device in devices))
        utilization, memory = [], []
        for index, (device, label) in enumerate(zip(devices, labels, strict=True)):
            curves = self._curves.devices.get(device.key)
            if curves is None:
                continue
            color = partial(theme.device_color, index)
            utilization.append(Curve(curves.utilization, label, color, formatting.percent, "100 %"))
            memory.append(Curve(curves.memory, label, color, curves.memory_text, _WIDEST_MEMORY))
        self.utilization_plot.setCurves(tuple(utilization))
        self.memory_plot.setCurves(tuple(memory))


def _pair(
    training: SampleBuffer, validation: SampleBuffer, text: Callable[[float | None], str]
) -> tuple[Curve, Curve]:
    """The curves of something that is measured in training and in validation."""
    return (
        Curve(training, "training", _training_color, text, "0.0000"),
        Curve(validation, "validation", _validation_color, text, "0.0000", has_dots=True),
    )


def _percent(value: float | None) -> str:
    return formatting.fraction(None if value is None else value / 100.0)


def _training_color() -> QColor:
    return theme.current().color("accent")


def _validation_color() -> QColor:
    return theme.current().color("warning")
