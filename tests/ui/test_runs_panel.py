"""Past runs in a table."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QTableView

from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.problem import Problem
from gpupanel.runs.history.summaries import RunSummary
from gpupanel.ui.panels.runs_panel import RunsPanel

BEST = RunSummary(
    name="b",
    path=Path("/runs/b"),
    profile_name="best",
    started_s=2_000.0,
    ended_s=2_041.0,
    outcome=Outcome.COMPLETED,
    metrics=Metrics(val_accuracy=0.975, val_loss=0.1),
    examples_per_second=118_000.0,
    devices=("NVIDIA GeForce RTX 4090",),
)
LOST = RunSummary(
    name="a",
    path=Path("/runs/a"),
    profile_name="lost",
    started_s=1_000.0,
    outcome=Outcome.LOST,
    problem=Problem(code="trainer_killed", message="The trainer was killed."),
)
GOING = RunSummary(
    name="c", path=Path("/runs/c"), profile_name="going", started_s=3_000.0, is_running=True
)


@pytest.fixture
def panel(qtbot):
    panel = RunsPanel(Path("/runs"))
    qtbot.addWidget(panel)
    panel.resize(900, 400)
    panel.setRuns((GOING, BEST, LOST))
    with qtbot.waitExposed(panel):
        panel.show()
    return panel


@pytest.fixture
def table(panel):
    return panel.findChild(QTableView, "runs_table")


def _rows(table):
    model = table.model()
    return [
        [model.index(row, column).data() for column in range(model.columnCount())]
        for row in range(model.rowCount())
    ]


def test_that_runs_are_told_newest_first(table):
    rows = _rows(table)

    assert [row[0] for row in rows] == ["going", "best", "lost"]
    assert [row[2] for row in rows] == ["Running", "Completed", "Lost"]
    assert rows[1][3:] == ["0:41", "97.5 %", "0.1000", "118,000 ex/s", "RTX 4090"]


def test_that_a_double_click_opens_the_run(qtbot, panel, table):
    place = table.visualRect(table.model().index(1, 0)).center()
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    with qtbot.waitSignal(panel.runOpened) as opened:
        qtbot.mouseDClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)

    assert opened.args == [BEST.path]


def test_that_enter_opens_the_chosen_run(qtbot, panel, table):
    table.selectRow(2)
    with qtbot.waitSignal(panel.runOpened) as opened:
        qtbot.keyClick(table, Qt.Key.Key_Return)

    assert opened.args == [LOST.path]


def test_that_the_button_opens_the_chosen_run(qtbot, panel, table):
    button = next(b for b in panel.findChildren(QPushButton) if "Open" in b.text())
    assert not button.isEnabled()
    table.selectRow(0)
    with qtbot.waitSignal(panel.runOpened) as opened:
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)

    assert opened.args == [GOING.path]


def test_that_the_chosen_run_stays_chosen_when_the_list_changes(panel, table):
    table.selectRow(1)
    assert panel.selected_run() == BEST
    ended = GOING.model_copy(update={"is_running": False, "outcome": Outcome.STOPPED})

    panel.setRuns((ended, BEST, LOST))
    assert panel.selected_run() == BEST
    panel.setRuns((BEST, LOST))

    assert panel.selected_run() == BEST


def test_that_numbers_are_sorted_as_numbers(table):
    table.sortByColumn(4, Qt.SortOrder.DescendingOrder)

    assert _rows(table)[0][0] == "best"


def test_that_an_empty_place_says_what_will_appear(qtbot):
    panel = RunsPanel(Path("/runs"))
    qtbot.addWidget(panel)
    panel.setRuns(())
    with qtbot.waitExposed(panel):
        panel.show()

    assert not panel.findChild(QTableView, "runs_table").isVisible()


def test_that_what_went_wrong_stands_in_the_tooltip(table):
    tip = table.model().index(2, 0).data(Qt.ItemDataRole.ToolTipRole)

    assert "The trainer was killed." in tip
