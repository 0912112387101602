"""All plots of a run on one linked axis."""

from functools import partial

from PySide6.QtCore import QElapsedTimer, QTimer, Signal, Slot
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.device import DeviceInventory
from gpupanel.ui.plots import run_plots
from gpupanel.ui.plots.axis_range import AxisKind
from gpupanel.ui.plots.curve import Marks
from gpupanel.ui.plots.picture import CurvePicture
from gpupanel.ui.plots.program_plots import FigurePlots, beside, is_loss_needless
from gpupanel.ui.plots.run_axis import RunAxis
from gpupanel.ui.plots.run_curves import FURTHER_STEP_METRICS, RunCurves
from gpupanel.ui.plots.time_band import TimeBand
from gpupanel.ui.plots.time_plot import TimePlot
from gpupanel.ui.plots.wall_curves import (
    CurvesOfDevices,
    further_curves,
    is_error,
    loss_curves,
    metric_curves,
)
from gpupanel.ui.plots.wall_layout import WallLayout

_REDRAW_INTERVAL_MS = 1_000
"""Between frames while somebody only watches: painting takes time from the training."""
_SOONEST_MS = 700
"""Between frames that new values ask for."""
_BETWEEN_PLOTS_MS = 10
"""One plot after the other: all in one piece would keep the window from answering."""
_POINTED_INTERVAL_MS = 66
"""Fifteen times a second while the pointer is in a plot, so that its line keeps up."""
_METRIC_TITLES = {"accuracy": "Accuracy, %", "mean_absolute_error": "Mean absolute error"}

