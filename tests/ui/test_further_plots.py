"""Plots of Live that a person asks for: learning rate, gradient norm, waiting, step time."""

import itertools

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLabel, QPushButton, QSlider, QToolButton

from gpupanel.domain.events import RunRestarted, RunStarted, StepsDone
from gpupanel.ui.panels.live_panel import LivePanel

START = 1_000.0
TITLES = ("Learning rate", "Gradient norm", "Waiting for data, %", "Step time, ms")


def step(number: int, **measured: float | None) -> StepsDone:
    return StepsDone(
        time_s=START + number,
        step=number,
        steps=1,
        epoch=1,
        step_in_epoch=number,
        examples=64,
        loss=1.0 / number,
        examples_per_second=1_000.0,
        **measured,
    )


def measured_steps(count: int, first: int = 1) -> list[StepsDone]:
    return [
        step(
            number,
            learning_rate=0.1 / number,
            gradient_norm=float(1 + number % 2),
            waiting_for_data=0.25,
            step_time_ms=12.5,
        )
        for number in range(first, first + count)
    ]


@pytest.fixture
def panel(qtbot):
    panel = LivePanel()
    for plot in panel.plot_wall.plots:
        plot.prepare()
    qtbot.addWidget(panel)
    panel.resize(1_000, 700)
    with qtbot.waitExposed(panel):
        panel.show()
    return panel


def all_entries(panel) -> list[QAction]:
    menu = panel.findChild(QToolButton, "live_more").menu()
    return [action for action in menu.actions() if action.isCheckable()]


def entries(panel) -> list[QAction]:
    return all_entries(panel)[-len(TITLES) :]


def feed(panel, *events) -> None:
    panel.addEvents([RunStarted(time_s=START, supervisor_pid=1), *events])
    panel.plot_wall.redraw()


def drawn(plot, index: int = 0):
    import pyqtgraph as pg

    lines = [item for item in plot.canvas.getPlotItem().items if isinstance(item, pg.PlotCurveItem)]
    return lines[index].getData()


def test_that_a_person_chooses_which_further_plots_are_shown(panel):
    feed(panel, *measured_steps(20))
    wall = panel.plot_wall
    assert [entry.text() for entry in entries(panel)] == list(TITLES)
    assert not any(plot.isVisible() for plot in wall.further_plots)
    for entry in entries(panel):
        entry.trigger()
    assert all(plot.isVisible() for plot in wall.further_plots)
    rate, norm, waiting, step_time = wall.further_plots
    assert drawn(rate)[1].tolist() == pytest.approx([0.1 / n for n in range(1, 21)])
    assert drawn(norm)[1].tolist() == [float(1 + n % 2) for n in range(1, 21)]
    assert drawn(waiting)[1].tolist() == [25.0] * 20
    assert drawn(step_time)[1].tolist() == [12.5] * 20
    assert {plot.canvas.time_range for plot in wall.plots} == {wall.span()}
    assert [plot.legend.entries()[0].value for plot in wall.further_plots] == [
        "0.0050",
        "1.000",
        "25.0 %",
        "12.50",
    ]
    entries(panel)[1].trigger()
    assert norm.isHidden()
    assert rate.isVisible()


@pytest.mark.parametrize(
    "shown", [(), (0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2), (2, 3)], ids=str
)
def test_that_both_columns_of_plots_end_at_the_same_height(panel, qtbot, shown):
    feed(panel, *measured_steps(20))
    for place in shown:
        entries(panel)[place].trigger()
    wall = panel.plot_wall
    qtbot.wait(1)
    columns: dict[int, list] = {}
    for plot in wall.plots:
        columns.setdefault(plot.x(), []).append(plot)
    assert len(columns) == 2
    ends = {max(plot.geometry().bottom() for plot in plots) for plots in columns.values()}
    assert ends == {wall.rect().bottom()}
    assert wall.loss_plot.height() >= wall.metric_plot.height() - 1
    for plots in columns.values():
        for upper, lower in itertools.pairwise(plots):
            assert upper.geometry().bottom() < lower.y()


