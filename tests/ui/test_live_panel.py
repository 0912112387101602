import math
import subprocess
import sys

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QTabWidget, QWidget

from gpupanel.domain.events import EpochDone, RunEnded, RunStarted, StepsDone
from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.planning.prepare import prepare
from gpupanel.runs.following.readings import SampleBatch
from gpupanel.ui import formatting, theme
from gpupanel.ui.panels.live_panel import LivePanel
from gpupanel.ui.plots.axes import TimeAxis, ValueAxis
from gpupanel.ui.plots.axis_tools import SHORT_ZOOM_HINT
from gpupanel.ui.plots.legend import Legend, LegendEntry
from gpupanel.ui.plots.time_plot import TimePlot
from gpupanel.ui.widgets.labels import ShorterLabel
from tests.fakes.devices import RTX_3060, RTX_4090, TWO_UNEQUAL
from tests.fakes.readings import EIGHT_DEVICES, busy_sample

START = 1_000.0


def run_events(seconds: int, first: int = 0) -> list:
    return [
        StepsDone(
            time_s=START + second,
            step=second,
            steps=1,
            epoch=1,
            step_in_epoch=second,
            examples=64,
            loss=2.0 * math.exp(-second / 20.0) + 0.1,
            accuracy=1.0 - 0.9 * math.exp(-second / 20.0),
            examples_per_second=50_000.0,
        )
        for second in range(first, seconds)
    ]


def feed(panel: LivePanel, seconds: int = 60) -> None:
    panel.setDevices(TWO_UNEQUAL)
    panel.addEvents([RunStarted(time_s=START, supervisor_pid=1), *run_events(seconds)])
    panel.addSamples(
        SampleBatch.of([busy_sample(TWO_UNEQUAL, START + second) for second in range(seconds)])
    )


@pytest.fixture
def panel(qtbot) -> LivePanel:
    panel = LivePanel()
    for plot in panel.plot_wall.plots:
        plot.prepare()
    qtbot.addWidget(panel)
    panel.resize(900, 600)
    panel.show()
    return panel


def line_data(plot, index: int):
    import pyqtgraph as pg

    lines = [item for item in plot.canvas.getPlotItem().items if isinstance(item, pg.PlotCurveItem)]
    return lines[index].getData()


def test_that_new_points_are_drawn_one_plot_after_the_other(qtbot, panel, monkeypatch):
    feed(panel)
    wall, drawn = panel.plot_wall, []
    wall.redraw()
    redraw = TimePlot.redraw
    monkeypatch.setattr(TimePlot, "redraw", lambda plot, at: (drawn.append(plot), redraw(plot, at)))
    wall.redraw_soon()
    assert not wall._due  # a moment ago all were
    wall.redraw_soon(at_once=True)  # as when the last of a history was read
    assert not drawn  # each has a turn of the event loop of its own
    count = len(wall.plots)
    qtbot.waitUntil(lambda: len(drawn) >= count, timeout=10_000)
    assert set(drawn[:count]) == set(wall.plots)


def point_count(plot, index: int) -> int:
    times = line_data(plot, index)[0]
    return 0 if times is None else len(times)


def redraw_count(panel: LivePanel, monkeypatch) -> list[None]:
    calls: list[None] = []
    loss = panel.plot_wall.loss_plot
    original = loss.redraw

    def counting(pointer_s):
        calls.append(None)
        original(pointer_s)

    monkeypatch.setattr(loss, "redraw", counting)
    return calls


def test_that_an_empty_panel_says_what_will_appear(panel):
    from gpupanel.ui.widgets.labels import EmptyState

    state = panel.findChild(EmptyState)
    assert state.isVisible()
    assert "Press Start" in state.text()
    assert not panel.plot_wall.isVisible()


def test_that_how_to_zoom_is_said_where_there_is_room_for_all_of_it(panel):
    panel.setDevices(TWO_UNEQUAL)
    panel.addEvents([RunStarted(time_s=START, supervisor_pid=1)])
    panel.addSamples(SampleBatch.of([busy_sample(TWO_UNEQUAL, START + 1.0)]))
    hint = next(each for each in panel.findChildren(ShorterLabel) if "Drag" in each.text())
    assert hint.isVisible()
    said = set()
    for width in range(1_600, 500, -25):
        panel.resize(width, 600)
        QApplication.sendPostedEvents()
        said.add(hint.shownText())
    assert said == {"", SHORT_ZOOM_HINT}
    panel.setFileNote("Saved curves.csv.")
    assert hint.text() == "Saved curves.csv."