_FEET = {
    AxisKind.STEP: "Over steps.",
    AxisKind.EPOCH: "Over epochs.",
    AxisKind.TIME: "Over the time of the run, without pauses.",
}
_FURTHER_LEFT = -(-len(FURTHER_STEP_METRICS) // 2)
_NO_READINGS = "No readings recorded"
_NO_LOSS = "No loss reported"


class PlotWall(QWidget):
    """Loss and metric at the left; utilization, memory and examples a second at the right.

    Of a program of the person's own each further figure has a plot below, and what such a program
    does not report has none.

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
    enlargedChanged = Signal(bool)
    """Whether one plot fills the place of all."""
    epochsKnown = Signal(bool)
    """Whether it is known how long an epoch of the run is."""
    undrawnChanged = Signal(object)
    """The names of figures of a program that are not drawn, since there are too many: a tuple."""

    def __init__(self, curves: RunCurves, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._curves = curves
        self._inventory: DeviceInventory | None = None
        self._is_following = True
        self._axis = RunAxis(curves)
        self._span = 0.0
        self._frame_span = (0.0, 0.0)
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
        self._figures = FigurePlots(self._take_figure_plot)
        self._next_figure = QTimer(self, singleShot=True, interval=_BETWEEN_PLOTS_MS)
        self._next_figure.timeout.connect(self._find_figures)
        self._is_program = False
        self._needless: frozenset[TimePlot] = frozenset()
        self._timer = QTimer(self, interval=_REDRAW_INTERVAL_MS)
        self._timer.timeout.connect(self._begin_frame)
        self._due: list[TimePlot] = []
        self._next_plot = QTimer(self, interval=_BETWEEN_PLOTS_MS)
        self._next_plot.timeout.connect(self._redraw_next)
        self._frame_age = QElapsedTimer()
        self._left_out: frozenset[TimePlot] = frozenset()
        self._enlarged: TimePlot | None = None
        self._layout = WallLayout(self, self._all_plots, low=(self.time_plot,))
        self._layout.arrange(*self._columns())
        for plot in self._all_plots:
            self._connect(plot)
        self.setCurves(curves)

    @property
    def plots(self) -> tuple[TimePlot, ...]:
        """The plots that are shown."""
        if self._enlarged is not None:
            return (self._enlarged,)
        left, right = self._columns()
        return (*left, *right)

    @property
    def usual_plots(self) -> tuple[TimePlot, ...]:
        """Those that are shown unless a person hides them."""
        left = (self.loss_plot, self.time_plot, self.metric_plot)
        return (*left, self.utilization_plot, self.memory_plot, self.rate_plot)

    @property
    def _all_plots(self) -> tuple[TimePlot, ...]:
        return (*self.usual_plots, *self.further_plots, *self._figures.every)

    def setShownPlots(self, shown: tuple[TimePlot, ...]) -> None:
        """Show these of all plots, and no others."""
        self._further = self._shown_of(self.further_plots, shown)
        self._left_out = frozenset(self.usual_plots) - frozenset(shown)
        if self._enlarged not in shown:
            self._set_enlarged(None)
        else:
            self._arrange()

    def enlarge(self, plot: TimePlot) -> None:
        """Let one plot fill the place of all; the one that does gives it back."""
        self._set_enlarged(None if plot is self._enlarged else plot)

    @Slot()
    def show_all(self) -> None:
        """Show all plots again, after one filled the place."""
        self._set_enlarged(None)

    def _set_enlarged(self, plot: TimePlot | None) -> None:
        self._enlarged = plot
        self._arrange()
        self.enlargedChanged.emit(plot is not None)

    def picture(self, title: str) -> CurvePicture:
        """What is shown, as a picture in the theme that is current."""
        span = self.span()
        plots = [plot.picture_plot(span, has_legend=True) for plot in self.plots]
        foot = _FEET[self._axis.kind]
        if self._span > 0.0:
            foot += f" Curves of steps are smoothed over {self._span:,.0f} steps."
        return CurvePicture(title, plots, foot)

    @property
    def axis(self) -> AxisKind:
        """What is counted at the bottom."""
        return self._axis.kind

    def setAxis(self, axis: AxisKind) -> None:
        """Count that, whatever the run is like."""
        self._axis.choose(axis)
        self._show_axis()
        self.follow()

    def setSmoothing(self, span: float) -> None:
        """Smooth what comes with steps over so many of them; 0: not at all."""
        self._span = span
        self._show_curves()
        self.redraw()

    def setLogarithmic(self, is_log: bool) -> None:
        """Whether losses, errors, rates and norms stand at their logarithms."""
        for plot in self._all_plots:
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
        if self._enlarged in self._figures.every:
            self._set_enlarged(None)
        self._axis.setRun(curves)
        self.epochsKnown.emit(False)
        self._show_axis()
        self._show_curves()

    def _show_curves(self) -> None:
        curves = self._curves
        self.loss_plot.setCurves(loss_curves(curves, self._span))
        self.time_plot.setTrack(curves.time_spent)
        self.loss_plot.setMarks(
            Marks(curves.checkpoints, curves.resumptions, curves.findings, curves.finding_titles)
        )
        self._show_metric(curves)
        for metric, plot in zip(FURTHER_STEP_METRICS, self.further_plots, strict=True):
            plot.setCurves(further_curves(curves, metric, self._span))
        self._show_figures()
        self.showDevices()

    def _show_figures(self) -> None:
        """Have a plot for each figure of a program, and none for what it does not report."""
        before = self._columns()
        self.loss_plot.setEmptyNote(_NO_LOSS if self._curves.is_program else run_plots.NO_STEP)
        self._figures.show(self._curves, self._span)
        self._needless = self._find_needless()
        self.undrawnChanged.emit(tuple(self._curves.own.rest))
        if self._columns() != before:
            self._place()
            self._begin_frame()

    def _find_needless(self) -> frozenset[TimePlot]:
        """Plots that stay empty: what a program or metrics of a person's own say, they decide."""
        run = self._curves
        if not run.is_program:
            measures_otherwise = run.metric_name is None and bool(run.own.curves)
            return frozenset({self.metric_plot} if measures_otherwise else ())
        stays_empty = {
            self.time_plot: True,
            self.rate_plot: not len(run.examples_per_second),
            self.metric_plot: run.metric_name is None,
            self.loss_plot: is_loss_needless(run),
        }
        return frozenset(plot for plot, holds in stays_empty.items() if holds)

    def _take_figure_plot(self, plot: TimePlot) -> None:
        plot.setParent(self)
        plot.setAxis(self._axis.kind, self._axis.scale)
        plot.setHiddenCurves(self._hidden)
        self._layout.add(plot)
        self._connect(plot)

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
        if not self._is_seen():
            return
        self._begin_frame()
        while self._due:
            self._redraw_next()

    def redraw_soon(self, *, at_once: bool = False) -> None:
        """Bring every plot up to date, one after the other, unless that was done just now.

        Args:
            at_once: Also where it was: what there is to draw is whole now.
        """
        if at_once or not self._frame_age.isValid() or self._frame_age.hasExpired(_SOONEST_MS):
            self._begin_frame()

    def _is_seen(self) -> bool:
        return self.isVisible() and not self.window().isMinimized()

    @Slot()
    def _begin_frame(self) -> None:
        if not self._is_seen():
            return
        self._timer.start()
        self._frame_age.start()
        if self._curves.metric_name != self._metric_name:
            self._show_metric(self._curves)
        self._find_figures()
        self._find_axis()
        self._due, self._frame_span = [*self.plots], self.span()
        self._next_plot.start()
        if self._pointer_s is not None:
            # One line through all of them keeps up with the pointer.
            while self._due:
                self._redraw_next()

    @Slot()
    def _redraw_next(self) -> None:
        if not self._due or not self._is_seen():
            self._due = []
            self._next_plot.stop()
            return
        plot = self._due.pop(0)
        if self._is_following and self._pointer_s is None:
            plot.setTimeRange(*self._frame_span)
        plot.redraw(self._pointer_s)

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._timer.start()

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        self._timer.stop()
        self._next_plot.stop()
        self._next_figure.stop()
        super().hideEvent(event)

    def _columns(self) -> tuple[list[TimePlot], list[TimePlot]]:
        """What stands at the left and at the right, each from top to bottom."""
        first = self._shown_of(self.further_plots[:_FURTHER_LEFT], self._further)
        second = self._shown_of(self.further_plots[_FURTHER_LEFT:], self._further)
        left = self._wanted((self.loss_plot, self.time_plot, self.metric_plot, *first))
        usual = (self.utilization_plot, self.memory_plot, self.rate_plot)
        right = self._wanted((*usual, *second))
        beside(self._figures.shown, left, right)
        return left, right

    def _wanted(self, plots: tuple[TimePlot, ...]) -> list[TimePlot]:
        return [plot for plot in plots if plot not in self._left_out | self._needless]

    def _shown_of(
        self, plots: tuple[TimePlot, ...], shown: tuple[TimePlot, ...]
    ) -> tuple[TimePlot, ...]:
        return tuple(plot for plot in plots if plot in shown)

    def _arrange(self) -> None:
        self._place()
        self.redraw()

    def _place(self) -> None:
        if self._enlarged is None:
            self._layout.arrange(*self._columns())
        else:
            self._layout.arrange((self._enlarged,), ())
        self._set_times(*self.span())

    def _connect(self, plot: TimePlot) -> None:
        plot.timeRangeChosen.connect(self.showSpan)
        plot.timeRangeReset.connect(partial(self._on_double_click, plot))
        plot.enlargeRequested.connect(partial(self.enlarge, plot))
        plot.pointed.connect(self._take_pointer)
        plot.curveToggled.connect(self._toggle_curve)

    @Slot(float, float)
    def showSpan(self, start_s: float, end_s: float) -> None:
        """Show that part of the axis until the whole run is asked for."""
        self._set_following(following=False)
        self._chosen_range = self._axis.kind.at_least(start_s, end_s)
        self._set_times(*self._chosen_range)

    def _on_double_click(self, plot: TimePlot) -> None:
        """The whole run again; where that is seen already, that plot alone, or all."""
        if self._is_following:
            self.enlarge(plot)
        else:
            self.follow()

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
        for plot in self._all_plots:
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
        return self._axis.whole()

    def _find_axis(self) -> None:
        """Count what suits the run as soon as it has made steps, unless a person chose."""
        if self._axis.learn_epochs():
            self.epochsKnown.emit(self._axis.knows_epochs)
        if self._axis.is_outdated:
            self._show_axis()

    @Slot()
    def _find_figures(self) -> None:
        """Show figures that were reported for the first time, and what a program has no plot of."""
        run = self._curves
        if run.is_program != self._is_program:
            self._is_program = run.is_program
            self.showDevices()
        if not (self._figures.are_outdated(run) or self._find_needless() != self._needless):
            return
        if self._is_seen() and self._figures.make_one(run):
            self._next_figure.start()
        else:
            self._show_figures()

    def _show_axis(self) -> None:
        self._axis.update()
        for plot in self._all_plots:
            plot.setAxis(self._axis.kind, self._axis.scale)
        self.axisChanged.emit(self._axis.kind)

    def _show_metric(self, curves: RunCurves) -> None:
        self._metric_name = curves.metric_name
        self.metric_plot.setTitle(_METRIC_TITLES.get(self._metric_name or "accuracy", ""))
        self.metric_plot.setBounds(0.0, float("inf") if is_error(curves) else 100.0)
        self.metric_plot.setCurves(metric_curves(curves, self._span))

    def showDevices(self) -> None:
        """Draw a curve for each device that the run has or reads, in its colour."""
        curves = self._curves
        devices = CurvesOfDevices.of(curves, self._inventory, self._span)
        self.time_plot.setDevices([devices.labels.get(key, key) for key in curves.replica_devices])
        self.rate_plot.setCurves(devices.rates)
        self.utilization_plot.setCurves(devices.utilization)
        self.memory_plot.setCurves(devices.memory)