@pytest.mark.parametrize("width", [452, 487, 760, 1_400])
def test_that_tools_wrap_where_it_is_narrow_and_none_is_cut(panel, qtbot, width):
    feed(panel, *measured_steps(20))
    panel.resize(width, 640)
    names = ("step_axis", "epoch_axis", "time_axis", "log_values", "whole_run")
    tools = [panel.findChild(QPushButton, f"live_{name}") for name in names]
    tools += [panel.findChild(QSlider), panel.findChild(QToolButton, "live_more")]

    def places() -> list[QRect]:
        return [QRect(tool.mapTo(panel, QPoint(0, 0)), tool.size()) for tool in tools]

    def is_whole() -> bool:
        below = panel.plot_wall.mapTo(panel, QPoint(0, 0)).y()
        return all(
            panel.rect().contains(place) and place.bottom() < below and not place.intersects(other)
            for one, place in enumerate(places())
            for other in places()[:one]
        )

    assert panel.minimumSizeHint().width() <= 452
    qtbot.waitUntil(is_whole)
    assert all(tool.width() >= tool.minimumSizeHint().width() for tool in tools)
    lines = {place.center().y() // 20 for place in places()}
    assert (len(lines) > 1) is (width < 700)


def test_that_norms_are_smoothed_with_what_was_measured_behind_and_stand_at_logarithms(panel):
    feed(panel, *measured_steps(30))
    entries(panel)[1].trigger()
    plot = panel.plot_wall.further_plots[1]
    panel.findChild(QSlider, "live_smoothing_slider").setValue(3)
    panel.plot_wall.redraw()
    faint, smooth = drawn(plot, 0)[1], drawn(plot, 1)[1]
    assert set(faint.tolist()) == {1.0, 2.0}
    assert np.ptp(smooth[10:]) < 0.5
    panel.findChild(QPushButton, "live_log_values").click()
    assert drawn(plot, 1)[1].tolist() == pytest.approx(np.log10(smooth).tolist())


def test_that_a_run_that_recorded_no_norms_says_so(panel, qtbot):
    feed(panel, *(step(number) for number in range(1, 10)))
    entries(panel)[1].trigger()
    panel.plot_wall.redraw()
    plot = panel.plot_wall.further_plots[1]
    notes = plot.canvas.findChildren(QLabel)
    (note,) = [each for each in notes if each.text() == "No gradient norms recorded"]
    qtbot.waitUntil(note.isVisible)
    panel.addEvents(measured_steps(1, first=10))
    panel.plot_wall.redraw()
    assert note.isHidden()


def test_that_a_norm_that_was_not_finite_leaves_a_gap(panel):
    feed(panel, *measured_steps(3), step(4, gradient_norm=None), *measured_steps(2, first=5))
    assert np.isnan(panel.curves.further["gradient_norm"].values).tolist() == [
        False,
        False,
        False,
        True,
        False,
        False,
    ]


def test_that_no_line_leads_from_before_a_restart_to_what_is_done_again(panel):
    again = RunRestarted(time_s=START + 5.0, attempt=1)
    feed(panel, *measured_steps(4), again, *measured_steps(4, first=6))
    assert np.isnan(panel.curves.further["gradient_norm"].values).sum() == 1


def test_that_a_plot_that_nobody_wants_to_see_is_hidden_and_its_neighbours_get_its_room(
    panel, qtbot
):
    feed(panel, *measured_steps(20))
    wall = panel.plot_wall
    usual = all_entries(panel)[: -len(TITLES)]
    assert [entry.text() for entry in usual] == [plot.title() for plot in wall.usual_plots]
    assert all(entry.isChecked() for entry in usual)
    before = wall.rate_plot.height()
    for hidden in ("Memory, %", "Utilization, %"):
        next(entry for entry in usual if entry.text() == hidden).trigger()
    qtbot.wait(1)
    assert wall.memory_plot.isHidden()
    assert wall.rate_plot.height() > 2 * before
    for entry in usual:
        if entry.isChecked() and entry.isEnabled():
            entry.trigger()
    (last,) = wall.plots  # the last one cannot be hidden
    assert last.isVisible()
    assert [entry.isEnabled() for entry in usual if entry.isChecked()] == [False]


@pytest.mark.parametrize("back", ["head", "escape", "button"])
def test_that_a_plot_fills_the_page_by_a_double_click_and_gives_it_back(panel, qtbot, back):
    feed(panel, *measured_steps(20))
    wall = panel.plot_wall
    loss, button = wall.loss_plot, panel.findChild(QPushButton, "live_all_plots")
    qtbot.wait(1)
    before, places = loss.size(), [plot.geometry() for plot in wall.plots]
    assert not button.isVisible()
    qtbot.mouseDClick(loss, Qt.MouseButton.LeftButton, pos=QPoint(40, 10))
    qtbot.wait(1)
    assert wall.plots == (loss,)
    assert loss.width() > 1.9 * before.width()
    assert loss.height() > 1.5 * before.height()
    assert button.isVisible()
    assert {len(drawn(loss)[0])} == {20}
    if back == "head":
        qtbot.mouseDClick(loss, Qt.MouseButton.LeftButton, pos=QPoint(40, 10))
    elif back == "escape":
        panel.setFocus()
        qtbot.keyClick(panel, Qt.Key.Key_Escape)
    else:
        button.click()
    qtbot.wait(1)
    assert [plot.geometry() for plot in wall.plots] == places
    assert not button.isVisible()


def test_that_a_double_click_on_curves_shows_the_whole_run_before_it_enlarges(panel, qtbot):
    feed(panel, *measured_steps(20))
    wall = panel.plot_wall
    wall.showSpan(3.0, 9.0)
    canvas = wall.metric_plot.canvas
    qtbot.mouseDClick(canvas.viewport(), Qt.MouseButton.LeftButton)
    assert wall.is_following
    assert len(wall.plots) == 6
    qtbot.mouseDClick(canvas.viewport(), Qt.MouseButton.LeftButton)
    assert wall.plots == (wall.metric_plot,)
