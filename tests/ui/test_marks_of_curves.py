"""What is marked in curves: the best validation, checkpoints, and that a run was resumed."""

import numpy as np
import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from gpupanel.domain.events import (
    CheckpointSaved,
    EpochDone,
    FindingReported,
    RunStarted,
    StepsDone,
    TrainingResumed,
)
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.problem import Problem, Severity
from gpupanel.ui.panels.live_panel import LivePanel
from gpupanel.ui.plots.readout import Readout

START = 1_000.0


def step(number: int, time_s: float) -> StepsDone:
    return StepsDone(
        time_s=START + time_s,
        step=number,
        steps=1,
        epoch=1,
        step_in_epoch=number,
        examples=64,
        loss=1.0,
        accuracy=0.5,
        examples_per_second=1_000.0,
    )


def epoch(number: int, time_s: float, loss: float, accuracy: float):
    metrics = Metrics(loss=1.0, val_loss=loss, val_accuracy=accuracy)
    yield EpochDone(
        time_s=START + time_s, epoch=number, step=10 * number, metrics=metrics, seconds=10.0
    )
    yield CheckpointSaved(
        time_s=START + time_s + 0.1,
        path=f"checkpoints/{number}",
        epoch=number,
        step=10 * number,
        seconds=0.1,
    )


def epochs(first: int, losses, accuracies, offset_s: float = 0.0):
    for place, (loss, accuracy) in enumerate(zip(losses, accuracies, strict=True)):
        number = first + place
        for n in range(10 * number - 9, 10 * number + 1):
            yield step(n, offset_s + n)
        yield from epoch(number, offset_s + 10 * number + 0.2, loss, accuracy)


@pytest.fixture
def panel(qtbot):
    panel = LivePanel()
    for plot in panel.plot_wall.plots:
        plot.prepare()
    qtbot.addWidget(panel)
    panel.resize(1_100, 700)
    with qtbot.waitExposed(panel):
        panel.show()
    panel.addEvents([RunStarted(time_s=START, supervisor_pid=1)])
    panel.addEvents(list(epochs(1, [0.9, 0.4, 0.6], [0.5, 0.7, 0.8])))
    QTest.qWait(20)
    panel.plot_wall.redraw()
    return panel


def test_that_the_best_validation_has_a_ring_and_is_said_in_words(panel):
    wall = panel.plot_wall
    place, value = wall.loss_plot.canvas.bests()["validation"]
    assert value == 0.4
    assert place == pytest.approx(20.0, abs=0.5)
    assert wall.metric_plot.canvas.bests()["validation"][1] == pytest.approx(80.0)
    ring = wall.loss_plot.canvas.curves[1].items[2]
    assert ring.getData()[1].tolist() == [0.4]
    panel.findChild(QPushButton, "live_log_values").click()
    assert ring.getData()[1].tolist() == [pytest.approx(np.log10(0.4))]
    assert "best 0.4000, step 20" in wall.loss_plot.legend.toolTip()


def test_that_one_validation_alone_is_not_called_the_best(panel):
    panel.clear()
    panel.addEvents([RunStarted(time_s=START, supervisor_pid=1), *epochs(1, [0.9], [0.5])])
    panel.plot_wall.redraw()
    assert panel.plot_wall.loss_plot.canvas.bests() == {}


def test_that_checkpoints_stand_at_the_bottom_and_the_pointer_names_them(panel):
    canvas = panel.plot_wall.loss_plot.canvas
    triangles, _, _ = canvas._marks.items
    places, heights = triangles.getData()
    assert places.tolist() == pytest.approx([10.0, 20.0, 30.0], abs=0.5)
    low, high = canvas.value_range
    assert all(low < each < low + 0.1 * (high - low) for each in heights)
    assert canvas.mark_text_near(20.1) == "checkpoint of epoch 2"
    assert canvas.mark_text_near(25.0) == ""
    panel.plot_wall.loss_plot._take_pointer(20.2)
    panel.plot_wall.redraw()
    [readout] = [each for each in panel.findChildren(Readout) if each.isVisible()]
    assert readout.text().startswith("step 20 · checkpoint of epoch 2\n")