def test_that_a_run_that_starts_says_so_until_there_is_something_to_draw(panel):
    from gpupanel.ui.widgets.labels import EmptyState

    panel.setDevices(TWO_UNEQUAL)
    panel.addEvents([RunStarted(time_s=START, supervisor_pid=1)])
    assert "starting" in panel.findChild(EmptyState).text()
    panel.addSamples(SampleBatch.of([busy_sample(TWO_UNEQUAL, START + 1.0)]))
    assert panel.plot_wall.isVisible()
    panel.clear()
    assert "Opening the run" in panel.findChild(EmptyState).text()


def test_that_a_run_that_ended_before_there_was_anything_says_so(panel):
    panel.addEvents(
        [
            RunStarted(time_s=START, supervisor_pid=1),
            RunEnded(time_s=START + 1, outcome=Outcome.FAILED),
        ]
    )
    texts = [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]
    assert "No data" in texts


def test_that_events_and_samples_are_drawn(panel, qtbot):
    feed(panel)
    wall = panel.plot_wall
    assert wall.isVisible()
    qtbot.waitUntil(lambda: point_count(wall.loss_plot, 0) == 60)
    times, losses = line_data(wall.loss_plot, 0)
    assert times[-1] == 59.0
    assert losses[0] == pytest.approx(2.1)
    # One plot a turn.
    qtbot.waitUntil(lambda: len(line_data(wall.utilization_plot, 2)[0]) == 60)
    qtbot.waitUntil(lambda: len(line_data(wall.memory_plot, 0)[0]) == 60)
    qtbot.waitUntil(lambda: len(line_data(wall.rate_plot, 0)[0]) == 60)
    assert line_data(wall.memory_plot, 0)[1][5] == pytest.approx(37.5, abs=0.1)
    assert line_data(wall.rate_plot, 0)[1][5] == 50_000.0


def test_that_scripts_find_the_plots_before_anything_was_drawn(panel):
    assert panel.findChild(QWidget, "loss_plot") is panel.plot_wall.loss_plot
    assert panel.findChild(QWidget, "utilization_plot") is panel.plot_wall.utilization_plot


def test_that_all_plots_show_the_same_time_up_to_now(panel):
    feed(panel, 61)
    panel.plot_wall.redraw()
    ranges = {plot.canvas.time_range for plot in panel.plot_wall.plots}
    assert len(ranges) == 1
    [(start, end)] = ranges
    assert start == 0.0
    assert 60.0 <= end <= 80.0


