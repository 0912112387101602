"""What the window says of one run is said of that run everywhere, and from the first moment."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QAbstractItemView, QLabel, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from gpupanel.cli.run_end import run_document
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Problem
from gpupanel.ui import formatting
from gpupanel.ui.bindings.comparison import Comparison
from gpupanel.ui.main_window import MainWindow
from gpupanel.ui.panels.progress_panel import ProgressPanel
from gpupanel.ui.panels.runs_panel.table import RunsTable
from gpupanel.ui.run_state import RunState
from tests.fakes.devices import CPU_ONLY
from tests.fakes.person import Person
from tests.fakes.readings import busy_sample
from tests.fakes.run_directory import STARTED_S, WrittenRun
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("preview_without_process")


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path, runs_dir: Path) -> Iterator[MainWindow]:
    settings = QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, Person())
    window.resize(1280, 800)
    with qtbot.waitExposed(window):
        window.show()
    yield window
    window.close()
    window.deleteLater()


def past_run(runs_dir: Path, steps: int = 12) -> WrittenRun:
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.step(steps)
        run.end()
    return run


def words(widget: QWidget) -> list[str]:
    return [each.text() for each in widget.findChildren(QLabel) if each.isVisible()]


def cells(widget: QWidget) -> list[str]:
    views = [each for each in widget.findChildren(QAbstractItemView) if each.isVisible()]
    return [
        str(model.index(row, column).data())
        for model in (view.model() for view in views)
        for row in range(model.rowCount())
        for column in range(model.columnCount())
    ]


def test_that_the_strip_below_belongs_to_the_run_that_is_shown_and_the_bar_to_the_one_that_goes_on(
    qtbot: QtBot, window: MainWindow, runs_dir: Path
) -> None:
    past = past_run(runs_dir, 12)
    strip = window.findChild(ProgressPanel)
    state = window.findChild(QLabel, "run_state")
    with WrittenRun(runs_dir) as going:
        going.begin()
        going.step(3)
        window.begin()
        qtbot.waitUntil(lambda: window.session.run_state is RunState.RUNNING, timeout=10_000)
        qtbot.waitUntil(lambda: any("3 / " in each for each in words(strip)), timeout=10_000)
        window.open_target(past.layout.root)
        qtbot.waitUntil(lambda: any("12 / " in each for each in words(strip)), timeout=10_000)
        going.step(2)
        qtbot.waitUntil(lambda: window.session.run_status.step == 5, timeout=10_000)
        assert not any("5 / " in each for each in words(strip))
        assert state.text() == "\N{BLACK CIRCLE} Training"
        going.end()
        qtbot.waitUntil(lambda: window.session.run_state is RunState.ENDED, timeout=10_000)
        assert any("12 / " in each for each in words(strip))


def test_that_the_speed_of_a_run_is_one_figure_in_live_strip_runs_comparison_and_terminal(
    qtbot: QtBot, window: MainWindow, runs_dir: Path
) -> None:
    past, _ = past_run(runs_dir), past_run(runs_dir, 20)
    one = formatting.rate(1234.0)
    window.begin()
    window.open_target(past.layout.root)
    strip = window.findChild(ProgressPanel)
    qtbot.waitUntil(lambda: one in words(strip), timeout=10_000)
    assert any(f"{one} in training steps" in each for each in words(window.live_page.banner))
    status = window.control.shown_status
    assert run_document(past.layout, status)["examples_per_second"] == 1234.0
    window.tabs.setCurrentWidget(window.runs)
    table = window.runs.panel.findChild(RunsTable)
    qtbot.waitUntil(lambda: len(table.runs) == 2, timeout=10_000)
    table.show_columns(("name", "speed"))
    assert cells(window.runs).count(one) >= 2
    window.parts[Comparison].compare(table.runs)
    qtbot.waitUntil(lambda: one in words(window.runs) + cells(window.runs), timeout=10_000)
    assert not any("640 ex/s" in each for each in words(window.runs) + cells(window.runs))


def test_that_a_reopened_run_has_curves_and_no_plot_says_that_there_are_none(
    qtbot: QtBot, window: MainWindow, runs_dir: Path
) -> None:
    with WrittenRun(runs_dir) as past:
        past.begin()
        past.step(12)
        past.sample(busy_sample(CPU_ONLY, STARTED_S + 1))
        past.end()
    window.begin()
    window.open_target(past.layout.root)
    plots = [
        window.live_page.live.findChild(QWidget, f"{name}_plot")
        for name in ("loss", "metric", "rate", "utilization")
    ]
    qtbot.waitUntil(plots[0].isVisible, timeout=10_000)
    # A word that is seen for a moment is seen.
    seen: set[str] = set()
    for _ in range(60):
        seen |= {each for plot in plots for each in words(plot)}
        qtbot.wait(5)
    assert any("loss" in each.lower() for each in seen)
    assert [each for each in seen if each.startswith("No ")] == []


def test_that_a_failed_run_fits_a_small_screen_and_its_curves_have_more_room_than_its_log(
    qtbot: QtBot, window: MainWindow, runs_dir: Path
) -> None:
    problem = Problem(
        code="loss_not_finite",
        message="The loss is not finite any more: it is nan at step 115.",
        hint="Lower the learning rate, or clip gradients.",
    )
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.step(12)
        run.end(Outcome.FAILED, problem)
    window.resize(853, 493)  # 1280 x 740 at 150 %
    window.begin()
    window.open_target(run.layout.root)
    loss = window.live_page.live.findChild(QWidget, "loss_plot")
    qtbot.waitUntil(loss.isVisible, timeout=10_000)
    qtbot.wait(100)
    assert (window.width(), window.height()) == (853, 493)
    log = window.live_page.log
    assert window.live_page._splitter.widget(0).height() > 2 * log.height()
    window.resize(1280, 800)
    qtbot.wait(100)
    assert log.findChild(QPlainTextEdit).height() > 40


def test_that_no_word_of_hidden_runs_is_seen_while_runs_and_a_comparison_open(
    qtbot: QtBot, window: MainWindow, runs_dir: Path
) -> None:
    for steps in (12, 20, 15):
        past_run(runs_dir, steps)
    seen: set[str] = set()
    window.begin()
    window.tabs.setCurrentWidget(window.runs)
    for _ in range(60):
        qtbot.wait(5)
        seen |= set(words(window.runs))
    qtbot.waitUntil(lambda: len(window.runs.panel.findChild(RunsTable).runs) == 3, timeout=10_000)
    window.parts[Comparison].compare(window.runs.panel.findChild(RunsTable).runs)
    for _ in range(200):
        qtbot.wait(5)
        seen |= set(words(window.runs))
    assert any("Loss" in each or "loss" in each for each in seen), seen
    assert [each for each in seen if re.search(r"(is|are) hidden", each)] == []