def test_that_thousands_of_checkpoints_are_as_few_as_there_is_room_for(panel):
    panel.addEvents(
        [event for n in range(4, 3_000) for event in epoch(n, 30.0 + n / 100, 0.5, 0.8)]
    )
    panel.plot_wall.setAxis(panel.plot_wall.axis.TIME)
    triangles, _, _ = panel.plot_wall.loss_plot.canvas._marks.items
    assert 3 < len(triangles.getData()[0]) < 200


def test_that_a_resumed_run_has_a_line_there_and_what_it_undid_is_not_the_best(panel):
    panel.addEvents(list(epochs(4, [0.1], [0.99])))
    assert panel.plot_wall.loss_plot.canvas is not None
    panel.addEvents(
        [
            RunStarted(time_s=START + 90_000.0, supervisor_pid=2),
            TrainingResumed(time_s=START + 90_009.0, path="checkpoints/3", epoch=4, step=30),
            *epochs(4, [0.5], [0.75], offset_s=90_000.0),
        ]
    )
    wall = panel.plot_wall
    wall.redraw()
    canvas = wall.loss_plot.canvas
    assert canvas.bests()["validation"][1] == 0.4
    _, lines, _ = canvas._marks.items
    assert lines.getData()[0].tolist() == pytest.approx([30.0, 30.0], abs=1.0)
    assert lines.getData()[1].tolist() == pytest.approx(canvas.value_range)
    assert "resumed" in canvas.mark_text_near(30.5)
    # The day between is folded.
    wall.setAxis(wall.axis.TIME)
    assert wall.loss_plot.canvas.time_range[1] < 150.0
    [at, _] = lines.getData()[0].tolist()
    assert at == pytest.approx(40.3 + 9.0, abs=0.2)


def finding(code: str, time_s: float, since_s: float) -> FindingReported:
    problem = Problem(code=code, severity=Severity.HINT, message="It is slow.")
    return FindingReported(time_s=START + time_s, since_s=START + since_s, problem=problem)


def test_that_a_finding_points_from_the_top_to_where_it_began_and_the_pointer_names_it(panel):
    canvas = panel.plot_wall.loss_plot.canvas
    panel.plot_wall.setAxis(panel.plot_wall.axis.TIME)
    panel.addEvents(
        [finding("training_waits_for_data", 30.0, 12.0), finding("slow_pcie_link", 31.0, 22.0)]
    )
    panel.plot_wall.redraw()
    assert canvas.marked_findings().tolist() == pytest.approx([12.0, 22.0])
    _, _, signs = canvas._marks.items
    low, high = canvas.value_range
    assert all(high - 0.1 * (high - low) < each < high for each in signs.getData()[1])
    assert "training waits for data" in canvas.mark_text_near(12.1)
    assert "slow PCIe link" in canvas.mark_text_near(22.1)
    assert "PCIe" not in canvas.mark_text_near(17.0)
    panel.plot_wall.loss_plot._take_pointer(22.1)
    panel.plot_wall.redraw()
    [readout] = [each for each in panel.findChildren(Readout) if each.isVisible()]
    assert "slow PCIe link" in readout.text()


def test_that_a_finding_of_a_clock_beyond_all_times_stands_at_the_start(panel):
    panel.plot_wall.setAxis(panel.plot_wall.axis.TIME)
    panel.addEvents([finding("straggler", 30.0, -1e300), finding("cpu_quota", 30.0, 1e300)])
    panel.plot_wall.redraw()
    places = panel.plot_wall.loss_plot.canvas.marked_findings()
    assert np.isfinite(places).all()
    assert 0.0 <= places.min() <= places.max() <= 31.0


def test_that_a_ring_at_the_end_of_its_range_is_whole_in_a_low_plot(panel):
    panel.addEvents(list(epochs(4, [0.3, 0.2], [1.0, 0.9])))
    panel.resize(1_100, 420)
    canvas = panel.plot_wall.metric_plot.canvas
    QTest.qWait(20)
    panel.plot_wall.redraw()
    ring = canvas.curves[1].items[2]
    (height,) = ring.getData()[1]
    assert height == pytest.approx(100.0)

    box = canvas.getPlotItem().getViewBox()
    low, high = canvas.value_range
    above = (high - height) / (high - low) * box.height()
    assert box.height() < 120
    assert above >= 8.5
