"""A legend's entries switch curves; the pointer shows values in every plot."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.events import EpochDone, RunStarted, SharesChosen, StepsDone
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.profile import Profile
from gpupanel.planning.prepare import prepare
from gpupanel.runs.following.readings import SampleBatch
from gpupanel.ui.panels.live_panel import LivePanel
from gpupanel.ui.plots.device_rates import DeviceRates
from gpupanel.ui.plots.legend import Legend, LegendEntry
from gpupanel.ui.plots.readout import Readout
from tests.fakes.devices import TWO_UNEQUAL
from tests.fakes.readings import busy_sample

START = 1_000.0


def steps(count: int, rate: float = 1_000.0):
    return [
        StepsDone(
            time_s=START + n,
            step=n,
            steps=1,
            epoch=1,
            step_in_epoch=n,
            examples=64,
            loss=100.0,
            accuracy=0.5,
            examples_per_second=rate,
        )
        for n in range(1, count + 1)
    ]


@pytest.fixture
def panel(qtbot):
    panel = LivePanel()
    for plot in panel.plot_wall.plots:
        plot.prepare()
    qtbot.addWidget(panel)
    panel.resize(1_100, 700)
    panel.setDevices(TWO_UNEQUAL)
    with qtbot.waitExposed(panel):
        panel.show()
    return panel


@pytest.mark.parametrize("value", ["5.50e+08", "-12,646", "-5.50e-08"])
def test_that_a_value_wider_than_expected_is_drawn_whole(qtbot, value):
    pictures = []
    for widest in ("0.0e-00", value):
        legend = Legend()
        qtbot.addWidget(legend)
        legend.resize(300, 24)
        color = QColor("red")
        legend.setEntries((LegendEntry("validation", value, widest, color),))
        pictures.append(legend.grab().toImage())
    assert pictures[0] == pictures[1]


def test_that_where_not_all_names_have_room_the_first_ones_are_said(qtbot):
    def picture(*names: str):
        legend = Legend()
        qtbot.addWidget(legend)
        metrics = legend.fontMetrics()
        legend.resize(metrics.horizontalAdvance("computevalidation") + 150, 24)
        entry = LegendEntry("", "40 %", "100 %", QColor("red"), keeps_name=True)
        legend.setEntries(tuple(replace(entry, label=name) for name in names))
        return legend.grab().toImage()

    cut = picture("compute", "validation", "a name that has no room here", "nor has this one")
    assert cut == picture("compute", "validation", "", "")
    assert cut != picture("", "", "", "")


def test_that_marks_are_seen_all_or_not_at_all(qtbot):
    legend = Legend()
    qtbot.addWidget(legend)
    legend.resize(60, 24)
    blank = legend.grab().toImage()
    entry = LegendEntry("training", "0.5", "0.5", QColor("red"))
    legend.setEntries((entry,) * 2)
    assert legend.grab().toImage() != blank
    legend.setEntries((entry,) * 6)
    assert legend.grab().toImage() == blank
    assert "training: 0.5" in legend.accessibleDescription()


def show(panel) -> None:
    validated = Metrics(loss=1.0, val_loss=1.5, val_accuracy=0.5)
    panel.addEvents(
        [
            RunStarted(time_s=START, supervisor_pid=1),
            *steps(20),
            EpochDone(time_s=START + 20.5, epoch=1, step=20, metrics=validated, seconds=20.0),
            EpochDone(time_s=START + 21.0, epoch=2, step=20, metrics=validated, seconds=20.0),
        ]
    )
    panel.addSamples(SampleBatch.of([busy_sample(TWO_UNEQUAL, START + s) for s in range(1, 20)]))
    QTest.qWait(20)
    panel.plot_wall.redraw()


def click(plot, label: str) -> None:
    [place] = [
        QPoint(left + 3, plot.legend.height() // 2)
        for entry, _, left in plot.legend._placed()
        if entry.label == label
    ]
    QTest.mouseClick(plot.legend, Qt.MouseButton.LeftButton, pos=place)


def hidden(plot) -> list[str]:
    return [entry.label for entry in plot.legend.entries() if entry.is_hidden]


def visible_lines(plot) -> int:
    return sum(drawn.items[0].isVisible() for drawn in plot.canvas.curves)


def test_that_a_click_hides_a_curve_and_its_values_fit_what_is_left(panel):
    show(panel)
    loss = panel.plot_wall.loss_plot
    assert loss.canvas.value_range[1] >= 100.0
    click(loss, "training")
    assert hidden(loss) == ["training"]
    assert visible_lines(loss) == 1
    assert loss.canvas.value_range[1] < 10.0
    # What is of training is hidden in the plot of the accuracy, too, also for the next run.
    assert hidden(panel.plot_wall.metric_plot) == ["training"]
    panel.clear()
    show(panel)
    assert visible_lines(loss) == 1
    click(loss, "training")
    assert hidden(loss) == []
    assert visible_lines(loss) == 2
    assert loss.canvas.value_range[1] >= 100.0


def test_that_a_device_is_hidden_in_all_plots_by_keys_alone(panel):
    show(panel)
    wall = panel.plot_wall
    legend = wall.utilization_plot.legend
    assert legend.focusPolicy() == Qt.FocusPolicy.TabFocus
    assert legend.accessibleName() == "Curves of Utilization, %"
    legend.setFocus()
    QTest.keyClick(legend, Qt.Key.Key_Right)
    QTest.keyClick(legend, Qt.Key.Key_Space)
    name = legend.entries()[1].label
    assert hidden(wall.utilization_plot) == hidden(wall.memory_plot) == [name]
    QTest.keyClick(legend, Qt.Key.Key_Left)
    QTest.keyClick(legend, Qt.Key.Key_Left)
    QTest.keyClick(legend, Qt.Key.Key_Space)
    assert hidden(wall.memory_plot) == [name, legend.entries()[2].label]


def test_that_a_curve_without_a_name_cannot_be_hidden(panel):
    show(panel)
    legend = panel.plot_wall.rate_plot.legend
    assert legend.focusPolicy() == Qt.FocusPolicy.NoFocus
    for x in range(0, legend.width(), 5):
        QTest.mouseClick(legend, Qt.MouseButton.LeftButton, pos=QPoint(x, 5))
    assert hidden(panel.plot_wall.rate_plot) == []
    assert visible_lines(panel.plot_wall.rate_plot) == 1


def test_that_values_stand_beside_the_pointer_and_a_line_runs_through_every_plot(panel):
    show(panel)
    wall = panel.plot_wall
    canvas = wall.utilization_plot.canvas
    view = canvas.viewport()
    at = QPointF(view.width() / 2, view.height() / 2)
    none = Qt.MouseButton.NoButton
    event = QMouseEvent(
        QMouseEvent.Type.MouseMove,
        at,
        QPointF(view.mapToGlobal(at)),
        none,
        none,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(view, event)
    wall.redraw()
    [readout] = [each for each in panel.findChildren(Readout) if each.isVisible()]
    lines = readout.text().split("\n")
    assert lines[0].startswith("step ")
    assert len(lines) == 1 + 3
    assert all(plot.canvas._pointer.isVisible() for plot in wall.plots)
    assert [plot for plot in wall.plots if plot.canvas._level.isVisible()] == [
        wall.utilization_plot
    ]
    click(wall.utilization_plot, wall.utilization_plot.legend.entries()[0].label)
    assert len(readout.text().split("\n")) == 1 + 2


def two_gpus():
    profile = Profile.model_validate(
        {
            "devices": {"visible": ["GPU-4090", "GPU-3060"]},
            "strategy": {"kind": "mirrored", "shares": [48, 16]},
            "training": {"global_batch_size": 64},
        }
    )
    plan = prepare(profile, TWO_UNEQUAL).plan
    assert plan is not None
    return plan


def test_that_each_device_has_its_part_of_the_examples_per_second(panel):
    panel.setPlan(two_gpus())
    panel.addEvents([RunStarted(time_s=START, supervisor_pid=1), *steps(10, rate=1_600.0)])
    panel.addEvents(
        [
            SharesChosen(
                time_s=START + 10.5, step=10, shares=(32, 32), speeds=(), reason="adjusted"
            ),
            steps(11, rate=2_000.0)[-1],
        ]
    )
    panel.plot_wall.redraw()
    entries = panel.plot_wall.rate_plot.legend.entries()
    assert [(entry.label, entry.value) for entry in entries] == [
        ("all", "2,000 ex/s"),
        ("RTX 4090", "1,000 ex/s"),
        ("RTX 3060", "1,000 ex/s"),
    ]
    rates = panel.curves.device_rates.curves
    assert CPU_KEY not in rates
    assert rates["GPU-4090"].values[:10].tolist() == [1_200.0] * 10
    # Shares that a stranger wrote for other replicas change nothing.
    panel.addEvents(
        [
            SharesChosen(
                time_s=START + 12, step=11, shares=(0, 0, 9), speeds=(), reason="adjusted"
            ),
            steps(12, rate=2_000.0)[-1],
        ]
    )
    assert rates["GPU-3060"].last() == 1_000.0


def test_that_parts_of_a_long_run_are_those_of_its_speed_and_keep_its_peaks():
    plan = two_gpus()
    parts = DeviceRates()
    parts.set_plan(plan)
    times = np.arange(100_000.0)
    speed = np.where(times == 70_001.0, 9_000.0, 1_000.0)
    parts.extend(times[:70_000], speed[:70_000])
    parts.set_shares((32, 32))
    parts.extend(times[70_000:], speed[70_000:])
    large, small = parts.curves["GPU-4090"], parts.curves["GPU-3060"]
    before = large.times < 70_000.0

    assert large.times.tolist() == small.times.tolist()
    assert set(large.values[before]) == {750.0}
    assert set(small.values[before]) == {250.0}
    assert small.values.max() == large.values.max() == 4_500.0
    assert (small.value_at(10.0), small.value_at(99_999.0)) == (250.0, 500.0)

    parts.end_line()

    assert small.last() is None
    assert small.value_at(-1.0) is None
