"""The comparison on the page of runs: asked for, left, and taken along in files."""

import csv

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QImage
from PySide6.QtWidgets import QLabel, QPushButton, QTableView, QToolButton

from gpupanel.domain.profile import Profile
from gpupanel.runs.history.summaries import list_runs, summarize_run
from gpupanel.ui.bindings.comparison import Comparison
from gpupanel.ui.panels.comparison_panel import ComparisonPanel
from gpupanel.ui.runs_page import RunsPage
from tests.fakes.person import Person
from tests.fakes.run_directory import WrittenRun


@pytest.fixture
def person():
    return Person()


@pytest.fixture
def page(qtbot, runs_dir, person):
    page = RunsPage(runs_dir)
    qtbot.addWidget(page)
    comparison = Comparison(page, person)
    page.resize(940, 700)
    with qtbot.waitExposed(page):
        page.show()
    yield page
    comparison.stop()


@pytest.fixture
def compared(qtbot, page, runs_dir):
    """The page with two runs compared, and read."""
    summaries = []
    for name, steps in (("short", 4), ("long", 9)):
        run = WrittenRun(runs_dir, Profile(name=name))
        with run:
            run.begin()
            run.step(steps)
            run.end()
        summaries.append(summarize_run(run.layout))
    page.panel.compareRequested.emit(tuple(summaries))
    panel = page.findChild(ComparisonPanel)
    qtbot.waitUntil(lambda: all(run.is_read for run in panel.runs))
    return page


def button(page, name):
    return page.findChild(QPushButton, name) or page.findChild(QToolButton, name)


def word(page):
    return page.findChild(ComparisonPanel).head.findChild(QLabel).text()


def test_that_runs_are_compared_in_the_place_of_the_table_and_it_comes_back(qtbot, compared):
    panel = compared.findChild(ComparisonPanel)
    assert compared.shows_comparison
    assert panel.isVisible()
    assert [run.step for run in panel.runs] == [4, 9]
    assert len(panel.runs[1].points["loss"]) == 9
    with qtbot.waitSignal(compared.comparisonLeft):
        qtbot.keyClick(panel, Qt.Key.Key_Escape)
    assert not compared.shows_comparison
    assert not panel.isVisible()


def test_that_the_runs_chosen_in_the_table_are_compared(qtbot, page, runs_dir):
    for name in ("one", "two", "three"):
        run = WrittenRun(runs_dir, Profile(name=name))
        with run:
            run.begin()
            run.step(2)
            run.end()
    page.setRuns(list_runs(runs_dir))
    table = page.findChild(QTableView, "runs_table")
    table.setFocus()
    qtbot.keyClick(table, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    page.findChild(QAction, "runs_compare").trigger()
    panel = page.findChild(ComparisonPanel)
    assert panel.isVisible()
    assert {run.summary.profile_name for run in panel.runs} == {"one", "two", "three"}
    qtbot.waitUntil(lambda: all(run.step == 2 for run in panel.runs))


def test_that_other_runs_can_be_compared_afterwards(qtbot, compared):
    panel = compared.findChild(ComparisonPanel)
    runs = tuple(run.summary for run in reversed(panel.runs))
    button(compared, "comparison_back").click()
    compared.panel.compareRequested.emit(runs)
    qtbot.waitUntil(lambda: [run.step for run in panel.runs] == [9, 4])
    assert compared.findChildren(ComparisonPanel) == [panel]


def test_that_all_values_are_saved_as_a_table(qtbot, compared, person, tmp_path):
    person.saves = tmp_path / "curves.csv"
    button(compared, "save_curves").click()
    qtbot.waitUntil(lambda: word(compared).endswith(str(person.saves)))
    with person.saves.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert word(compared).startswith(f"{len(rows)} values")
    assert sum(row["metric"] == "loss" for row in rows) == 13
    assert button(compared, "save_curves").isEnabled()


def test_that_a_picture_is_saved(compared, person, tmp_path):
    person.saves = tmp_path / "curves.png"
    button(compared, "save_picture").click()
    image = QImage(str(person.saves))
    assert image.width() == 2560
    assert image.pixelColor(1, 1).name() == "#ffffff"
    assert word(compared) == f"Picture saved to {person.saves}"


@pytest.mark.parametrize("name", ["save_curves", "save_picture"])
def test_that_a_file_that_cannot_be_written_is_shown(qtbot, compared, person, tmp_path, name):
    person.saves = tmp_path / "nowhere" / "file"
    button(compared, name).click()
    qtbot.waitUntil(lambda: len(person.problems) == 1)
    title, (problem,) = person.problems[0]
    assert title == "The file was not saved."
    assert problem.code == "file_missing"
    assert button(compared, name).isEnabled()


@pytest.mark.parametrize("name", ["save_curves", "save_picture"])
def test_that_no_place_writes_nothing(compared, person, name):
    person.saves = None
    button(compared, name).click()
    assert word(compared) == ""
    assert not person.problems


def test_that_the_menu_of_a_compared_run_uses_its_settings(qtbot, compared):
    table = compared.findChild(QTableView, "comparison_legend")
    assert table.contextMenuPolicy() is Qt.ContextMenuPolicy.ActionsContextMenu
    (use,) = (each for each in table.actions() if each.objectName() == "comparison_use")
    with qtbot.assertNotEmitted(compared.panel.settingsRequested):
        use.trigger()  # none is chosen
    table.selectRow(1)
    with qtbot.waitSignal(compared.panel.settingsRequested) as asked:
        use.trigger()
    assert asked.args[0].title == "long"
