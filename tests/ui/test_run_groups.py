"""Runs in groups, and the one that stands above all others."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QSettings, Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QMenu, QPushButton, QTableView

from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.runs.history.differences import Difference
from gpupanel.runs.history.run_settings import RunSettings
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.ui.panels.comparison_panel.difference_table import DifferenceTable
from gpupanel.ui.panels.runs_panel import RunsPanel
from gpupanel.ui.panels.runs_panel.run_rows import Figure
from gpupanel.ui.remembered import remember_columns, remembered_columns

_OPTIMIZERS = ("adam", "sgd", "adam", "sgd", "adam")
_ACCURACIES = (0.9, 0.5, 0.8, 0.7, None)
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
    run.name: RunSettings((("training.optimizer", optimizer),))
    for run, optimizer in zip(RUNS, _OPTIMIZERS, strict=True)
}
BY_OPTIMIZER = "setting:training.optimizer"


@pytest.fixture
def panel(qtbot, monkeypatch):
    # Shown without a screen it would warn that the keyboard cannot be grabbed.
    monkeypatch.setattr(QMenu, "popup", lambda *_arguments: None)
    panel = RunsPanel(Path("/runs"))
    qtbot.addWidget(panel)
    panel.resize(940, 500)
    panel.setComparable(True)
    panel.setRuns(RUNS)
    panel.setSettings(SETTINGS)
    with qtbot.waitExposed(panel):
        panel.show()
    return panel


@pytest.fixture
def table(panel):
    return panel.findChild(QTableView, "runs_table")


def _names(table):
    return [table.model().index(row, 0).data() for row in range(table.model().rowCount())]


def _cells(table, key):
    keys = [column.key for column in table.model().columns]
    place = keys.index(key)
    return [table.model().index(row, place).data() for row in range(table.model().rowCount())]


def _group_by(qtbot, panel, title):
    qtbot.mouseClick(panel.findChild(QPushButton, "runs_group"), Qt.MouseButton.LeftButton)
    menu = panel.findChildren(QMenu, "group_menu")[-1]
    next(action for action in menu.actions() if action.text() == title).trigger()
    menu.close()


def test_that_the_menu_says_what_its_choices_are_of(qtbot, panel):
    menu = panel.findChild(QTableView, "runs_table").group_menu(panel)
    texts = [action.text() for action in menu.actions() if not action.isSeparator()]
    heading = next(action for action in menu.actions() if action.text() == "Groups show")
    # Qt draws no text of a separator that has a style.
    assert not heading.isSeparator()
    assert not heading.isEnabled()
    assert texts[texts.index("Groups show") + 1] == "The mean of each column"
    menu.deleteLater()


def _pin(panel, table, row):
    table.selectRow(row)
    table.customContextMenuRequested.emit(QPoint(5, 5))
    menu = panel.findChildren(QMenu, "runs_menu")[-1]
    next(action for action in menu.actions() if action.objectName() == "runs_baseline").trigger()
    menu.close()


def test_that_runs_are_grouped_by_a_setting_that_differs(qtbot, panel, table):
    _group_by(qtbot, panel, "Optimizer")

    assert _names(table) == [
        "▾ adam: 3 runs, mean",
        "run 0",
        "run 2",
        "run 4",
        "▾ sgd: 2 runs, mean",
        "run 1",
        "run 3",
    ]
    accuracies = _cells(table, "accuracy")
    assert (accuracies[0], accuracies[4]) == ("85.0 %", "60.0 %")
    _group_by(qtbot, panel, "No groups")
    assert len(_names(table)) == 5


def test_that_a_group_shows_the_figure_that_was_chosen_and_all_in_its_tip(qtbot, panel, table):
    _group_by(qtbot, panel, "Optimizer")
    _group_by(qtbot, panel, "The highest of each column")
    assert _cells(table, "accuracy")[0] == "90.0 %"
    _group_by(qtbot, panel, "The lowest of each column")
    assert _cells(table, "accuracy")[4] == "50.0 %"
    place = [column.key for column in table.model().columns].index("accuracy")
    tip = table.model().index(4, place).data(Qt.ItemDataRole.ToolTipRole)
    assert "mean 60.0 %, lowest 50.0 %, highest 70.0 %" in tip


def test_that_a_group_is_folded_by_a_click_and_by_keys(qtbot, panel, table):
    _group_by(qtbot, panel, "Optimizer")
    place = table.visualRect(table.model().index(0, 0)).center()
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    folded = ["▸ adam: 3 runs, mean", "▾ sgd: 2 runs, mean", "run 1", "run 3"]
    assert _names(table) == folded
    table.setFocus()
    for key, count in (
        (Qt.Key.Key_Right, 7),
        (Qt.Key.Key_Right, 7),
        (Qt.Key.Key_Left, 4),
        (Qt.Key.Key_Space, 7),
        (Qt.Key.Key_Return, 4),
    ):
        qtbot.keyClick(table, key)
        assert len(_names(table)) == count
    panel.setRuns(RUNS)
    assert _names(table) == folded


def test_that_a_title_of_a_group_is_no_run(qtbot, panel, table):
    _group_by(qtbot, panel, "Optimizer")
    table.selectAll()
    assert panel.chosen_runs() == (RUNS[0], RUNS[2], RUNS[4], RUNS[1], RUNS[3])
    with qtbot.assertNotEmitted(panel.runOpened):
        place = table.visualRect(table.model().index(0, 0)).center()
        qtbot.mouseDClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_that_groups_follow_what_their_runs_come_to(qtbot, panel, table):
    _group_by(qtbot, panel, "Optimizer")
    better = RUNS[0].model_copy(update={"metrics": Metrics(val_accuracy=1.0)})
    panel.setRuns((better, *RUNS[1:]))
    assert _cells(table, "accuracy")[0] == "90.0 %"


def test_that_a_search_keeps_groups_of_what_it_finds(qtbot, panel, table):
    _group_by(qtbot, panel, "Optimizer")
    panel.findChild(QLineEdit, "runs_search").setText("val_accuracy >= 0.8")
    assert _names(table) == ["▾ adam: 2 runs, mean", "run 0", "run 2"]
    assert panel.findChild(QLabel, "runs_count").text() == "2 of 5 runs"


def test_that_a_baseline_stays_above_all_others(qtbot, panel, table):
    _pin(panel, table, 3)
    assert _names(table)[0] == "run 3 (baseline)"
    table.sortByColumn(0, Qt.SortOrder.DescendingOrder)
    assert _names(table) == ["run 3 (baseline)", "run 4", "run 2", "run 1", "run 0"]
    _group_by(qtbot, panel, "Optimizer")
    assert _names(table)[:2] == ["run 3 (baseline)", "▾ adam: 3 runs, mean"]
    place = [column.key for column in table.model().columns].index("accuracy")
    row = _names(table).index("run 1")
    tip = table.model().index(row, place).data(Qt.ItemDataRole.ToolTipRole)
    assert "−20.0 % to the baseline (70.0 %)" in tip  # noqa: RUF001 - the minus sign
    _pin(panel, table, 0)
    assert "run 3" in _names(table)


def test_that_one_run_is_compared_with_the_baseline(qtbot, panel, table):
    _pin(panel, table, 3)
    table.selectRow(1)
    compare = panel.findChild(QPushButton, "runs_compare_button")
    with qtbot.waitSignal(panel.compareRequested) as asked:
        qtbot.mouseClick(compare, Qt.MouseButton.LeftButton)
    assert asked.args == [(RUNS[3], RUNS[0])]


def test_that_groups_and_baseline_are_remembered(qtbot, panel, table, tmp_path):
    settings = QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)
    _group_by(qtbot, panel, "Optimizer")
    _group_by(qtbot, panel, "The highest of each column")
    _pin(panel, table, 1)
    remember_columns(settings, panel.columns())

    other = RunsPanel(Path("/runs"))
    qtbot.addWidget(other)
    with qtbot.waitSignal(other.settingsWanted):
        other.setColumns(remembered_columns(settings))
    other.setRuns(RUNS)
    other.setSettings(SETTINGS)
    again = other.findChild(QTableView, "runs_table")
    assert _names(again) == _names(table)
    assert _names(again)[:2] == ["run 0 (baseline)", "▾ sgd: 2 runs, highest"]


def test_that_differences_are_shown_to_the_baseline(qtbot):
    table = DifferenceTable()
    qtbot.addWidget(table)
    found = (Difference(key="training.epochs", values=("3", "3", "5")),)
    table.setDifferences(["a", "b", "c"], found, has_baseline=True)
    assert table.text() == "Key\ta (baseline)\tb\tc\ntraining.epochs\t3\t=\t5"
    table.setDifferences(["a", "b", "c"], found)
    assert table.text().endswith("3\t3\t5")


def test_that_a_figure_is_that_of_all_numbers():
    assert [figure.of((1.0, 2.0, 6.0)) for figure in Figure] == [3.0, 1.0, 6.0]


def test_that_a_thousand_runs_are_grouped_within_a_blink(qtbot, panel, table):
    runs = tuple(
        RUNS[0].model_copy(update={"name": f"r{n}", "path": Path(f"/runs/r{n}")})
        for n in range(1_000)
    )
    panel.setRuns(runs)
    panel.setSettings(
        {run.name: RunSettings(((BY_OPTIMIZER[8:], f"o{n % 50}"),)) for n, run in enumerate(runs)}
    )
    table.group_by(BY_OPTIMIZER)
    assert table.model().rowCount() == 1_050
