"""What is counted at the bottom of curves: steps, epochs or time; logarithms; smoothing in Live."""

import math

import numpy as np
import pytest
from PySide6.QtGui import QPainter, QPicture
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QSlider

from gpupanel.domain.events import DataReady, EpochDone, RunStarted, StepsDone, TrainingResumed
from gpupanel.domain.outcome import Metrics
from gpupanel.runs.following.readings import SampleBatch
from gpupanel.ui.panels.live_panel import LivePanel
from gpupanel.ui.plots.axes import EpochAxis, StepAxis, TimeAxis, ValueAxis
from gpupanel.ui.plots.axis_range import AxisKind
from gpupanel.ui.plots.axis_scale import StepScale
from gpupanel.ui.plots.drawn_curve import envelope
from gpupanel.ui.plots.plot_canvas import PlotCanvas
from gpupanel.ui.plots.sample_buffer import SampleBuffer
from gpupanel.ui.plots.smoothed_points import SmoothedPoints
from gpupanel.ui.plots.smoothing import smoothed
from gpupanel.ui.plots.step_track import StepTrack
from tests.fakes.devices import TWO_UNEQUAL
from tests.fakes.readings import busy_sample

START = 1_000.0
SLOW_START_S = 20.0


def step(number: int, time_s: float, **more) -> StepsDone:
    return StepsDone(
        time_s=START + time_s,
        step=number,
        steps=1,
        epoch=1 + (number - 1) // 10,
        step_in_epoch=1 + (number - 1) % 10,
        examples=64,
        loss=more.pop("loss", 10.0 ** (-number / 20.0)),
        accuracy=0.5,
        examples_per_second=1_000.0,
        **more,
    )


def beginning(steps_per_epoch: int = 10):
    return [
        RunStarted(time_s=START, supervisor_pid=1),
        DataReady(
            time_s=START + 1.0,
            training_examples=640,
            validation_examples=64,
            feature_shape=(8, 8),
            steps_per_epoch=steps_per_epoch,
        ),
    ]


@pytest.fixture
def panel(qtbot):
    panel = LivePanel()
    for plot in panel.plot_wall.plots:
        plot.prepare()
    qtbot.addWidget(panel)
    panel.setDevices(TWO_UNEQUAL)
    panel.resize(900, 700)
    with qtbot.waitExposed(panel):
        panel.show()
    return panel


def show(panel, steps: int = 40, seconds_a_step: float = 0.5) -> None:
    """A run that makes its first step after a slow start."""
    last_s = SLOW_START_S + steps * seconds_a_step
    panel.addEvents(
        [
            *beginning(),
            *(step(n, SLOW_START_S + n * seconds_a_step) for n in range(1, steps + 1)),
        ]
    )
    samples = [busy_sample(TWO_UNEQUAL, START + s) for s in np.arange(0.0, last_s, 0.25)]
    panel.addSamples(SampleBatch.of(samples))
    panel.plot_wall.redraw()


def bottom(plot):
    return plot.canvas.getPlotItem().getAxis("bottom")


def drawn(plot, index: int = 0):
    import pyqtgraph as pg

    lines = [item for item in plot.canvas.getPlotItem().items if isinstance(item, pg.PlotCurveItem)]
    return lines[index].getData()


def button(panel, name: str) -> QPushButton:
    return panel.findChild(QPushButton, name)


def test_that_a_short_run_is_drawn_over_steps_at_once_and_its_devices_with_it(panel):
    panel.addEvents(beginning())
    panel.addSamples(SampleBatch.of([busy_sample(TWO_UNEQUAL, START + 2.0)]))
    wall = panel.plot_wall
    wall.redraw()
    assert isinstance(bottom(wall.loss_plot), TimeAxis)
    panel.clear()
    show(panel)
    assert isinstance(bottom(wall.loss_plot), StepAxis)
    assert button(panel, "live_step_axis").isChecked()
    assert wall.loss_plot.canvas.time_range == (0.0, pytest.approx(40.8))
    assert drawn(wall.loss_plot)[0].tolist() == list(range(1, 41))
    places, values = drawn(wall.utilization_plot)
    # What the GPU did before the first step belongs to none.
    assert places[0] == pytest.approx(1.0)
    assert places[-1] == pytest.approx(39.5)
    assert len(places) == len(values) == (39.5 - 1.0) / 0.5 + 1


