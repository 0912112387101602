"""The menus of the window, by real keys and clicks."""

import re
from collections import Counter

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import (
    QAbstractButton,
    QDialog,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QTabWidget,
    QWidget,
)

from gpupanel import __version__
from gpupanel.domain.events import Phase, PhaseChanged
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.runs.directory.profile_file import write_profile
from gpupanel.ui.menus.window_actions import MENU_LETTERS
from gpupanel.ui.run_state import RunState
from tests.fakes.devices import TWO_UNEQUAL
from tests.fakes.person import Person
from tests.fakes.run_directory import STARTED_S, WrittenRun
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("preview_without_process", "undressed")

CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
ALT = Qt.KeyboardModifier.AltModifier


@pytest.fixture
def person():
    return Person()


@pytest.fixture
def window(qtbot, tmp_path, runs_dir, person):
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, person)
    qtbot.addWidget(window)
    window.resize(1280, 800)
    with qtbot.waitExposed(window):
        window.show()
    window.activateWindow()
    yield window
    for dialog in window.findChildren(QDialog):
        dialog.close()
    window.close()


def menu(window, name) -> QMenu:
    return window.menuBar().findChild(QMenu, f"menu_{name}")


def entries(shown: QMenu) -> list[str]:
    return [each.text().replace("&", "") for each in shown.actions() if not each.isSeparator()]


def test_that_the_menus_are_file_edit_run_view_and_help(window):
    titles = [each.text().replace("&", "") for each in window.menuBar().actions()]
    assert titles == ["File", "Edit", "Run", "View", "Help"]
    assert entries(menu(window, "file"))[:6] == [
        *("New", "New from template", "Open…", "Open script…", "Open recent"),
        "Examples",
    ]
    assert entries(menu(window, "file"))[-1] == "Quit"
    assert {"Start", "Queue", "Save checkpoint", "Suspend", "Stop"} < set(
        entries(menu(window, "run"))
    )


def test_that_the_bar_costs_hardly_any_height(window):
    # What stood in the top bar before it has moved into it: 16 pixels were the figure at first.
    assert window.menuBar().height() <= 24
    assert window.minimumSizeHint().width() <= 1100


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_that_a_menu_is_reached_and_left_by_keys(qtbot, window):
    qtbot.keyClick(window, Qt.Key.Key_V, ALT)
    shown = menu(window, "view")
    qtbot.waitUntil(shown.isVisible)
    qtbot.keyClick(shown, Qt.Key.Key_R)
    assert not shown.isVisible()
    assert window.tabs.currentWidget() is window.runs


def test_that_letters_differ_in_each_menu(window):
    for shown in (window.menuBar(), *window.menuBar().findChildren(QMenu)):
        if shown.objectName() in ("recent", "templates", "examples"):
            continue  # names of files
        texts = [each.text() for each in shown.actions() if not each.isSeparator()]
        letters = [letter.lower() for text in texts for letter in re.findall("&(.)", text)]
        assert len(letters) == len(texts), texts
        assert max(Counter(letters).values(), default=1) == 1, texts


def test_that_nothing_on_the_pages_has_the_letter_of_a_menu(window):
    letters = [re.findall("&(.)", each.text())[0] for each in window.menuBar().actions()]
    assert set("".join(letters).lower()) <= set(MENU_LETTERS)
    texts = [
        each.text()
        for each in window.findChildren(QWidget)
        if isinstance(each, QAbstractButton) or (isinstance(each, QLabel) and each.buddy())
    ]
    taken = [text for text in texts if set(re.findall("&([a-z])", text.lower())) & set("efrvh")]
    assert taken == []


def test_that_no_button_of_the_session_shares_its_letter(window):
    window.session.set_inventory(TWO_UNEQUAL)
    window.session.prepare_now()
    shown = [each for each in window.findChildren(QWidget) if each.isVisible()]
    letters = Counter(
        re.findall("&(.)", each.text().lower())[0]
        for each in shown
        if (isinstance(each, QAbstractButton) or (isinstance(each, QLabel) and each.buddy()))
        and "&" in each.text()
    )
    buttons = [
        each.text() for each in shown if isinstance(each, QPushButton) and "&" in each.text()
    ]
    assert len(buttons) > 4
    shared = [text for text in buttons if letters[re.findall("&(.)", text.lower())[0]] > 1]
    assert shared == []


def test_that_ctrl_and_a_number_go_to_a_page_and_ctrl_tab_to_the_next(qtbot, window):
    tabs: QTabWidget = window.tabs
    for key, place in ((Qt.Key.Key_3, 2), (Qt.Key.Key_2, 1), (Qt.Key.Key_1, 0)):
        qtbot.keyClick(window, key, CTRL)
        assert tabs.currentIndex() == place
        assert [each.isChecked() for each in window.window_actions.pages.actions()] == [
            n == place for n in range(3)
        ]
    for place in (1, 2, 0):
        qtbot.keyClick(window, Qt.Key.Key_Tab, CTRL)
        assert tabs.currentIndex() == place
    qtbot.keyClick(window, Qt.Key.Key_Backtab, CTRL | SHIFT)
    assert tabs.currentIndex() == 2


def test_that_what_was_typed_is_taken_over_when_the_page_is_left_by_keys(qtbot, window):
    name = window.findChild(QLineEdit, "profile_name")
    name.setFocus()
    name.selectAll()
    qtbot.keyClicks(name, "cats")
    qtbot.keyClick(name, Qt.Key.Key_2, CTRL)
    assert window.session.profile.name == "cats"


