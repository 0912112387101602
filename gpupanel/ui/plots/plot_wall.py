"""All plots of a run on one linked axis."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtGui import QColor, QHideEvent, QShowEvent
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget
from typing_extensions import override

from gpupanel.domain.device import DeviceInventory
from gpupanel.ui import device_colors, formatting, theme
from gpupanel.ui.plots import run_plots
from gpupanel.ui.plots.axis_range import AxisKind
from gpupanel.ui.plots.axis_scale import SAME_SCALE, AxisScale, StepScale
from gpupanel.ui.plots.curve import Best, Curve, Marks
from gpupanel.ui.plots.device_spread import ReadingSpread
from gpupanel.ui.plots.picture import CurvePicture
from gpupanel.ui.plots.run_curves import FURTHER_STEP_METRICS, RunCurves
from gpupanel.ui.plots.sample_buffer import SampleBuffer
from gpupanel.ui.plots.smoothed_points import SmoothedPoints
from gpupanel.ui.plots.time_band import TimeBand
from gpupanel.ui.plots.time_plot import TimePlot
from gpupanel.ui.plots.unit_text import percent_text, unit_text
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.layouts import row_in

_REDRAW_INTERVAL_MS = 250
"""Four times a second while somebody only watches: painting takes time from the training."""
_POINTED_INTERVAL_MS = 66
"""Fifteen times a second while the pointer is in a plot, so that its line keeps up."""
_WIDEST_RATE = "9,999,999 ex/s"
_WIDEST_MEMORY = "1,023.9 GiB"
_METRIC_TITLES = {"accuracy": "Accuracy, %", "mean_absolute_error": "Mean absolute error"}

_FEET = {
    AxisKind.STEP: "Over steps.",
    AxisKind.EPOCH: "Over epochs.",
    AxisKind.TIME: "Over the time of the run, without pauses.",
}
_ROWS = 2
"""Of a plot, where the low one has one."""
_LEAST_HEIGHT, _LEAST_LOW = 96, 72
"""Of each plot, in pixels: with less, rings and triangles cover the curves; and of the band."""
_FURTHER_LEFT = -(-len(FURTHER_STEP_METRICS) // 2)
_NO_READINGS = "No readings recorded"
_SHORT_RUN_S = 120.0
"""A run that is no longer when its first steps are drawn is drawn over steps: by time, most of it
would be the start."""


class PlotWall(QWidget):
    """Loss and metric at the left; utilization, memory and examples a second at the right.

    Draws on a timer while it is shown and not otherwise. All plots show the same part of the axis:
    the whole run until a person moves or zooms one of them, and again after :meth:`follow`. What
    the axis counts follows from the run, until a person chooses.

    Attributes:
        further_plots: Those that are shown when a person asks for them.
    """

    followingChanged = Signal(bool)
    """Whether the whole run is shown, after a person changed that."""
    axisChanged = Signal(object)
    """What is counted at the bottom now: an :class:`AxisKind`."""
    epochsKnown = Signal(bool)
    """Whether it is known how long an epoch of the run is."""

    def __init__(self, curves: RunCurves, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._curves = curves
        self._inventory: DeviceInventory | None = None
        self._is_following = True
        self._axis = AxisKind.TIME
        self._chosen_axis: AxisKind | None = None
        self._found_axis: AxisKind | None = None
        self._scale: AxisScale = SAME_SCALE
        self._steps_per_epoch: int | None = None
        self._span = 0.0
        self._hidden: frozenset[str] = frozenset()
        self._chosen_range = (0.0, 10.0)
        self._pointer_s: float | None = None
        self._metric_name: str | None = None
        self.loss_plot = run_plots.loss_plot()
        self.metric_plot = run_plots.metric_plot()
        self.utilization_plot = run_plots.utilization_plot()
        self.memory_plot = run_plots.memory_plot()
        self.rate_plot = run_plots.rate_plot()
        self.further_plots = tuple(map(run_plots.further_plot, FURTHER_STEP_METRICS))
        self.time_plot = TimeBand()
        self.time_plot.deviceChosen.connect(self.redraw)
        self._further: tuple[TimePlot, ...] = ()
        self._timer = QTimer(self)
        self._timer.setInterval(_REDRAW_INTERVAL_MS)
        self._timer.timeout.connect(self.redraw)
        self._columns = (QVBoxLayout(), QVBoxLayout())
        beside = row_in(self)
        for column in self._columns:
            column.setSpacing(GRID)
            beside.addLayout(column, 1)
        self._arrange()
        self._connect()
        self.setCurves(curves)

    @property
    def plots(self) -> tuple[TimePlot, ...]:
        """Those that are shown."""
        return (*self._left(), *self._right())

    def setFurtherPlots(self, shown: tuple[TimePlot, ...]) -> None:
        """Show these of the further plots, and no others."""
        self._further = shown
        self._arrange()
        self._set_times(*self.span())
        self.redraw()

    def picture(self, title: str) -> CurvePicture:
        """What is shown, as a picture in the theme that is current."""
        span = self.span()
        plots = [plot.picture_plot(span, has_legend=True) for plot in self.plots]
        foot = _FEET[self._axis]
        if self._span > 0.0:
            foot += f" Curves of steps are smoothed over {self._span:,.0f} steps."
        return CurvePicture(title, plots, foot)

    @property
    def axis(self) -> AxisKind:
        """What is counted at the bottom."""
        return self._axis

    def setAxis(self, axis: AxisKind) -> None:
        """Count that, whatever the run is like."""
        self._chosen_axis = axis
        self._show_axis(self._wanted_axis())
        self.follow()

    def setSmoothing(self, span: float) -> None:
        """Smooth what comes with steps over so many of them; 0: not at all."""
        self._span = span
        self._show_curves()
        self.redraw()

    def setLogarithmic(self, is_log: bool) -> None:
        """Whether losses, errors, rates and norms stand at their logarithms."""
        for plot in (*self.plots, *self.further_plots):
            plot.setLogarithmic(is_log)
        self.redraw()

    @property
    def is_following(self) -> bool:
        """Whether the whole run is shown."""
        return self._is_following

    def setCurves(self, curves: RunCurves) -> None:
        """Show another run."""
        self._curves = curves
        self._metric_name = None
        self._found_axis = self._steps_per_epoch = None
        self.epochsKnown.emit(False)
        self._show_axis(self._wanted_axis())
        self._show_curves()

    def _show_curves(self) -> None:
        curves = self._curves
        losses = (curves.loss, curves.validation_loss)
        self.loss_plot.setCurves(
            self._pair(*losses, formatting.number, can_smooth=True, best=Best.LEAST)
        )
        self.time_plot.setTrack(curves.time_spent)
        self.loss_plot.setMarks(
            Marks(curves.checkpoints, curves.resumptions, curves.findings, curves.finding_titles)
        )
        self._show_metric(curves)
        for metric, plot in zip(FURTHER_STEP_METRICS, self.further_plots, strict=True):
            unit, buffer = unit_text(metric), curves.further[metric.name]
            curve = Curve(buffer, "", _training_color, unit.text, unit.widest)
            plot.setCurves((curve,) if metric.is_even else self._smoothed(curve))
        self.showDevices()

    def setDevices(self, inventory: DeviceInventory) -> None:
        """Draw a curve for each of these devices, in its colour."""
        self._inventory = inventory
        self.showDevices()

    def setComplete(self, *, is_complete: bool) -> None:
        """Whether no reading of the devices comes any more: where none came, plots say so."""
        # Readings before the first step have no place on an axis of steps.
        words = _NO_READINGS if is_complete and not self._curves.has_readings else ""
        for plot in (self.utilization_plot, self.memory_plot):
            plot.setEmptyNote(words)

    @Slot()
    def follow(self) -> None:
        """Show the whole run again, and go on doing so."""
        self._set_following(following=True)
        self._set_times(*self.span())
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
        self._find_axis()
        if self._is_following and self._pointer_s is None:
            self._set_times(*self.span())
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

    def _left(self) -> tuple[TimePlot, ...]:
        further = self._shown_of(self.further_plots[:_FURTHER_LEFT])
        return (self.loss_plot, self.time_plot, self.metric_plot, *further)

    def _right(self) -> tuple[TimePlot, ...]:
        further = self._shown_of(self.further_plots[_FURTHER_LEFT:])
        return (self.utilization_plot, self.memory_plot, self.rate_plot, *further)

    def _shown_of(self, plots: tuple[TimePlot, ...]) -> tuple[TimePlot, ...]:
        return tuple(plot for plot in plots if plot in self._further)

    def _arrange(self) -> None:
        columns = self._left(), self._right()
        for column in self._columns:
            for plot in (*self.plots, *self.further_plots):
                column.removeWidget(plot)
        rows = max(sum(map(self._rows_of, plots)) for plots in columns)
        for column, plots in zip(self._columns, columns, strict=True):
            more = rows - sum(map(self._rows_of, plots))
            for plot in plots:
                # The first is as high as two where there is room, the next where there is more.
                added = min(more, _ROWS)
                column.addWidget(plot, self._rows_of(plot) + added)
                more -= added
        for plot in self.further_plots:
            plot.setParent(self)
            plot.setVisible(plot in self._further)
        for plot in self.plots:
            # By their rows alone, not by how large a canvas would like to be.
            plot.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
            is_low = plot is self.time_plot
            plot.setMinimumHeight(_LEAST_LOW if is_low else _LEAST_HEIGHT)

    def _rows_of(self, plot: TimePlot) -> int:
        """Of the grid; the band is low, under the loss."""
        return 1 if plot is self.time_plot else _ROWS

    def _connect(self) -> None:
        for plot in (*self.plots, *self.further_plots):
            plot.timeRangeChosen.connect(self.showSpan)
            plot.timeRangeReset.connect(self.follow)
            plot.pointed.connect(self._take_pointer)
            plot.curveToggled.connect(self._toggle_curve)

    @Slot(float, float)
    def showSpan(self, start_s: float, end_s: float) -> None:
        """Show that part of the axis until the whole run is asked for."""
        self._set_following(following=False)
        self._chosen_range = self._axis.at_least(start_s, end_s)
        self._set_times(*self._chosen_range)

    @Slot(object)
    def _take_pointer(self, time_s: float | None) -> None:
        self._pointer_s = time_s
        interval = _REDRAW_INTERVAL_MS if time_s is None else _POINTED_INTERVAL_MS
        if interval != self._timer.interval():
            self._timer.setInterval(interval)

    @Slot(str)
    def _toggle_curve(self, label: str) -> None:
        """Hide that curve wherever it is drawn, or show it again: a device, what is of training."""
        self._hidden ^= {label}
        for plot in (*self.plots, *self.further_plots):
            plot.setHiddenCurves(self._hidden)
        self.redraw()

    def _set_following(self, *, following: bool) -> None:
        if following != self._is_following:
            self._is_following = following
            self.followingChanged.emit(following)

    def _set_times(self, start_s: float, end_s: float) -> None:
        for plot in self.plots:
            plot.setTimeRange(start_s, end_s)

    def span(self) -> tuple[float, float]:
        """The part of the axis that is shown: the whole run, or what a person chose of it."""
        if not self._is_following:
            return self._chosen_range
        curves = self._curves
        ends = {
            AxisKind.TIME: curves.elapsed_s,
            AxisKind.STEP: curves.steps.last_step,
            AxisKind.EPOCH: curves.steps.last_step / (self._steps_per_epoch or 1),
        }
        return self._axis.whole(ends[self._axis])

    def _find_axis(self) -> None:
        """Count what suits the run as soon as it has made steps, unless a person chose."""
        length = self._curves.steps_per_epoch
        is_other_length = length != self._steps_per_epoch
        if is_other_length:
            self._steps_per_epoch = length
            self.epochsKnown.emit(length is not None)
        wanted = self._wanted_axis()
        if wanted is not self._axis or (is_other_length and wanted is AxisKind.EPOCH):
            self._show_axis(wanted)

    def _wanted_axis(self) -> AxisKind:
        if self._chosen_axis is AxisKind.EPOCH and self._steps_per_epoch is None:
            return AxisKind.STEP
        if self._chosen_axis is not None:
            return self._chosen_axis
        curves = self._curves
        if self._found_axis is None and curves.steps.last_step:
            is_short = curves.elapsed_s <= _SHORT_RUN_S
            self._found_axis = AxisKind.STEP if is_short else AxisKind.TIME
        return self._found_axis or AxisKind.TIME

    def _show_axis(self, axis: AxisKind) -> None:
        self._axis = axis
        unit = self._steps_per_epoch or 1 if axis is AxisKind.EPOCH else 1
        is_time = axis is AxisKind.TIME
        self._scale = SAME_SCALE if is_time else StepScale(self._curves.steps, unit)
        for plot in (*self.plots, *self.further_plots):
            plot.setAxis(axis, self._scale)
        self.axisChanged.emit(axis)

    def _show_metric(self, curves: RunCurves) -> None:
        self._metric_name = curves.metric_name
        is_error = self._metric_name == "mean_absolute_error"
        text = formatting.number if is_error else percent_text
        self.metric_plot.setTitle(_METRIC_TITLES.get(self._metric_name or "accuracy", ""))
        self.metric_plot.setBounds(0.0, float("inf") if is_error else 100.0)
        # Errors come once an epoch.
        measured = (curves.metric, curves.validation_metric)
        best = Best.LEAST if is_error else Best.GREATEST
        pair = self._pair(*measured, text, can_smooth=not is_error, best=best)
        self.metric_plot.setCurves(pair)

    def showDevices(self) -> None:
        """Draw a curve for each device that the run has or reads, in its colour."""
        devices = () if self._inventory is None else self._inventory.devices
        labels = formatting.labels_of(devices)
        curves, rates = self._curves, self._curves.device_rates.curves
        utilization, memory = [], []
        # The colour of training is too much like that of a device to stand beside it.
        title, color_of_all = ("all", _total_color) if rates else ("", _training_color)
        speed = Curve(
            curves.examples_per_second, title, color_of_all, formatting.rate, _WIDEST_RATE
        )
        speeds = [speed]
        numbers = device_colors.known.numbers(device.key for device in devices)
        for device, label in zip(devices, labels, strict=True):
            color = partial(theme.device_color, numbers[device.key])
            if device.key in rates:
                rate = rates[device.key]
                speeds.append(Curve(rate, label, color, formatting.rate, _WIDEST_RATE))
            found = curves.devices.get(device.key)
            if found is None:
                continue
            utilization.append(Curve(found.utilization, label, color, formatting.percent, "100 %"))
            memory.append(Curve(found.memory, label, color, found.memory_text, _WIDEST_MEMORY))
        if curves.spread is not None:
            utilization = _spread_curves(curves.spread.utilization, curves.spread.count)
            memory = _spread_curves(curves.spread.memory, curves.spread.count)
        called = dict(zip((device.key for device in devices), labels, strict=True))
        self.time_plot.setDevices([called.get(key, key) for key in curves.replica_devices])
        smooth = [each for curve in speeds for each in self._smoothed(curve)]
        self.rate_plot.setCurves(tuple(sorted(smooth, key=lambda curve: not curve.is_backdrop)))
        self.utilization_plot.setCurves(tuple(utilization))
        self.memory_plot.setCurves(tuple(memory))

    def _pair(
        self,
        training: SampleBuffer,
        validation: SampleBuffer,
        text: Callable[[float | None], str],
        *,
        can_smooth: bool,
        best: Best,
    ) -> tuple[Curve, ...]:
        """The curves of something that is measured in training and in validation."""
        trained = Curve(training, "training", _training_color, text, "0.0000")
        validated = Curve(
            validation,
            "validation",
            _validation_color,
            text,
            "0.0000",
            has_dots=True,
            best=best,
        )
        return (*(self._smoothed(trained) if can_smooth else (trained,)), validated)

    def _smoothed(self, curve: Curve) -> tuple[Curve, ...]:
        if self._span <= 0.0 or not isinstance(curve.buffer, SampleBuffer):
            return (curve,)
        return curve.smoothed(SmoothedPoints(curve.buffer, self._curves.steps, self._span))


def _spread_curves(spread: ReadingSpread, count: int) -> list[Curve]:
    """Three curves for very many devices."""
    of = ((f"mean of {count:,}", spread.mean, _total_color, ()),)
    ends = (
        ("least", spread.least, _training_color, (2.0, 2.0)),
        ("greatest", spread.greatest, _validation_color, (2.0, 2.0)),
    )
    return [
        Curve(buffer, label, color, formatting.percent, "100 %", dashes=dashes)
        for label, buffer, color, dashes in (*ends, *of)
    ]


def _training_color() -> QColor:
    return theme.current().color("accent")


def _total_color() -> QColor:
    return theme.current().color("text")


def _validation_color() -> QColor:
    return theme.current().color("warning")