def test_that_a_long_run_is_drawn_over_time_and_a_person_can_choose(panel):
    show(panel, steps=60, seconds_a_step=4.0)
    wall = panel.plot_wall
    assert wall.axis is AxisKind.TIME
    assert drawn(wall.loss_plot)[0][0] == 24.0
    button(panel, "live_epoch_axis").click()
    assert isinstance(bottom(wall.rate_plot), EpochAxis)
    assert wall.rate_plot.canvas.time_range == (0.0, pytest.approx(6.12))
    assert drawn(wall.loss_plot)[0].tolist() == pytest.approx([n / 10 for n in range(1, 61)])
    button(panel, "live_time_axis").click()
    assert wall.loss_plot.canvas.time_range[1] >= 260.0
    # What a person chose stays for the next run.
    panel.clear()
    show(panel)
    assert wall.axis is AxisKind.TIME


def test_that_epochs_can_be_chosen_once_their_length_is_known(panel):
    panel.addEvents([RunStarted(time_s=START, supervisor_pid=1), step(1, 1.0)])
    panel.plot_wall.redraw()
    assert not button(panel, "live_epoch_axis").isEnabled()
    panel.addEvents(beginning()[1:])
    panel.plot_wall.redraw()
    assert button(panel, "live_epoch_axis").isEnabled()
    button(panel, "live_epoch_axis").click()
    panel.clear()
    panel.plot_wall.redraw()
    assert not button(panel, "live_epoch_axis").isEnabled()
    assert panel.plot_wall.axis is AxisKind.STEP
    show(panel)
    assert panel.plot_wall.axis is AxisKind.EPOCH


def test_that_legends_say_the_values_of_the_step_under_the_pointer(panel):
    show(panel)
    wall = panel.plot_wall
    wall.loss_plot.canvas.pointed.emit(20.2)
    wall.redraw()
    assert wall.loss_plot.legend.entries()[0].value == "0.1000"


def test_that_a_loss_can_stand_at_its_logarithm(panel):
    show(panel)
    wall = panel.plot_wall
    button(panel, "live_log_values").click()
    assert drawn(wall.loss_plot)[1].tolist() == pytest.approx([-n / 20 for n in range(1, 41)])
    low, high = wall.loss_plot.canvas.value_range
    assert low < -2.0 < high < 1.0
    # Percent stay as they are.
    assert drawn(wall.metric_plot)[1][0] == 50.0
    axis = wall.loss_plot.canvas.getPlotItem().getAxis("left")
    assert axis.tickStrings([-2.0, 0.0, 3.0], 1.0, 1.0) == ["0.01", "1", "1,000"]
    panel.addEvents([step(41, 60.0, loss=0.0), step(42, 60.5, loss=-1.0)])
    wall.redraw()
    assert np.isnan(drawn(wall.loss_plot)[1][-2:]).all()
    button(panel, "live_log_values").click()
    assert drawn(wall.loss_plot)[1][-1] == -1.0


@pytest.mark.parametrize("height", [60, 90, 200])
@pytest.mark.parametrize(
    ("low", "high"),
    [(-0.4, 0.4), (-5.0, 1.0), (8.087, 8.137), (-3.3, -2.8), (3.0, 9.0), (0.0, 0.05), (-6.0, 9.0)],
)
def test_that_one_number_alone_never_labels_logarithms(qtbot, low, high, height):
    canvas = PlotCanvas(None, (-math.inf, math.inf), has_bottom_labels=False)
    qtbot.addWidget(canvas)
    canvas.resize(400, height)
    canvas.setLogarithmic(True)
    canvas.chooseValues((low, high))
    canvas.show()
    canvas.grab()
    axis = canvas.getPlotItem().getAxis("left")
    picture = QPicture()
    painter = QPainter(picture)
    # Only here does pyqtgraph leave out what has no room.
    *_, texts = axis.generateDrawSpecs(painter)
    painter.end()
    drawn = [text for *_, text in texts]
    assert len(drawn) == len(set(drawn)) >= 2


def test_that_no_logarithm_is_too_great_for_its_label(qapp):
    axis = ValueAxis("left")
    axis.setLogarithmic(True)
    for low, high in ((-400.0, 400.0), (330.0, 331.0), (-400.0, -399.5), (-1e300, 1e300)):
        for _, places in axis.tickValues(low, high, 200.0):
            assert len(places) < 20
            axis.tickStrings(places, 1.0, 1.0)