def test_that_ctrl_q_closes_the_window_and_asks_before_changes_are_lost(qtbot, window, person):
    window.session.edit(Profile(name="changed"))
    qtbot.keyClick(window, Qt.Key.Key_Q, CTRL)
    assert window.closing.is_closed


def test_that_buttons_and_menus_say_the_same(window):
    actions = window.window_actions
    for name, action in (
        ("start_button", actions.start),
        ("stop_button", actions.stop),
        ("suspend_button", actions.suspend),
        ("queue_button", actions.queue),
        ("profile_open", actions.open),
        ("profile_save", actions.save),
    ):
        button = window.findChild(QPushButton, name)
        assert button.text() == action.text().replace("&", "")
        assert button.toolTip() == action.toolTip()
        assert button.isEnabled() is action.isEnabled()


def test_that_a_recent_profile_is_opened_from_the_menu(window, tmp_path):
    write_profile(tmp_path / "mine.toml", Profile(name="mine"))
    window.profiles.open_file(tmp_path / "mine.toml")
    window.profiles.new()
    (recent,) = menu(window, "file").findChildren(QMenu, "recent") or [
        window.profile_bar.recent_menu
    ]
    recent.actions()[0].trigger()
    assert window.session.profile.name == "mine"


def test_that_a_checkpoint_is_asked_for_by_keys_while_a_run_trains(qtbot, window, runs_dir):
    action = window.window_actions.checkpoint
    assert not action.isEnabled()
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.step(3)
        run.write(PhaseChanged(time_s=STARTED_S + 3, phase=Phase.TRAINING))
        window.begin()
        qtbot.waitUntil(lambda: window.session.run_state is RunState.RUNNING, timeout=10_000)
        qtbot.waitUntil(action.isEnabled)
        asked = []
        window.control._launcher.ask = lambda layout, request: asked.append(request)
        qtbot.keyClick(window, Qt.Key.Key_B, CTRL)
        assert asked == [Request.CHECKPOINT]
        assert not action.isEnabled()


def test_that_ctrl_0_shows_the_whole_run_again(qtbot, window, runs_dir):
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.step(30)
        run.end()
    window.session.set_inventory(TWO_UNEQUAL)
    window.open_target(run.layout.root)
    wall, reset = window.live_page.live.plot_wall, window.window_actions.reset_zoom
    qtbot.waitUntil(wall.isVisible, timeout=10_000)
    assert not reset.isEnabled()
    wall._set_following(following=False)
    assert reset.isEnabled()
    qtbot.keyClick(window, Qt.Key.Key_0, CTRL)
    assert wall.is_following
    assert not reset.isEnabled()


def test_that_shortcuts_are_listed_from_the_actions_themselves(qtbot, window):
    qtbot.keyClick(window, Qt.Key.Key_Question, CTRL)
    dialog = window.findChild(QDialog, "shortcuts_dialog")
    qtbot.waitUntil(dialog.isVisible)
    listed = {(each.what, each.keys) for each in dialog.shortcuts}
    assert {("Start", "Ctrl+Return"), ("Quit", "Ctrl+Q"), ("Live", "Ctrl+2")} <= listed
    with_keys = [
        each
        for each in window.findChildren(QAction)
        if not each.shortcut().isEmpty() and each.text()
    ]
    assert len(with_keys) > 15
    for action in with_keys:
        assert (action.text().replace("&", ""), action.shortcut().toString()) in listed
    assert len({(each.place, each.what) for each in dialog.shortcuts}) == len(dialog.shortcuts)
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


def test_that_no_two_actions_that_can_be_reached_have_the_same_keys(window):
    pages = [window.tabs.widget(place) for place in range(window.tabs.count())]

    def page_of(action):
        part = action.parent()
        while part is not None and part not in pages:
            part = part.parent()
        return part

    keys = [
        (page_of(each), each.shortcut().toString())
        for each in window.findChildren(QAction)
        if not each.shortcut().isEmpty()
        and each.shortcutContext() is Qt.ShortcutContext.WindowShortcut
    ]
    for page in pages:
        reached = Counter(key for place, key in keys if place in (None, page))
        assert [key for key, count in reached.items() if count > 1] == []


def test_that_ctrl_f_searches_what_is_shown(qtbot, window):
    for key, name in ((Qt.Key.Key_2, "log_search"), (Qt.Key.Key_3, "runs_search")):
        qtbot.keyClick(window, key, CTRL)
        qtbot.keyClick(window, Qt.Key.Key_F, CTRL)
        assert window.findChild(QLineEdit, name).hasFocus()


def test_that_versions_can_be_copied(qtbot, window):
    window.window_actions.about.trigger()
    dialog = window.findChild(QDialog, "about_dialog")
    qtbot.mouseClick(dialog.findChild(QPushButton, "about_copy"), Qt.MouseButton.LeftButton)
    copied = QGuiApplication.clipboard().text()
    assert copied.startswith(f"gpupanel: {__version__}\nPython: 3.")
    assert re.search(r"^TensorFlow: \d", copied, re.MULTILINE)
    assert "Qt (PySide6): 6." in copied
    shown = " ".join(label.text() for label in dialog.findChildren(QLabel))
    assert __version__ in shown
