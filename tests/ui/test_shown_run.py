"""What the window says of one run is said of that run everywhere, and from the first moment."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QAbstractItemView, QLabel, QPlainTextEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gpupanel.cli.run_end import run_document
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.ui import formatting
from gpupanel.ui.bindings.comparison import Comparison
from gpupanel.ui.main_window import MainWindow
from gpupanel.ui.panels.runs_panel.table import RunsTable
from gpupanel.ui.run_state import RunState
from tests.fakes.devices import CPU_ONLY
from tests.fakes.person import Person
from tests.fakes.readings import busy_sample
from tests.fakes.run_directory import STARTED_S, WrittenRun
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("preview_without_process", "undressed")


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


def button(window: MainWindow, name: str) -> QPushButton:
    found = window.findChild(QPushButton, name)
    assert isinstance(found, QPushButton)
    return found


def words(widget: QWidget) -> list[str]:
    said = [each.text() for each in widget.findChildren(QLabel) if each.isVisible()]
    return [each.replace("\N{NO-BREAK SPACE}", " ") for each in said]


def cells(widget: QWidget) -> list[str]:
    views = [each for each in widget.findChildren(QAbstractItemView) if each.isVisible()]
    return [
        str(model.index(row, column).data())
        for model in (view.model() for view in views)
        for row in range(model.rowCount())
        for column in range(model.columnCount())
    ]


def test_that_the_page_belongs_to_the_run_that_is_shown_and_the_bar_names_the_one_that_goes_on(
    qtbot: QtBot, window: MainWindow, runs_dir: Path
) -> None:
    past = past_run(runs_dir, 12)
    strip = window.live_page.banner.progress
    ended = window.findChild(QLabel, "shown_state")
    state, link = window.findChild(QLabel, "run_state"), button(window, "run_link")
    with WrittenRun(runs_dir) as going:
        going.begin()
        going.step(3)
        window.begin()
        qtbot.waitUntil(lambda: window.session.run_state is RunState.RUNNING, timeout=10_000)
        qtbot.waitUntil(strip.isVisible, timeout=10_000)
        assert button(window, "stop_button").isVisible()
        window.open_target(past.layout.root)
        qtbot.waitUntil(lambda: ended.text().startswith("Completed"), timeout=10_000)
        going.step(2)
        qtbot.waitUntil(lambda: window.session.run_status.step == 5, timeout=10_000)
        assert not strip.isVisible()
        # No button beside a run means another one.
        assert not button(window, "stop_button").isVisible()
        assert not button(window, "suspend_button").isVisible()
        assert state.text() == "\N{BLACK CIRCLE} Training"
        assert link.isVisible()
        link.click()
        assert window.control.shown == going.layout
        qtbot.waitUntil(button(window, "stop_button").isVisible, timeout=10_000)
        going.end()
        qtbot.waitUntil(lambda: window.session.run_state is RunState.ENDED, timeout=10_000)
        assert not button(window, "stop_button").isVisible()


def test_that_the_speed_of_a_run_is_one_figure_in_live_runs_comparison_and_terminal(
    qtbot: QtBot, window: MainWindow, runs_dir: Path
) -> None:
    past, _ = past_run(runs_dir), past_run(runs_dir, 20)
    one = formatting.rate(1234.0)
    window.begin()
    window.open_target(past.layout.root)
    banner, said = window.live_page.banner, f"{one} in training steps"
    qtbot.waitUntil(lambda: any(said in each for each in words(banner)), timeout=10_000)
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
    assert loss.height() >= 96
    window.resize(1280, 800)
    qtbot.wait(100)
    assert loss.height() >= 240
    window.live_page.tabs.show_page(window.live_page.log)
    qtbot.wait(10)
    assert (window.width(), window.height()) == (1280, 800)
    assert window.live_page.log.findChild(QPlainTextEdit).height() > 400


def test_that_the_loss_has_300_pixels_at_1280_by_800_while_a_run_goes_on_and_after_it(
    qtbot: QtBot, window: MainWindow, runs_dir: Path
) -> None:
    window.resize(1280, 800)
    loss = window.live_page.live.findChild(QWidget, "loss_plot")
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.step(12)
        window.begin()
        window.open_target(run.layout.root)
        qtbot.waitUntil(loss.isVisible, timeout=10_000)
        qtbot.wait(100)
        assert loss.height() >= 300
        run.end()
        ended = window.findChild(QLabel, "shown_state")
        qtbot.waitUntil(lambda: ended.text().startswith("Completed"), timeout=10_000)
        qtbot.wait(100)
        assert loss.height() >= 300
    window.resize(853, 533)  # 1280 x 800 at 150 %
    qtbot.wait(100)
    assert (window.width(), window.height()) == (853, 533)
    assert loss.height() >= 160


def test_that_no_page_and_no_tab_makes_a_small_window_larger(
    qtbot: QtBot, window: MainWindow, runs_dir: Path
) -> None:
    profile = window.session.profile
    for task in ("train", "evaluate", "predict", "evaluate"):
        each = profile.model_copy(update={"task": task, "name": f"{task} with a long name"})
        with WrittenRun(runs_dir, each) as run:
            run.begin()
            run.end()
    window.resize(853, 493)
    window.begin()
    window.open_target(run.layout.root)
    count = window.findChild(QLabel, "runs_count")
    qtbot.waitUntil(lambda: "hidden" in count.text(), timeout=10_000)
    for page in range(window.tabs.count()):
        window.tabs.setCurrentIndex(page)
        qtbot.wait(50)
        assert (window.width(), window.height()) == (853, 493), window.tabs.tabText(page)
    window.tabs.setCurrentIndex(1)
    for tab in range(window.live_page.tabs.count()):
        window.live_page.tabs.setCurrentIndex(tab)
        qtbot.wait(50)
        assert (window.width(), window.height()) == (853, 493), window.live_page.tabs.tabText(tab)


def test_that_long_names_push_nothing_out_of_the_smallest_window(
    qtbot: QtBot, window: MainWindow, runs_dir: Path, dressed: None
) -> None:
    name = "a rather long name of a profile that goes on"
    window.session.open_profile(Profile(name=name), None)
    window.resize(853, 533)
    banner, link = window.live_page.banner, button(window, "run_link")
    with WrittenRun(runs_dir, Profile(name=name)) as run:
        run.begin()
        run.step(12)
        window.begin()
        window.open_target(run.layout.root)
        qtbot.waitUntil(banner.progress.isVisible, timeout=10_000)
        qtbot.waitUntil(lambda: link.isVisible() and link.width() < 200, timeout=10_000)
        assert button(window, "profile_open").isVisible()
        assert button(window, "profile_save").isVisible()
        title = window.findChild(QLabel, "shown_run")
        qtbot.waitUntil(lambda: "…" in title.text(), timeout=10_000)
        assert name in title.toolTip()
        assert banner.progress.geometry().right() <= banner.width()
        window.resize(1280, 533)
        qtbot.waitUntil(lambda: title.text() == name, timeout=10_000)


def test_that_warnings_of_the_log_are_counted_on_its_tab(
    qtbot: QtBot, window: MainWindow, runs_dir: Path
) -> None:
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.print("WARNING: something strange\nhello\n")
        run.end()
    window.begin()
    window.open_target(run.layout.root)
    tabs = window.live_page.tabs
    place = tabs.indexOf(window.live_page.log)
    qtbot.waitUntil(lambda: tabs.tabText(place) == "Log · 1 warning", timeout=10_000)
    assert tabs.currentWidget() is not window.live_page.log
    window.tabs.show_live()
    qtbot.keyClick(window, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert tabs.currentWidget() is window.live_page.log
    window.open_target(past_run(runs_dir).layout.root)
    assert tabs.tabText(place) == "Log"
    assert tabs.currentIndex() == 0


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

    def is_drawn() -> bool:
        seen.update(words(window.runs))
        return any("Loss" in each or "loss" in each for each in seen)

    # Its plots are loaded with the first comparison: how long that takes says the machine.
    qtbot.waitUntil(is_drawn, timeout=10_000)
    for _ in range(100):
        qtbot.wait(5)
        seen |= set(words(window.runs))
    assert [each for each in seen if re.search(r"(is|are) hidden", each)] == []
