"""Runs side by side: legend, curves, smoothing, axis, differences, picture."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QSlider, QTableView

from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.problem import Problem
from gpupanel.runs.history.curves import MetricPoints
from gpupanel.runs.history.differences import Difference
from gpupanel.runs.history.metrics import METRICS
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.ui import formatting, theme
from gpupanel.ui.panels.comparison_panel import ComparisonPanel, run_styles
from gpupanel.ui.plots.curve import Best
from gpupanel.ui.plots.picture import PictureFormat
from gpupanel.ui.plots.readout import Readout
from gpupanel.ui.workers.comparison_worker import ComparedRun


def points(values, speed=1.0):
    steps = np.arange(1.0, len(values) + 1)
    return MetricPoints(steps, steps / speed, np.array(values, dtype=float))


def run(place, measured, **more):
    """A run whose names tell its place; it makes as many steps a second as that, and one."""
    name = more.pop("name", f"run {place}")
    path = Path(f"/runs/{place}")
    summary = RunSummary(
        name=f"dir-{place}", path=path, profile_name=name, outcome=Outcome.COMPLETED
    )
    curves = {metric: points(values, place + 1.0) for metric, values in measured.items()}
    steps = max((len(each) for each in curves.values()), default=0)
    return ComparedRun(summary, curves, steps, is_read=True, **more)


FIRST = run(0, {"loss": [4.0, 2.0, 3.0], "val_loss": [2.5]})
SECOND = run(1, {"loss": [5.0, 1.0, 0.5, 0.25], "accuracy": [0.1, 0.5, 0.9, 0.8]})


@pytest.fixture
def panel(qtbot):
    panel = ComparisonPanel()
    qtbot.addWidget(panel)
    qtbot.addWidget(panel.head)
    panel.resize(940, 620)
    with qtbot.waitExposed(panel):
        panel.show()
    return panel


def show(panel, *runs):
    panel.setSummaries([each.summary for each in runs])
    for place, each in enumerate(runs):
        panel.setRun(place, each)


def rows(panel):
    model = panel.findChild(QTableView, "comparison_legend").model()
    heads = [
        model.headerData(column, Qt.Orientation.Horizontal) for column in range(model.columnCount())
    ]
    return [
        dict(zip(heads, (model.index(row, n).data() for n in range(len(heads))), strict=True))
        for row in range(model.rowCount())
    ]


def plot(panel, metric):
    return panel.grid.plots[metric]


def button(panel, name):
    return panel.findChild(QPushButton, name)


def drawn(panel, metric):
    return [
        (curve.label, curve.buffer.times.tolist(), curve.buffer.values.tolist())
        for curve in plot(panel, metric).curves
    ]


def click_check_mark(qtbot, panel, row):
    table = panel.findChild(QTableView, "comparison_legend")
    place = table.visualRect(table.model().index(row, 0))
    at = QPoint(place.left() + 12, place.center().y())
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=at)


def test_that_the_legend_says_which_run_is_which_and_what_it_reached(panel):
    show(panel, FIRST, SECOND)
    first, second = rows(panel)
    assert first["Run"] == "run 0"
    assert first["Outcome"] == "Completed"
    assert first["Steps"] == "3"
    assert first["Loss (best)"] == "3.000 (2.000)"
    assert first["Val. loss (best)"] == "2.500 (2.500)"
    assert first["Accuracy (best)"] == "–"  # noqa: RUF001 - a dash for what is not known
    assert second["Accuracy (best)"] == "80.0 % (90.0 %)"


def test_that_the_legend_has_what_a_test_set_showed_of_some_run(panel):
    tested = Metrics(test_loss=0.5, test_accuracy=0.875)
    summary = SECOND.summary.model_copy(update={"metrics": tested})
    show(panel, FIRST, replace(SECOND, summary=summary))
    first, second = rows(panel)
    assert (first["Test loss"], second["Test loss"]) == (formatting.DASH, "0.5000")
    assert second["Test acc."] == "87.5 %"
    assert "Test error" not in second


def test_that_runs_of_one_name_are_distinguished(panel):
    show(panel, run(0, {}, name="same"), run(1, {}, name="same"), run(2, {}, name="other"))
    assert [row["Run"] for row in rows(panel)] == ["dir-0", "dir-1", "other"]


def test_that_runs_of_one_name_have_their_start_beside_it(panel):
    begun = [1_795_000_000.0, 1_795_000_600.0]
    same = [run(place, {}, name="same") for place in range(2)]
    show(
        panel,
        *(
            replace(each, summary=each.summary.model_copy(update={"started_s": started_s}))
            for each, started_s in zip(same, begun, strict=True)
        ),
    )
    titles = [f"same · {formatting.day_and_time(started_s)}" for started_s in begun]
    assert [row["Run"] for row in rows(panel)] == titles
    panel.setDifferences((Difference(key="training.epochs", values=("1", "2")),))
    header = panel.findChild(QTableView, "difference_table").horizontalHeader()
    heads = [
        header.model().headerData(place, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
        for place in (1, 2)
    ]
    # Their ends are what they differ in.
    assert header.textElideMode() is Qt.TextElideMode.ElideMiddle
    assert all(title in head for title, head in zip(titles, heads, strict=True))


def test_that_only_what_some_run_measured_has_a_plot(panel):
    show(panel, FIRST, SECOND)
    assert {metric for metric in METRICS if plot(panel, metric).isVisible()} == {
        "loss",
        "val_loss",
        "accuracy",
    }
    assert [label for label, *_ in drawn(panel, "accuracy")] == ["run 1"]


def test_that_each_run_has_a_colour_and_a_line_of_its_own(panel):
    show(panel, *(run(n, {"loss": [2.0, 1.0]}) for n in range(8)))
    curves = plot(panel, "loss").curves
    assert len({curve.color().name() for curve in curves}) == 8
    assert len({curve.dashes for curve in curves}) == 8
    assert curves[3].color() == run_styles.color(3)


def test_that_a_click_in_the_legend_hides_a_run_and_another_shows_it(qtbot, panel):
    show(panel, FIRST, SECOND)
    click_check_mark(qtbot, panel, 1)
    assert [label for label, *_ in drawn(panel, "loss")] == ["run 0"]
    # Its plots keep their places, so that nothing jumps.
    assert plot(panel, "accuracy").isVisible()
    panel.setRun(1, SECOND)
    assert [label for label, *_ in drawn(panel, "loss")] == ["run 0"]
    click_check_mark(qtbot, panel, 1)
    assert [label for label, *_ in drawn(panel, "loss")] == ["run 0", "run 1"]


def test_that_the_axis_counts_steps_or_the_time_since_each_runs_start(qtbot, panel):
    show(panel, FIRST, SECOND)
    assert drawn(panel, "loss")[1][1] == [1.0, 2.0, 3.0, 4.0]
    button(panel, "time_axis").click()
    assert drawn(panel, "loss")[1][1] == [0.5, 1.0, 1.5, 2.0]
    canvas = plot(panel, "loss").canvas
    axis = canvas.getPlotItem().getAxis("bottom")
    assert axis.tickStrings([90.0], 1.0, 30.0) == ["1:30"]
    button(panel, "step_axis").click()
    axis = canvas.getPlotItem().getAxis("bottom")
    assert axis.tickStrings([12_000.0], 1.0, 1000.0) == ["12,000"]


def test_that_smoothing_leaves_what_was_measured_faint_behind(panel):
    show(panel, FIRST, SECOND)
    panel.findChild(QSlider, "smoothing_slider").setValue(3)
    raw, _, smooth, _ = plot(panel, "loss").curves
    assert raw.is_backdrop
    assert raw.buffer.values.tolist() == [4.0, 2.0, 3.0]
    assert not smooth.is_backdrop
    assert np.ptp(smooth.buffer.values) < np.ptp(raw.buffer.values)
    assert plot(panel, "loss").title() == "Loss (smoothed)"
    # The few values of epochs stay as they are.
    assert len(plot(panel, "val_loss").curves) == 1
    panel.findChild(QSlider, "smoothing_slider").setValue(0)
    assert len(plot(panel, "loss").curves) == 2
    assert plot(panel, "loss").title() == "Loss"


def test_that_learning_rates_are_compared_but_have_no_best_one(panel):
    rates = run(0, {"loss": [2.0, 1.0], "learning_rate": [0.1, 0.01]})
    show(panel, rates, SECOND)
    panel.findChild(QSlider, "smoothing_slider").setValue(3)
    [curve] = plot(panel, "learning_rate").curves
    assert curve.buffer.values.tolist() == [0.1, 0.01]
    assert not any("earning" in title for title in rows(panel)[0])
    button(panel, "log_values").click()
    assert plot(panel, "learning_rate").is_log
    assert not plot(panel, "accuracy").is_log


def test_that_gradient_norms_are_compared_and_smoothed(panel):
    norms = run(0, {"loss": [2.0, 1.0], "gradient_norm": [4.0, 0.5, 3.0]})
    show(panel, norms, SECOND)
    shown = plot(panel, "gradient_norm")
    assert shown.isVisible()
    assert not any("radient" in title for title in rows(panel)[0])
    panel.findChild(QSlider, "smoothing_slider").setValue(3)
    faint, smooth = drawn(panel, "gradient_norm")
    assert faint[2] == [4.0, 0.5, 3.0]
    assert smooth[2][0] == 4.0
    assert 0.5 < smooth[2][1] < 4.0
    button(panel, "log_values").click()
    assert shown.is_log


def test_that_runs_of_other_batches_stand_over_each_other_by_epochs(panel):
    first, second = replace(FIRST, steps_per_epoch=1), replace(SECOND, steps_per_epoch=2)
    show(panel, first, second, run(2, {"loss": [1.0, 2.0]}))
    button(panel, "epoch_axis").click()
    assert [(label, places) for label, places, _ in drawn(panel, "loss")] == [
        ("run 0", [1.0, 2.0, 3.0]),
        ("run 1", [0.5, 1.0, 1.5, 2.0]),
    ]
    show(panel, run(0, {"loss": [1.0]}), run(1, {"loss": [1.0]}))
    assert not button(panel, "epoch_axis").isEnabled()
    assert button(panel, "step_axis").isChecked()
    assert drawn(panel, "loss")[0][1] == [1.0]


def test_that_the_best_validation_of_each_run_is_marked(panel):
    show(panel, run(0, {"val_loss": [3.0, 1.0, 2.0], "val_accuracy": [0.1, 0.9, 0.5]}))
    assert plot(panel, "val_loss").curves[0].best is Best.LEAST
    assert plot(panel, "val_accuracy").curves[0].best is Best.GREATEST


def test_that_a_click_in_a_plots_legend_hides_the_run(panel):
    show(panel, FIRST, SECOND)
    plot(panel, "loss").legend.toggled.emit("run 0")
    assert [label for label, *_ in drawn(panel, "loss")] == ["run 1"]
    table = panel.findChild(QTableView, "comparison_legend").model()
    state = table.index(0, 0).data(Qt.ItemDataRole.CheckStateRole)
    assert Qt.CheckState(state) is Qt.CheckState.Unchecked


def test_that_the_values_at_the_pointer_stand_beside_it(qtbot, panel):
    show(panel, FIRST, SECOND)
    loss = plot(panel, "loss")
    qtbot.waitUntil(lambda: loss.canvas.time_range == (0.0, 10.0))
    loss.canvas.pointed.emit(3.4)
    qtbot.waitUntil(lambda: any(each.isVisible() for each in panel.findChildren(Readout)))
    (readout,) = [each for each in panel.findChildren(Readout) if each.isVisible()]
    assert readout.text() == "step 3\nrun 0: –\nrun 1: 0.5000"  # noqa: RUF001 - run 0 has ended
    loss.canvas.pointed.emit(None)
    qtbot.waitUntil(lambda: not readout.isVisible())


def test_that_a_person_can_zoom_and_see_the_whole_runs_again(qtbot, panel):
    show(panel, FIRST, SECOND)
    loss, other = plot(panel, "loss"), plot(panel, "val_loss")
    whole = button(panel, "whole_runs")
    assert not whole.isEnabled()
    loss.canvas.timeRangeChosen.emit(1.0, 2.0)
    assert other.canvas.time_range == (1.0, 2.0)
    panel.setRun(0, FIRST)
    qtbot.wait(100)
    assert other.canvas.time_range == (1.0, 2.0)
    whole.click()
    qtbot.waitUntil(lambda: other.canvas.time_range == (0.0, 10.0))
    assert not whole.isEnabled()


def test_that_a_deleted_run_and_one_that_is_being_read_say_so(panel):
    gone = run(0, {"loss": [1.0]}, problem=Problem(code="run_deleted", message="It was deleted."))
    show(panel, gone, FIRST)
    assert rows(panel)[0]["Outcome"] == "Deleted"
    model = panel.findChild(QTableView, "comparison_legend").model()
    assert "It was deleted." in model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)
    panel.setSummaries([FIRST.summary, SECOND.summary])
    assert [row["Outcome"] for row in rows(panel)] == ["Reading…", "Reading…"]


def test_that_runs_without_a_step_say_what_will_appear(panel):
    show(panel, run(0, {}), run(1, {}))
    assert panel._empty.isVisible()
    assert "None of these runs has made a step" in panel._empty.text()
    assert [row["Steps"] for row in rows(panel)] == ["no step", "no step"]
    panel.setRun(1, run(1, {"loss": [1.0]}))
    assert not panel._empty.isVisible()
    assert plot(panel, "loss").isVisible()


def test_that_differences_are_shown_and_copied_as_a_table(panel):
    show(panel, FIRST, SECOND)
    panel.setDifferences(
        (
            Difference(key="training.learning_rate", values=("0.001", "0.01")),
            Difference(key="model.filters", values=(None, "[8, 16]")),
        )
    )
    button(panel, "show_differences").click()
    assert panel.findChild(QTableView, "difference_table").isVisible()
    button(panel, "copy_differences").click()
    assert QGuiApplication.clipboard().text().split("\n") == [
        "Key\trun 0\trun 1",
        "training.learning_rate\t0.001\t0.01",
        "model.filters\t–\t[8, 16]",  # noqa: RUF001 - a dash for a key that is not there
    ]
    panel.setDifferences(())
    assert not panel.findChild(QTableView, "difference_table").isVisible()


def test_that_the_chosen_rows_of_differences_are_copied(qtbot, panel):
    show(panel, FIRST, SECOND)
    panel.setDifferences(
        tuple(Difference(key=key, values=("1", "2")) for key in ("a.first", "a.second"))
    )
    button(panel, "show_differences").click()
    table = panel.findChild(QTableView, "difference_table")
    table.selectRow(1)
    table.setFocus()
    qtbot.keyClick(table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(
        lambda: QGuiApplication.clipboard().text() == "Key\trun 0\trun 1\na.second\t1\t2"
    )


def test_that_differences_of_four_runs_need_no_scrolling_in_a_narrow_window(qtbot, panel):
    runs = [
        run(place, {"loss": [1.0]}, name=f"flowers {place} " + "rate " * 12) for place in range(4)
    ]
    show(panel, *runs)
    panel.setDifferences(
        (Difference(key="training.learning_rate", values=("0.1", "0.2", "0.3", "0.4")),)
    )
    button(panel, "show_differences").click()
    table = panel.findChild(QTableView, "difference_table")
    panel.resize(1600, 620)
    qtbot.waitUntil(lambda: table.width() > 1500)
    whole = table.columnWidth(1)
    panel.resize(744, 620)
    qtbot.waitUntil(lambda: table.horizontalScrollBar().maximum() == 0 and table.width() < 800)
    assert table.columnWidth(1) < whole

    panel.resize(1600, 620)
    qtbot.waitUntil(lambda: table.columnWidth(1) == whole)


def test_that_the_width_that_a_person_gave_a_difference_stays(panel):
    show(panel, FIRST, SECOND)
    panel.setDifferences((Difference(key="model.kind", values=("mlp", "cnn")),))
    button(panel, "show_differences").click()
    table = panel.findChild(QTableView, "difference_table")
    table.setColumnWidth(1, 333)
    panel.resize(700, 620)
    assert table.columnWidth(1) == 333


def test_that_what_runs_reached_stands_before_how_they_ended(panel):
    show(panel, FIRST, SECOND)
    titles = list(rows(panel)[0])
    assert titles[1:3] == ["Loss (best)", "Val. loss (best)"]
    assert titles[-3:] == ["Outcome", "Steps", "Speed"]


def picture(panel, *, is_on_white: bool = True) -> QImage:
    return QImage.fromData(panel.picture(PictureFormat.PNG, is_on_white=is_on_white))


def colors_in(image):
    small = image.scaled(image.width() // 2, image.height() // 2)
    return {
        QColor(small.pixel(x, y)).name()
        for x in range(0, small.width(), 2)
        for y in range(0, small.height(), 2)
    }


@pytest.mark.usefixtures("restored_theme")
def test_that_a_picture_is_on_white_or_as_it_is_shown(qapp, panel):
    theme.show(qapp, theme.DARK)
    show(panel, FIRST, SECOND)
    white, dark = picture(panel, is_on_white=True), picture(panel, is_on_white=False)
    assert white.size() == dark.size()
    assert white.width() == 2560
    assert white.pixelColor(2, 2).name() == "#ffffff"
    assert dark.pixelColor(2, 2).name() == theme.DARK.surface
    assert theme.LIGHT.devices[0] in colors_in(white)
    assert theme.DARK.devices[0] in colors_in(dark)
    # The window kept its own colours.
    assert theme.current() is theme.DARK


def test_that_a_hidden_run_is_in_no_picture(qtbot, panel):
    show(panel, FIRST, SECOND)
    with_both = picture(panel)
    click_check_mark(qtbot, panel, 1)
    without = picture(panel)
    assert theme.LIGHT.devices[1] in colors_in(with_both)
    assert theme.LIGHT.devices[1] not in colors_in(without)
    assert without.height() < with_both.height()


@pytest.mark.parametrize(("width", "height", "scrolls"), [(500, 392, True), (900, 900, False)])
def test_that_where_it_is_low_the_rows_scroll_and_cover_no_plot(
    panel, qtbot, width, height, scrolls
):
    panel.resize(width, height)
    show(panel, *(run(place, {"loss": [1.0, 2.0]}) for place in range(8)))
    table, pages = panel.findChild(QTableView, "comparison_legend"), panel._pages

    def seen() -> int:
        places = [table.visualRect(table.model().index(row, 0)) for row in range(8)]
        room = table.viewport().height()
        return sum(place.top() >= 0 and place.bottom() <= room for place in places)

    qtbot.waitUntil(lambda: table.geometry().bottom() < panel._note.y() < pages.y())
    qtbot.waitUntil(lambda: (2 <= seen() < 8) if scrolls else seen() == 8)
    assert (table.verticalScrollBar().maximum() > 0) is scrolls
    assert pages.height() >= 140


@pytest.mark.usefixtures("restored_theme")
def test_that_legends_of_plots_take_the_colours_of_a_new_theme(qapp, qtbot, panel):
    show(panel, FIRST, SECOND)
    legend = plot(panel, "loss").legend
    qtbot.waitUntil(lambda: len(legend.entries()) == 2)
    theme.show(qapp, theme.DARK)
    expected = [run_styles.color(0).name(), run_styles.color(1).name()]
    qtbot.waitUntil(lambda: [entry.color.name() for entry in legend.entries()] == expected)


@pytest.mark.parametrize("width", [500, 940, 1600])
def test_that_no_row_of_the_compared_runs_is_cut_off(panel, qtbot, width):
    panel.resize(width, 700)
    show(panel, FIRST, SECOND, run(2, {"loss": [1.0], "val_accuracy": [0.5]}))
    table = panel.findChild(QTableView, "comparison_legend")

    def whole() -> bool:
        last = table.visualRect(table.model().index(2, 0))
        return last.isValid() and last.bottom() < table.viewport().height()

    qtbot.waitUntil(whole)
    scrolls = table.horizontalScrollBar().maximum() > 0
    assert scrolls is (width == 500)
    panel.resize(2_140 - width, 700)
    QTest.qWait(20)
    qtbot.waitUntil(whole)


@pytest.mark.parametrize("colors", [theme.LIGHT, theme.DARK], ids=lambda each: each.name)
def test_that_the_box_of_a_hidden_run_is_seen_in_both_themes(qtbot, qapp, panel, colors):
    before = theme.current()
    theme.show(qapp, colors)
    try:
        show(panel, FIRST, SECOND)
        click_check_mark(qtbot, panel, 1)
        table = panel.findChild(QTableView)
        row = table.visualRect(table.model().index(1, 0))
        picture = table.viewport().grab(row.adjusted(0, 0, 28 - row.width(), 0)).toImage()
        pixels = {
            picture.pixelColor(x, y).name()
            for x in range(picture.width())
            for y in range(picture.height())
        }
        assert colors.color("strong_border").name() in pixels
    finally:
        theme.show(qapp, before)


def test_that_figures_of_programs_have_plots_below_all_others(panel):
    first = run(0, {"loss": [2.0, 1.0], "reward": [-1.0, 3.0], "val_reward": [2.0]})
    second = run(1, {"reward": [5.0, 6.0], "entropy": [1.0]})
    show(panel, first, second)
    shown = [plot.title() for plot in panel.grid.shown]
    assert shown == ["Loss", "reward", "val_reward", "entropy"]
    plots = panel.grid.plots
    assert [curve.label for curve in plots["reward"].curves] == ["run 0", "run 1"]
    assert plots["val_reward"].curves[0].best is None
    layout = panel.grid.layout()
    places = {name: layout.getItemPosition(layout.indexOf(plots[name])) for name in shown[1:]}
    assert places["reward"][0] == places["val_reward"][0] == places["entropy"][0] - 1
    show(panel, FIRST)
    assert [plot.title() for plot in panel.grid.shown] == ["Loss", "Validation loss"]


def test_that_only_so_many_figures_of_programs_are_compared(panel):
    show(panel, run(0, {f"figure {number}": [1.0] for number in range(40)}))
    assert len(panel.grid.shown) == 24