def wheel(canvas, x: int, notches: int) -> None:
    QApplication.processEvents()  # the layout has its turn
    position = QPointF(x, canvas.height() / 2)
    event = QWheelEvent(
        position,
        canvas.viewport().mapToGlobal(position),
        QPoint(),
        QPoint(0, 120 * notches),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(canvas.viewport(), event)


def test_that_zooming_one_plot_zooms_all_until_the_whole_run_is_asked_for(panel, qtbot):
    feed(panel)
    wall = panel.plot_wall
    wall.redraw()
    whole = wall.loss_plot.canvas.time_range
    wheel(wall.loss_plot.canvas, 200, 3)
    zoomed = wall.loss_plot.canvas.time_range
    assert zoomed[1] - zoomed[0] < whole[1] - whole[0]
    assert wall.rate_plot.canvas.time_range == zoomed
    assert not wall.is_following
    wall.redraw()
    assert wall.memory_plot.canvas.time_range == zoomed
    button = panel.findChild(QPushButton, "live_whole_run")
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert wall.is_following
    assert {plot.canvas.time_range for plot in wall.plots} == {whole}
    assert not button.isEnabled()


def test_that_a_double_click_shows_the_whole_run_again(panel):
    feed(panel)
    wall = panel.plot_wall
    wall.redraw()
    whole = wall.loss_plot.canvas.time_range
    wheel(wall.rate_plot.canvas, 200, 3)
    canvas = wall.utilization_plot.canvas
    QTest.mouseDClick(canvas.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(100, 40))
    assert wall.is_following
    assert canvas.time_range == whole


def test_that_axes_stay_while_the_pointer_is_in_a_plot(panel):
    feed(panel, 30)
    wall = panel.plot_wall
    wall.redraw()
    before = [(plot.canvas.time_range, plot.canvas.value_range) for plot in wall.plots]
    canvas = wall.loss_plot.canvas
    QTest.mouseMove(canvas.viewport(), QPoint(200, 60))
    panel.addEvents([*run_events(300, first=30)])
    panel.addEvents([run_events(301, first=300)[0].model_copy(update={"loss": 99.0})])
    wall.redraw()
    assert [(plot.canvas.time_range, plot.canvas.value_range) for plot in wall.plots] == before
    QApplication.sendEvent(canvas, QEvent(QEvent.Type.Leave))
    wall.redraw()
    assert canvas.time_range[1] >= 300.0
    assert canvas.value_range[1] >= 99.0


def test_that_legends_say_the_newest_value_or_that_under_the_pointer(panel):
    feed(panel)
    wall = panel.plot_wall
    wall.redraw()
    newest = wall.loss_plot.legend.entries()[0]
    assert (newest.label, newest.value) == ("training", "0.2047")
    wall.loss_plot.canvas.pointed.emit(0.5)
    wall.redraw()
    assert wall.loss_plot.legend.entries()[0].value == "2.100"
    labels = [entry.label for entry in wall.utilization_plot.curves]
    assert labels == ["RTX 4090", "RTX 3060", "a CPU"]


@pytest.mark.parametrize("used_mib", [1_023, 131_000, 1_048_000])
def test_that_a_legend_keeps_room_for_every_size_of_memory(panel, used_mib):
    feed(panel)
    panel.plot_wall.redraw()
    legend = panel.plot_wall.memory_plot.legend
    metrics, text = legend.fontMetrics(), formatting.mib(used_mib)
    for entry in legend.entries():
        assert metrics.horizontalAdvance(text) <= metrics.horizontalAdvance(entry.widest)


def test_that_a_device_has_its_colour_in_every_plot(panel):
    feed(panel)
    panel.plot_wall.redraw()
    for plot in (panel.plot_wall.utilization_plot, panel.plot_wall.memory_plot):
        colors = [entry.color for entry in plot.legend.entries()]
        assert colors == [theme.device_color(index) for index in (0, 1, theme.PROCESSOR_COLOR)]


def test_that_plots_take_the_colours_of_a_new_theme(panel, restored_theme, qapp):
    feed(panel)
    canvas = panel.plot_wall.loss_plot.canvas
    for colors in (theme.DARK, theme.LIGHT):
        theme.show(qapp, colors)
        assert canvas.backgroundBrush().color().name() == colors.surface


def test_that_hidden_plots_do_not_draw(qtbot, monkeypatch):
    tabs, panel = QTabWidget(), LivePanel()
    qtbot.addWidget(tabs)
    tabs.addTab(panel, "Live")
    tabs.addTab(QWidget(), "Runs")
    tabs.show()
    feed(panel)
    calls = redraw_count(panel, monkeypatch)
    qtbot.waitUntil(lambda: len(calls) > 1)
    tabs.setCurrentIndex(1)
    calls.clear()
    panel.addEvents(run_events(90, first=60))
    panel.plot_wall.redraw()
    qtbot.wait(200)
    assert calls == []
    tabs.setCurrentIndex(0)
    qtbot.waitUntil(lambda: len(calls) > 0)


def test_that_nothing_is_drawn_per_event(panel, qtbot, monkeypatch):
    feed(panel)
    calls = redraw_count(panel, monkeypatch)
    for second in range(60, 260):
        panel.addEvents(run_events(second + 1, first=second))
    assert calls == []


def test_that_what_has_not_changed_is_not_decimated_again(panel, monkeypatch):
    from gpupanel.ui.plots import drawn_curve

    feed(panel)
    panel.plot_wall.redraw()
    calls = []
    original = drawn_curve.envelope
    monkeypatch.setattr(
        drawn_curve, "envelope", lambda *given: (calls.append(None), original(*given))[1]
    )
    panel.plot_wall.redraw()
    assert calls == []
    panel.addSamples(SampleBatch.of([busy_sample(TWO_UNEQUAL, START + 59.5)]))
    panel.plot_wall.redraw()
    assert len(calls) == 6


def test_that_a_cleared_panel_is_empty_and_takes_another_run(panel):
    feed(panel)
    panel.plot_wall.redraw()
    panel.clear()
    assert not panel.plot_wall.isVisible()
    panel.addEvents([RunStarted(time_s=5.0, supervisor_pid=1)])
    panel.addSamples(SampleBatch.of([busy_sample(TWO_UNEQUAL, 7.0)]))
    assert panel.plot_wall.isVisible()
    panel.plot_wall.redraw()
    # One point, which is drawn as a short line.
    assert sum(line_data(panel.plot_wall.utilization_plot, 0)[0]) / 2 == pytest.approx(2.0)
    assert point_count(panel.plot_wall.loss_plot, 0) == 0


def test_that_predicted_values_get_a_plot_of_their_error(panel):
    panel.addEvents(
        [
            RunStarted(time_s=START, supervisor_pid=1),
            EpochDone(
                time_s=START + 9,
                epoch=1,
                step=9,
                metrics=Metrics(loss=1.0, mean_absolute_error=120.0),
                seconds=9.0,
            ),
        ]
    )
    panel.plot_wall.redraw()
    assert panel.plot_wall.metric_plot.title() == "Mean absolute error"
    assert panel.plot_wall.metric_plot.canvas.value_range[1] >= 120.0


def test_that_a_missing_reading_leaves_a_gap_in_the_line(panel):
    feed(panel)
    lost = busy_sample(TWO_UNEQUAL, START + 60.0)
    panel.addSamples(SampleBatch.of([lost.model_copy(update={"readings": lost.readings[1:]})]))
    panel.addSamples(SampleBatch.of([busy_sample(TWO_UNEQUAL, START + 61.0)]))
    panel.plot_wall.redraw()
    assert np.isnan(line_data(panel.plot_wall.utilization_plot, 0)[1]).sum() == 1


def test_that_times_and_values_on_axes_read_as_people_write_them(qapp):
    bottom, left = TimeAxis("bottom"), ValueAxis("left")
    assert bottom.tickStrings([0.0, 90.0, 3661.0], 1.0, 30.0) == ["0:00", "1:30", "1:01:01"]
    assert bottom.tickSpacing(0.0, 600.0, 400.0) == [(120.0, 0.0)]
    assert bottom.tickSpacing(0.0, 30 * 86_400.0, 400.0) == [(432_000.0, 0.0)]
    assert left.tickStrings([0.25, 130_000.0], 1.0, 1.0) == ["0.25", "130,000"]


@pytest.mark.parametrize("pixels", [20.0, 30.0, 60.0, 400.0])
@pytest.mark.parametrize(
    ("low", "high"), [(-320.0, 4_320.0), (-0.2, 2.7), (5.02, 7.13), (94.6, 100.4), (-8.0, 108.0)]
)
def test_that_two_values_at_least_are_labelled_and_none_beyond_the_bounds(qapp, pixels, low, high):
    axis = ValueAxis("left")
    axis.setBounds(0.0, 100.0 if high < 200.0 else math.inf)
    [(_, places)] = axis.tickValues(low, high, pixels)
    assert 2 <= len(places) <= max(4, pixels / 12.0)
    assert min(places) >= 0.0
    assert max(places) <= (100.0 if high < 200.0 else high)


def test_that_a_plot_labels_no_loss_below_0(panel):
    feed(panel)
    panel.plot_wall.redraw()
    plots = (panel.plot_wall.loss_plot, panel.plot_wall.metric_plot, panel.plot_wall.memory_plot)
    for plot in plots:
        places = [place for place, _ in plot.canvas.ticks("left")]
        assert min(places) == 0.0
        assert plot.canvas.value_range[0] < 0.0


def test_that_a_legend_without_room_keeps_marks_and_its_tooltip_says_all(qtbot):
    legend = Legend()
    qtbot.addWidget(legend)
    color = theme.device_color(0)
    entries = tuple(
        LegendEntry(device.name, "87 %", "100 %", color) for device in EIGHT_DEVICES.devices
    )
    legend.setEntries(entries)
    assert legend.toolTip().count("87 %") == 8
    images = []
    for width in (2000, 600, 200):
        legend.resize(width, 16)
        images.append(legend.grab().toImage())
    inks = [
        sum(
            image.pixelColor(x, y) != image.pixelColor(0, 0)
            for x in range(image.width())
            for y in range(image.height())
        )
        for image in images
    ]
    assert inks[0] > inks[1] > inks[2] > 0


@pytest.mark.slow
def test_that_the_panel_comes_without_pyqtgraph_and_prepares_it_while_nobody_waits():
    script = (
        "import sys\n"
        "from PySide6.QtWidgets import QApplication\n"
        "from gpupanel.ui.panels.live_panel import LivePanel\n"
        "app = QApplication([])\n"
        "panel = LivePanel()\n"
        "assert 'pyqtgraph' not in sys.modules\n"
        "panel.show()\n"
        "from PySide6.QtTest import QTest\n"
        "for _ in range(400):\n"
        "    QTest.qWait(20)\n"
        "    if 'pyqtgraph' in sys.modules:\n"
        "        break\n"
        "assert 'pyqtgraph' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_that_a_plot_without_a_step_says_so_until_the_first_one(panel):
    def notes():
        wall = panel.plot_wall
        plots = (wall.loss_plot, wall.rate_plot)
        return [
            label.text()
            for plot in plots
            for label in plot.canvas.findChildren(QLabel)
            if label.text().endswith("recorded") and label.isVisibleTo(plot)
        ]

    panel.plot_wall.redraw()
    assert notes() == 2 * ["No steps recorded"]
    feed(panel)
    panel.plot_wall.redraw()
    assert notes() == []


def test_that_plots_without_a_reading_say_so_once_none_can_come_any_more(panel):
    def notes():
        wall = panel.plot_wall
        wall.redraw()
        labels = [
            label
            for plot in (wall.utilization_plot, wall.memory_plot)
            for label in plot.canvas.findChildren(QLabel)
            if label.isVisibleTo(plot)
        ]
        return [label.text() for label in labels if label.text().endswith("recorded")]

    none = []
    panel.setDevices(TWO_UNEQUAL)
    panel.addEvents([RunStarted(time_s=START, supervisor_pid=1), *run_events(3)])
    panel.setComplete(is_complete=False)
    assert notes() == none
    panel.setComplete(is_complete=True)
    assert notes() == 2 * ["No readings recorded"]
    panel.addSamples(SampleBatch.of([busy_sample(TWO_UNEQUAL, START + 1.0)]))
    assert notes() == none
    panel.clear()
    assert notes() == none, "of another run"


def test_that_a_closed_window_makes_no_plot_any_more(qtbot):
    panel = LivePanel()
    qtbot.addWidget(panel)
    panel.show()
    panel.close()
    feed(panel)
    qtbot.wait(200)

    assert not any(plot.is_prepared for plot in panel.plot_wall.plots)
    panel.show()
    feed(panel)
    qtbot.waitUntil(panel.plot_wall.isVisible, timeout=10_000)


def test_that_a_run_shows_the_devices_that_it_has_or_reads_and_no_others(panel):
    plan = prepare(Profile(devices=DeviceSettings(visible=(RTX_3060.key,))), TWO_UNEQUAL).plan
    read = busy_sample(TWO_UNEQUAL, START + 1.0)
    own = [each for each in read.readings if each.key != RTX_4090.key]
    wall = panel.plot_wall
    panel.setDevices(TWO_UNEQUAL)
    panel.setPlan(plan)
    assert [each.label for each in wall.memory_plot.curves] == ["RTX 3060"]

    panel.addEvents([RunStarted(time_s=START, supervisor_pid=1), *run_events(2)])
    panel.addSamples(SampleBatch.of([read.model_copy(update={"readings": tuple(own)})]))
    assert [each.label for each in wall.memory_plot.curves] == ["RTX 3060", "a CPU"]
    # As earlier versions recorded them.
    panel.addSamples(SampleBatch.of([read]))
    labels = [each.label for each in wall.utilization_plot.curves]
    assert labels == ["RTX 4090", "RTX 3060", "a CPU"]
