"""Runs as points: a setting against what they reached."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QLabel,
    QLineEdit,
    QPushButton,
    QTableView,
)

from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.runs.history.run_settings import RunSettings
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.ui import theme
from gpupanel.ui.panels.runs_panel import RunsPanel
from gpupanel.ui.panels.runs_panel.scatter_dialog import ScatterDialog
from gpupanel.ui.plots.scatter_plot import ScatterPlot
from gpupanel.ui.widgets.scatter_axis import CategoryAxis, NumberAxis, can_be_log
from tests.ui.accessible_tree import unspoken

_RATES = (0.0001, 0.001, 0.01, 0.1, 0.01)
_ACCURACIES = (0.9, 0.95, 0.8, 0.5, None)
_OPTIMIZERS = ("adam", "sgd", "adam", "sgd", "adam")
RUNS = tuple(
    RunSummary(
        name=f"run-{number}",
        path=Path(f"/runs/run-{number}"),
        profile_name=f"run {number}",
        started_s=1_000.0 * (9 - number),
        outcome=Outcome.COMPLETED,
        metrics=Metrics(val_accuracy=accuracy),
    )
    for number, accuracy in enumerate(_ACCURACIES)
)
SETTINGS = {
    run.name: RunSettings((("training.learning_rate", rate), ("training.optimizer", optimizer)))
    for run, rate, optimizer in zip(RUNS, _RATES, _OPTIMIZERS, strict=True)
}


@pytest.fixture
def panel(qtbot):
    panel = RunsPanel(Path("/runs"))
    qtbot.addWidget(panel)
    panel.resize(940, 500)
    panel.setRuns(RUNS)
    panel.setSettings(SETTINGS)
    with qtbot.waitExposed(panel):
        panel.show()
    return panel


@pytest.fixture
def dialog(qtbot, panel):
    qtbot.mouseClick(panel.findChild(QPushButton, "runs_scatter"), Qt.MouseButton.LeftButton)
    dialog = panel.findChild(ScatterDialog, "scatter_dialog")
    qtbot.waitExposed(dialog)
    return dialog


@pytest.fixture
def plot(dialog):
    return dialog.findChild(ScatterPlot, "scatter_plot")


def _box(dialog, name):
    return dialog.findChild(QComboBox, f"scatter_{name}")


def _pick(dialog, name, title):
    box = _box(dialog, name)
    box.setCurrentIndex(box.findText(title))


def _click(qtbot, plot, name):
    place = plot.place_of(name).toPoint()
    qtbot.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_that_a_setting_that_differs_stands_against_the_accuracy(dialog, plot):
    assert _box(dialog, "x").currentText() == "Learning rate"
    assert _box(dialog, "y").currentText() == "Accuracy"
    # Rates over three decades are shown by powers of ten at once.
    assert dialog.findChild(QCheckBox, "scatter_x_log").isChecked()
    xs = [plot.place_of(f"run-{number}").x() for number in range(4)]
    apart = [after - before for before, after in pairwise(xs)]
    assert apart == pytest.approx([apart[0]] * 3)
    assert plot.place_of("run-1").y() < plot.place_of("run-0").y()
    # One without accuracy is nowhere, and is counted.
    assert plot.place_of("run-4") is None
    assert dialog.findChild(QLabel, "scatter_word").text() == "4 runs; 1 without such values"


def test_that_the_numbers_of_a_setting_are_written_as_everywhere(qtbot, panel):
    sizes = (1_000, 20_000, 3_000, 4_000, 5_000)
    panel.setSettings(
        {
            run.name: RunSettings((("training.global_batch_size", size),))
            for run, size in zip(RUNS, sizes, strict=True)
        }
    )
    qtbot.mouseClick(panel.findChild(QPushButton, "runs_scatter"), Qt.MouseButton.LeftButton)
    plot = panel.findChild(ScatterDialog, "scatter_dialog").findChild(ScatterPlot, "scatter_plot")
    axis = plot.getPlotItem().getAxis("bottom")
    ((_, places),) = axis.tickValues(0.0, 1.0, 2_000.0)
    assert axis.tickStrings(places, 1.0, 1.0) == ["5,000", "10,000", "15,000", "20,000"]


def test_that_a_setting_that_some_runs_lack_is_no_difference(qtbot, panel):
    lacking = {
        name: RunSettings((("data.augmentation.rotation", 0.0), *settings.pairs))
        if name == "run-0"
        else settings
        for name, settings in SETTINGS.items()
    }
    panel.setSettings(lacking)
    qtbot.mouseClick(panel.findChild(QPushButton, "runs_scatter"), Qt.MouseButton.LeftButton)
    dialog = panel.findChild(ScatterDialog, "scatter_dialog")
    assert _box(dialog, "x").currentText() == "Learning rate"
    assert _box(dialog, "x").findText("Rotation") < 0


def test_that_a_setting_differs_only_among_the_runs_that_are_shown(qtbot, panel):
    panel.findChild(QLineEdit, "runs_search").setText("training.optimizer = adam")
    qtbot.mouseClick(panel.findChild(QPushButton, "runs_scatter"), Qt.MouseButton.LeftButton)
    dialog = panel.findChild(ScatterDialog, "scatter_dialog")
    assert _box(dialog, "x").currentText() == "Learning rate"
    assert _box(dialog, "x").findText("Optimizer") < 0


def test_that_a_switch_shows_numbers_by_their_value(qtbot, dialog, plot):
    switch = dialog.findChild(QCheckBox, "scatter_x_log")
    switch.setFocus()
    qtbot.keyClick(switch, Qt.Key.Key_Space)
    near = plot.place_of("run-1").x() - plot.place_of("run-0").x()
    assert plot.place_of("run-3").x() - plot.place_of("run-2").x() > 50 * near


def test_that_words_have_lanes_in_which_points_do_not_hide_each_other(dialog, plot):
    _pick(dialog, "x", "Optimizer")
    xs = {name: plot.place_of(name).x() for name in ("run-0", "run-1", "run-2", "run-3")}
    middle = plot.width() / 2.0
    assert max(xs["run-0"], xs["run-2"]) < middle < min(xs["run-1"], xs["run-3"])
    assert xs["run-0"] != xs["run-2"]
    assert not dialog.findChild(QCheckBox, "scatter_x_log").isEnabled()
    assert not plot.grab().isNull()


def test_that_a_click_chooses_the_run_and_a_double_click_opens_it(qtbot, panel, dialog, plot):
    _click(qtbot, plot, "run-2")
    assert panel.chosen_runs() == (RUNS[2],)
    assert "run 2. Learning rate: 0.01" in dialog.findChild(QLabel, "scatter_word").text()
    with qtbot.waitSignal(panel.runOpened) as opened:
        place = plot.place_of("run-3").toPoint()
        qtbot.mouseDClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert opened.args == [RUNS[3].path]


def test_that_the_pointer_is_told_whose_point_it_is(plot):
    place = plot.place_of("run-1") + QPointF(3.0, -3.0)
    assert plot.point_at(place).tip == "run 1\nLearning rate: 0.001\nAccuracy: 95.0 %"
    assert plot.point_at(QPointF(1.0, 1.0)) is None


def test_that_the_title_of_an_axis_is_text_whatever_stands_in_it(plot):
    plot.setAxisTitle("bottom", "<b>a</b>\x1b")
    label = plot.getPlotItem().getAxis("bottom").label.toPlainText()
    assert label.strip().startswith("<b>a</b>")
    assert "\x1b" not in label


def test_that_keys_go_from_point_to_point(qtbot, panel, plot):
    plot.setFocus()
    for key, number in (
        (Qt.Key.Key_Right, 0),
        (Qt.Key.Key_Right, 1),
        (Qt.Key.Key_Left, 0),
        (Qt.Key.Key_Left, 3),
    ):
        qtbot.keyClick(plot, key)
        assert panel.chosen_runs() == (RUNS[number],)
    with qtbot.waitSignal(panel.runOpened) as opened:
        qtbot.keyClick(plot, Qt.Key.Key_Return)
    assert opened.args == [RUNS[3].path]


def test_that_scatter_plot_and_column_chooser_are_spoken(qtbot, panel, dialog, plot):
    qtbot.keyClick(plot, Qt.Key.Key_Right)
    assert "4 runs: Accuracy over Learning rate. run 0" in plot.accessibleDescription()
    qtbot.mouseClick(panel.findChild(QPushButton, "runs_columns"), Qt.MouseButton.LeftButton)
    chooser = panel.findChild(QDialog, "column_chooser")
    QAccessible.setActive(True)
    try:
        assert unspoken(dialog) == unspoken(chooser) == []
    finally:
        QAccessible.setActive(False)


def test_that_chosen_runs_have_the_colours_of_a_comparison(panel, dialog, plot):
    table = panel.findChild(QTableView, "runs_table")
    table.selectAll()
    colors = {point.key: point.color for point in plot.points()}
    assert colors["run-0"] == theme.device_color(0)
    assert colors["run-2"] == theme.device_color(2)
    table.clearSelection()
    assert {point.color for point in plot.points()} == {None}


def test_that_only_what_the_search_finds_is_drawn(panel, dialog, plot):
    panel.findChild(QLineEdit, "runs_search").setText("accuracy > 0.85")
    assert [point.key for point in plot.points()] == ["run-0", "run-1"]
    panel.findChild(QLineEdit, "runs_search").setText("")
    assert len(plot.points()) == 4


def test_that_what_no_axis_has_room_for_is_drawn_nowhere(panel, dialog, plot):
    panel.setSettings({**SETTINGS, "run-1": RunSettings((("training.learning_rate", 1e305),))})
    _pick(dialog, "x", "Learning rate")
    assert plot.place_of("run-1") is None
    assert not plot.grab().isNull()


def test_that_without_runs_it_says_what_will_appear(panel, dialog, plot):
    panel.setRuns(())
    assert not plot.isVisible()


_VALUES = st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=8)


@given(_VALUES, st.booleans())
@example([1.0 / 3.0], False)
def test_that_every_number_stands_on_its_axis(values, log):
    is_log = log and can_be_log(values)
    axis = NumberAxis(values, str, is_log=is_log)
    places = [axis.place(value) for value in values]
    assert all(place is not None and 0.0 <= place <= 1.0 for place in places)
    assert all(0.0 <= place <= 1.0 for place, _ in axis.ticks())
    assert len(axis.ticks()) <= 40
    assert axis.place("a text") is None


def test_that_ticks_are_round():
    linear = NumberAxis((0.0, 1.0), "{:g}".format, is_log=False)
    assert [text for _, text in linear.ticks()] == ["0", "0.5", "1"]
    powers = NumberAxis((1e-4, 1e-1), "{:g}".format, is_log=True)
    assert [text for _, text in powers.ticks()] == ["0.0001", "0.001", "0.01", "0.1"]
    assert powers.place(-1.0) is None
    # Less than a decade has more than one, too.
    narrow = NumberAxis((0.02, 0.03), "{:g}".format, is_log=True)
    assert [text for _, text in narrow.ticks()] == ["0.02", "0.025", "0.03"]


def test_that_a_text_that_is_not_on_the_axis_has_no_place():
    axis = CategoryAxis(("b", "a", "b"))
    assert [text for _, text in axis.ticks()] == ["a", "b"]
    assert axis.place("c") is None


def test_that_a_few_values_that_somebody_chose_are_the_ticks_themselves():
    def said(*values: float) -> list[str]:
        axis = NumberAxis(values, "{:g}".format, is_log=False, are_chosen=True)
        return [words for _, words in axis.ticks()]

    assert said(16.0, 32.0, 16.0, 64.0) == ["16", "32", "64"]
    # Too near each other, too many, or one alone: round numbers.
    assert "16" not in said(16.0, 17.0, 160.0)
    assert len(said(*map(float, range(1, 40)))) <= 6
    assert len(said(16.0)) > 1
    measured = NumberAxis((16.0, 32.0), "{:g}".format, is_log=False)
    assert [words for _, words in measured.ticks()] == ["20", "25", "30"]