def test_that_smoothing_in_live_leaves_what_was_measured_behind(panel):
    panel.addEvents([*beginning(), *(step(n, n * 0.5, loss=1.0 + n % 2) for n in range(1, 101))])
    wall = panel.plot_wall
    panel.findChild(QSlider, "live_smoothing_slider").setValue(3)
    wall.redraw()
    raw, smooth = drawn(wall.loss_plot, 0)[1], drawn(wall.loss_plot, 1)[1]
    assert np.ptp(raw) == 1.0
    assert np.ptp(smooth[20:]) < 0.2
    [training, validation] = wall.loss_plot.legend.entries()
    assert (training.label, validation.label) == ("training", "validation")
    assert training.value == f"{smooth[-1]:.3f}"
    panel.findChild(QSlider, "live_smoothing_slider").setValue(0)
    wall.redraw()
    assert drawn(wall.loss_plot, 0)[1].tolist() == raw.tolist()


def test_that_smoothing_goes_as_far_as_the_run_is_long(panel):
    slider = panel.findChild(QSlider, "live_smoothing_slider")
    panel.addEvents([*beginning(), *(step(n, n * 0.5) for n in range(1, 185))])
    slider.setValue(slider.maximum())
    assert slider.accessibleDescription() == "50 steps"
    panel.addEvents([step(10_000, 5_000.0)])
    slider.setValue(slider.maximum())
    assert slider.accessibleDescription() == "5k steps"
    # Another run is shorter: what was chosen stays, until it is given up.
    panel.clear()
    panel.addEvents([*beginning(), step(1, 0.5)])
    assert slider.accessibleDescription() == "5k steps"
    slider.setValue(0)
    panel.addEvents([step(2, 1.0)])
    slider.setValue(slider.maximum())
    assert slider.accessibleDescription() == "10 steps"


def track_of(*reports: tuple[float, float]) -> StepTrack:
    track = StepTrack()
    times, steps = np.array(reports, dtype=float).T
    track.extend(times, steps)
    return track


def test_that_steps_that_were_done_again_count_as_they_were_done_last():
    track = track_of((1.0, 1.0), (2.0, 2.0), (3.0, 3.0), (4.0, 4.0))
    track.cut(3.0, 10.0)
    track.extend(np.array([11.0, 12.0]), np.array([3.0, 4.0]))
    assert track.times.tolist() == [1.0, 2.0, 11.0, 12.0]
    assert track.steps.tolist() == [1.0, 2.0, 3.0, 4.0]
    times = np.array([0.5, 1.0, 2.0, 2.9, 3.0, 4.0, 9.9, 10.0, 11.0])
    assert track.is_undone(times).tolist() == [True, *[False] * 3, True, True, True, False, False]
    # Then from a checkpoint before that one.
    track.cut(2.0, 20.0)
    assert track.last_step == 1.0
    assert track.is_undone(np.array([1.5, 2.0, 11.5, 19.0, 20.0])).tolist() == [
        False,
        True,
        True,
        True,
        False,
    ]
    assert StepScale(track).time_at(1.0) == 1.0


def test_that_reports_that_begin_anew_without_a_word_do_their_steps_again():
    track = track_of((1.0, 10.0), (2.0, 20.0), (5.0, 10.0), (6.0, 20.0))
    assert track.times.tolist() == [5.0, 6.0]
    track.extend(np.array([7.0]), np.array([15.0]))
    assert track.steps.tolist() == [10.0, 15.0]
    assert track.is_undone(np.array([5.5, 6.0, 6.9, 7.0])).tolist() == [False, True, True, False]


def test_that_a_full_track_keeps_its_ends():
    track = StepTrack(capacity=8)
    for number in range(1, 101):
        track.extend(np.array([number * 2.0]), np.array([float(number)]))
    assert len(track.steps) <= 8
    assert track.last_step == 100.0
    scale = StepScale(track)
    assert scale.positions(np.array([50.0, 150.0])) == pytest.approx([25.0, 75.0])


def test_that_columns_of_steps_hold_what_happened_meanwhile():
    track = track_of((10.0, 1.0), (1_000.0, 100.0))
    times = np.linspace(0.0, 1_000.0, 20_001)
    places, values = envelope(times, times, 1.0, 100.0, 99, StepScale(track))
    assert places.min() >= 1.0
    assert places.max() <= 100.0
    assert (np.diff(places) >= 0.0).all()
    # The time of a step stands where the step does.
    assert np.abs(values / 10.0 - places).max() < 1.1


