"""A window that was asked for nothing begins with the last session, a run's, or an example."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QApplication, QFileDialog, QPushButton
from pytestqt.qtbot import QtBot

from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile import Profile
from gpupanel.planning.starting_profile import starting_profile
from gpupanel.runs.directory.profile_file import write_profile
from gpupanel.ui.bindings import last_session
from gpupanel.ui.bindings.last_session import (
    LastSession,
    is_first_start,
    saved_session,
)
from gpupanel.ui.main_window import MainWindow
from gpupanel.ui.panels.welcome_panel import WelcomePanel
from gpupanel.ui.questions import SaveChoice
from gpupanel.ui.run_state import RunState
from gpupanel.ui.widgets.labels import EmptyState
from gpupanel.ui.widgets.note_card import NoteCard
from tests.fakes.devices import CPU_ONLY, TWO_UNEQUAL
from tests.fakes.person import Person
from tests.fakes.run_directory import WrittenRun
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("preview_without_process", "undressed")

Open = Callable[[], MainWindow]


@pytest.fixture
def settings(tmp_path: Path) -> QSettings:
    return QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)


@pytest.fixture
def person() -> Person:
    return Person()


@pytest.fixture
def opened(qtbot: QtBot, settings: QSettings, runs_dir: Path, person: Person) -> Iterator[Open]:
    """Opens windows that were asked for nothing; devices are the test's to report."""
    windows = []

    def open_one() -> MainWindow:
        window = new_window(settings, runs_dir, person)
        windows.append(window)
        qtbot.addWidget(window)
        window.resize(1280, 800)
        with qtbot.waitExposed(window):
            window.show()
        window.begin_unasked()
        return window

    yield open_one
    for window in windows:
        window.closing.close_unasked()


def welcome(window: MainWindow) -> WelcomePanel | None:
    return window.findChild(WelcomePanel)


def press(qtbot: QtBot, window: MainWindow, name: str) -> None:
    button = window.findChild(QPushButton, name)
    assert isinstance(button, QPushButton)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_that_the_first_window_has_an_example_for_the_devices_that_there_are(opened: Open) -> None:
    window = opened()
    session = window.session
    session.set_inventory(TWO_UNEQUAL)
    assert session.profile == starting_profile(TWO_UNEQUAL)
    assert not session.is_dirty
    # Once: what a person begins anew stays as it is.
    session.open_profile(Profile(), None)
    session.set_inventory(CPU_ONLY)
    assert session.profile == Profile()


def test_that_whoever_was_quicker_than_the_example_wins(opened: Open) -> None:
    window = opened()
    window.session.edit(Profile(name="mine"))
    window.session.set_inventory(TWO_UNEQUAL)
    assert window.session.profile.name == "mine"


def test_that_the_last_session_comes_back_with_its_file_and_its_changes(
    opened: Open, tmp_path: Path
) -> None:
    write_profile(tmp_path / "kept.toml", Profile(name="kept"))
    window = opened()
    window.profiles.open_file(tmp_path / "kept.toml")
    changed = window.session.profile.model_copy(update={"name": "changed"})
    window.session.edit(changed)
    window.closing.close_unasked()  # as when a desktop session ends

    again = opened().session
    assert (again.profile.name, again.saved_profile.name) == ("changed", "kept")
    assert again.path == tmp_path / "kept.toml"
    assert again.is_dirty


def test_that_changes_that_were_given_up_do_not_come_back(opened: Open, person: Person) -> None:
    window = opened()
    window.session.set_inventory(CPU_ONLY)
    window.session.edit(Profile(name="given up"))
    person.choice = SaveChoice.DISCARD
    assert window.close()

    assert opened().session.profile == starting_profile(CPU_ONLY)


def test_that_a_killed_window_loses_a_second_at_most(
    qtbot: QtBot, opened: Open, settings: QSettings
) -> None:
    window = opened()
    assert last_session.KEEP_AFTER_MS == 1_000
    window.parts[LastSession]._timer.setInterval(10)
    window.session.edit(Profile(name="not saved"))

    def is_kept() -> bool:
        kept = saved_session(settings)
        return kept is not None and kept.profile.name == "not saved"

    qtbot.waitUntil(is_kept, timeout=5_000)
    kept = saved_session(settings)
    assert kept is not None
    assert kept.saved != kept.profile


def test_that_a_session_that_cannot_be_read_gives_way_to_the_example(
    opened: Open, settings: QSettings
) -> None:
    for left in ("", "[]", "{", '{"profile": 3}', '{"profile": "x = ["}'):
        settings.setValue("session/last", left)
        assert saved_session(settings) is None, left
    window = opened()
    window.session.set_inventory(CPU_ONLY)
    assert window.session.profile == starting_profile(CPU_ONLY)
    assert welcome(window) is None


def test_that_a_session_whose_file_is_gone_is_there_all_the_same(
    opened: Open, tmp_path: Path
) -> None:
    write_profile(tmp_path / "gone.toml", Profile(name="gone"))
    window = opened()
    window.profiles.open_file(tmp_path / "gone.toml")
    window.closing.close_unasked()
    (tmp_path / "gone.toml").unlink()

    again = opened().session
    assert (again.profile.name, again.path) == ("gone", None)


@pytest.mark.parametrize("changed", [False, True])
def test_that_a_run_that_goes_on_brings_its_profile_unless_changes_would_be_lost(
    qtbot: QtBot, opened: Open, runs_dir: Path, changed: bool
) -> None:
    window = opened()
    window.session.edit(Profile(name="edited"))
    if not changed:
        window.session.open_profile(Profile(name="edited"), None)
    window.closing.close_unasked()
    with WrittenRun(runs_dir, Profile(name="going")) as run:
        run.begin()
        run.step(2)
        window = opened()
        window.begin()
        qtbot.waitUntil(lambda: window.control.active == run.layout, timeout=10_000)
        qtbot.waitUntil(lambda: window.control.shown_profile is not None, timeout=10_000)
        assert window.session.profile.name == ("edited" if changed else "going")


def suspended_run(runs_dir: Path, name: str = "waiting") -> WrittenRun:
    with WrittenRun(runs_dir, Profile(name=name)) as run:
        run.begin()
        run.step(12)
        (run.layout.checkpoints / "step-000000012").mkdir(parents=True)
        run.end(Outcome.SUSPENDED)
    return run


def note(window: MainWindow) -> NoteCard:
    found = window.findChild(NoteCard, "waiting_note")
    assert isinstance(found, NoteCard)
    return found


def test_that_a_run_that_was_suspended_is_named_and_opened_from_where_its_curves_would_be(
    qtbot: QtBot, opened: Open, runs_dir: Path
) -> None:
    opened().closing.close_unasked()
    run = suspended_run(runs_dir)
    window = opened()
    window.begin()
    qtbot.waitUntil(note(window).isVisible, timeout=10_000)
    assert note(window).text().startswith("waiting was suspended ")
    assert window.control.shown is None
    window.tabs.setCurrentWidget(window.live_page)
    empty = window.live_page.live.findChild(EmptyState)
    assert isinstance(empty, EmptyState)
    assert empty.text().startswith("waiting is suspended")
    press(qtbot, window, "live_open")
    assert window.control.shown == run.layout
    window.tabs.setCurrentWidget(window.session_page)
    assert note(window).isHidden()
    assert window.findChild(QPushButton, "live_resume").parentWidget().isHidden()