def test_that_a_pointer_on_a_step_done_again_shows_none_of_the_first_try():
    track = track_of((1.0, 1.0), (2.0, 2.0), (3.0, 3.0))
    track.cut(2.0, 50.0)
    track.extend(np.array([60.0]), np.array([2.0]))
    loss = SampleBuffer()
    loss.extend(np.array([1.0, 2.0, 3.0, 60.0]), np.array([5.0, 4.0, 3.0, 4.5]))
    scale = StepScale(track)
    assert loss.value_at(scale.time_at(1.5)) == 5.0
    assert loss.value_at(scale.time_at(2.0)) == 4.5


def test_that_what_is_smoothed_while_it_grows_is_what_all_of_it_comes_to():
    track, loss = StepTrack(), SampleBuffer()
    points = SmoothedPoints(loss, track, 5.0)
    values = np.array([3.0, 1.0, 4.0, 1.0, 5.0])
    for number, value in enumerate(values, start=1):
        track.extend(np.array([number * 0.5]), np.array([float(number)]))
        loss.append(number * 0.5, value)
    loss.append(2.5, None)
    expected = smoothed(np.arange(1.0, 6.0), values, 5.0)
    assert points.values[:-1] == pytest.approx(expected)
    assert np.isnan(points.values[-1])
    assert points.last() is None
    assert points.value_at(1.2) == pytest.approx(expected[1])
    assert points.value_at(0.1) is None


def test_that_a_resumed_run_is_one_curve_over_steps(panel):
    panel.addEvents(
        [
            *beginning(),
            *(step(n, n) for n in range(1, 31)),
            EpochDone(
                time_s=START + 30.5,
                epoch=3,
                step=30,
                metrics=Metrics(loss=1.0, val_loss=2.0),
                seconds=10.0,
            ),
            *(step(n, n + 5) for n in range(31, 36)),
            RunStarted(time_s=START + 5_000.0, supervisor_pid=2),
            TrainingResumed(time_s=START + 5_010.0, path="checkpoints/3", epoch=4, step=30),
            *(step(n, 5_000 + n, loss=7.0) for n in range(31, 41)),
        ]
    )
    wall = panel.plot_wall
    QTest.qWait(10)
    wall.redraw()
    assert wall.axis is AxisKind.STEP
    places, losses = drawn(wall.loss_plot)
    assert places.tolist() == list(range(1, 41))
    assert losses[30:].tolist() == [7.0] * 10
    [validated] = drawn(wall.loss_plot, 1)[0]
    assert validated == pytest.approx(30.0, abs=1.0)
    # By time, the hour between is folded, and what was done twice is there twice.
    button(panel, "live_time_axis").click()
    assert len(drawn(wall.loss_plot)[0]) == 45
    assert wall.loss_plot.canvas.time_range[1] <= 100.0


def test_that_numbers_that_nobody_measures_do_no_harm(panel):
    greatest = 2**63 - 1
    panel.addEvents(
        [
            *beginning(steps_per_epoch=greatest),
            step(1, 1.0, loss=1e308, gradient_norm=1e308),
            step(greatest, 2.0, loss=-1e308, gradient_norm=-1e308),
            step(5, 3.0, loss=1e-320, gradient_norm=1e-320),
            step(greatest - 1, 1e9, loss=0.0, gradient_norm=0.0),
        ]
    )
    wall = panel.plot_wall
    wall.setShownPlots((*wall.usual_plots, *wall.further_plots))
    for kind in (AxisKind.STEP, AxisKind.EPOCH, AxisKind.TIME):
        wall.setAxis(kind)
        for is_log in (True, False):
            wall.setLogarithmic(is_log)
            panel.grab()
            assert all(np.isfinite(plot.canvas.value_range).all() for plot in wall.plots)


@pytest.mark.parametrize("kind", list(AxisKind))
def test_that_another_axis_has_the_range_that_is_shown(qtbot, kind):
    canvas = PlotCanvas(None, (0.0, 1.0))
    qtbot.addWidget(canvas)
    canvas.setTimeRange(0.0, 10.0)
    canvas.setAxis(kind)
    assert canvas.getPlotItem().getAxis("bottom").range == canvas.getPlotItem().viewRange()[0]