def test_that_a_run_that_was_suspended_is_resumed_by_one_click(
    qtbot: QtBot, opened: Open, runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened().closing.close_unasked()
    run = suspended_run(runs_dir)
    window, resumed = opened(), []
    monkeypatch.setattr(
        window.control._launcher, "resume", lambda layout, *_, **__: resumed.append(layout)
    )
    window.begin()
    qtbot.waitUntil(note(window).isVisible, timeout=10_000)
    press(qtbot, window, "waiting_note_resume")
    assert resumed == [run.layout]
    assert window.tabs.currentWidget() is window.live_page
    window.control.give_up_start()


def test_that_a_run_that_nobody_wants_to_resume_is_not_named_again_until_another_one_waits(
    qtbot: QtBot, opened: Open, runs_dir: Path
) -> None:
    opened().closing.close_unasked()
    suspended_run(runs_dir)
    window = opened()
    window.begin()
    qtbot.waitUntil(note(window).isVisible, timeout=10_000)
    press(qtbot, window, "waiting_note_hide")
    assert note(window).isHidden()
    window.closing.close_unasked()

    window = opened()
    window.begin()
    resume = window.findChild(QPushButton, "live_resume")
    assert isinstance(resume, QPushButton)
    # Where there is nothing else to see it is offered all the same.
    qtbot.waitUntil(lambda: not resume.parentWidget().isHidden(), timeout=10_000)
    assert note(window).isHidden()
    suspended_run(runs_dir, "yet another")
    window.runs.refreshRequested.emit()
    qtbot.waitUntil(note(window).isVisible, timeout=10_000)
    assert note(window).text().startswith("yet another was suspended")


def test_that_the_first_start_shows_ways_to_begin_and_the_next_one_does_not(
    qtbot: QtBot, opened: Open, settings: QSettings
) -> None:
    assert is_first_start(settings)
    window = opened()
    panel = welcome(window)
    assert panel is not None
    assert panel.isVisible()
    assert not window.session_page.sections.isVisible()
    press(qtbot, window, "welcome_skip")
    assert window.session_page.sections.isVisible()
    window.close()
    assert welcome(opened()) is None


def test_that_the_focus_is_on_no_button_when_the_first_run_is_shown(
    qtbot: QtBot, opened: Open, runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = opened()
    window.activateWindow()
    window.session.set_inventory(CPU_ONLY)
    monkeypatch.setattr(window.control._launcher, "launch", lambda *_: None)
    with WrittenRun(runs_dir) as run:
        run.begin()
        button = window.findChild(QPushButton, "welcome_example")
        assert isinstance(button, QPushButton)
        button.setFocus()
        qtbot.waitUntil(button.hasFocus, timeout=5_000)
        press(qtbot, window, "welcome_example")
        window.control.launched.emit(run.layout)
        assert window.tabs.currentWidget() is window.live_page
        qtbot.waitUntil(lambda: QApplication.focusWidget() is window.tabs.tabBar(), timeout=5_000)
    window.control.give_up_start()


def test_that_the_example_is_trained_by_one_click(
    qtbot: QtBot, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    window, launched = opened(), []
    monkeypatch.setattr(
        window.control._launcher, "launch", lambda profile, *_: launched.append(profile)
    )
    window.session.set_inventory(CPU_ONLY)
    press(qtbot, window, "welcome_example")
    assert launched == [starting_profile(CPU_ONLY)]
    assert window.session.run_state is RunState.LAUNCHING
    window.control.give_up_start()
    qtbot.waitUntil(lambda: welcome(window) is None, timeout=5_000)


@pytest.mark.parametrize(("name", "source"), [("images", "images"), ("table", "table")])
def test_that_own_data_is_asked_for_at_once(
    qtbot: QtBot, opened: Open, name: str, source: str
) -> None:
    window = opened()
    window.session.set_inventory(CPU_ONLY)
    press(qtbot, window, f"welcome_{name}")
    assert window.session.profile.data.source == source
    qtbot.waitUntil(lambda: bool(window.findChildren(QFileDialog)), timeout=5_000)
    (dialog,) = window.findChildren(QFileDialog)
    dialog.reject()
    assert window.session_page.sections.isVisible()


def test_that_a_profile_that_is_opened_takes_the_place_of_the_welcome(
    qtbot: QtBot, opened: Open, person: Person, tmp_path: Path
) -> None:
    write_profile(tmp_path / "mine.toml", Profile(name="mine"))
    window = opened()
    press(qtbot, window, "welcome_profile")  # the dialog was cancelled
    assert welcome(window) is not None
    person.opens = tmp_path / "mine.toml"
    press(qtbot, window, "welcome_profile")
    assert window.session.profile.name == "mine"
    assert window.session_page.sections.isVisible()
