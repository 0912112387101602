"""The bar on top."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QTextDocumentFragment
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton

from gpupanel.ui.panels.profile_bar import ProfileBar
from gpupanel.ui.run_state import ButtonStates
from gpupanel.ui.widgets.labels import Tone

READY = ButtonStates(start=True, stop=False, stop_ends_now=False)
GOING = ButtonStates(start=False, stop=True, stop_ends_now=False)
STOPPING = ButtonStates(start=False, stop=True, stop_ends_now=False, is_stopping=True)
STOPPED_LONG_AGO = ButtonStates(start=False, stop=True, stop_ends_now=True)


@pytest.fixture
def bar(qtbot):
    bar = ProfileBar()
    qtbot.addWidget(bar)
    bar.resize(1200, 48)
    with qtbot.waitExposed(bar):
        bar.show()
    return bar


def _button(bar, name):
    return bar.findChild(QPushButton, name)


def test_that_a_name_that_is_being_typed_is_saved_by_the_keyboard(qtbot, bar):
    bar.setDocument("old", is_dirty=False, path=None)
    name, reported = bar.findChild(QLineEdit), []
    bar.nameEdited.connect(reported.append)
    bar.saveRequested.connect(lambda: reported.append("save"))
    bar.activateWindow()
    name.setFocus()
    qtbot.waitUntil(name.hasFocus)
    name.selectAll()
    qtbot.keyClicks(name, "new")

    qtbot.keyClick(name, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)

    assert reported == ["new", "save"]
    assert name.hasFocus()


@pytest.mark.parametrize(
    ("name", "signal"), [("profile_open", "openRequested"), ("profile_save", "saveRequested")]
)
def test_that_each_button_says_what_is_wanted(qtbot, bar, name, signal):
    with qtbot.waitSignal(getattr(bar, signal)):
        qtbot.mouseClick(_button(bar, name), Qt.MouseButton.LeftButton)


def test_that_start_and_stop_are_as_the_states_say(qtbot, bar):
    bar.setButtons(READY, 0)
    assert (_button(bar, "start_button").isEnabled(), _button(bar, "stop_button").isEnabled()) == (
        True,
        False,
    )
    with qtbot.waitSignal(bar.startRequested):
        qtbot.mouseClick(_button(bar, "start_button"), Qt.MouseButton.LeftButton)
    bar.setButtons(GOING, 0)
    with qtbot.waitSignal(bar.stopRequested):
        qtbot.mouseClick(_button(bar, "stop_button"), Qt.MouseButton.LeftButton)
    with qtbot.assertNotEmitted(bar.startRequested):
        qtbot.mouseClick(_button(bar, "start_button"), Qt.MouseButton.LeftButton)


def test_that_the_keyboard_starts_and_stops(qtbot, bar):
    bar.setButtons(READY, 0)
    with qtbot.waitSignal(bar.startRequested):
        qtbot.keyClick(bar, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    bar.setButtons(GOING, 0)
    with qtbot.waitSignal(bar.stopRequested):
        qtbot.keyClick(bar, Qt.Key.Key_Period, Qt.KeyboardModifier.ControlModifier)


def test_that_suspend_says_what_happens_or_why_it_cannot(qtbot, bar):
    bar.setButtons(replace(GOING, suspend=True, suspend_tip="Saves a checkpoint"), 0)
    suspend = _button(bar, "suspend_button")
    assert "Saves a checkpoint" in suspend.toolTip()
    with qtbot.waitSignal(bar.suspendRequested):
        qtbot.mouseClick(suspend, Qt.MouseButton.LeftButton)
    modifiers = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    with qtbot.waitSignal(bar.suspendRequested):
        qtbot.keyClick(bar, Qt.Key.Key_Period, modifiers)

    bar.setButtons(replace(READY, suspend_tip="No run is in progress"), 0)
    assert not suspend.isEnabled()
    assert "No run is in progress" in suspend.toolTip()


def test_that_the_second_stop_says_that_it_ends_now_and_nothing_moves(bar):
    bar.setButtons(GOING, 0)
    before = _button(bar, "start_button").x()

    stop = _button(bar, "stop_button")
    stop.setFocus()
    bar.setButtons(STOPPING, 0)
    bar.layout().activate()
    assert stop.text() == "Stopping…"
    assert stop.hasFocus()
    assert _button(bar, "start_button").x() == before

    bar.setButtons(STOPPED_LONG_AGO, 0)
    bar.layout().activate()
    assert stop.text().replace("&", "") == "End now…"
    assert "without saving" in stop.toolTip()
    assert _button(bar, "start_button").x() == before


def test_that_keys_that_are_held_do_what_they_do_once(bar):
    bar.setButtons(GOING, 0)
    keys = {each.shortcut().toString(): each for each in bar.findChildren(QAction)}
    keys.pop("", None)

    assert {"Ctrl+Return", "Ctrl+Shift+Return", "Ctrl+.", "Ctrl+Shift+."} <= set(keys)
    assert not any(each.autoRepeat() for each in keys.values())


def test_that_a_start_that_is_off_says_why(bar):
    bar.setButtons(ButtonStates(start=False, stop=False, stop_ends_now=False), 2)

    assert "What will happen" in _button(bar, "start_button").toolTip()


def test_that_the_dirty_mark_keeps_its_place(bar):
    bar.setDocument("mine", is_dirty=True, path=None)
    mark = bar.findChild(QLabel, "dirty_mark")
    assert mark.isVisible()
    before = _button(bar, "profile_open").x()

    bar.setDocument("mine", is_dirty=False, path=Path("/x/mine.toml"))
    bar.layout().activate()

    assert not mark.isVisible()
    assert _button(bar, "profile_open").x() == before
    assert "/x/mine.toml" in _button(bar, "profile_save").toolTip()


def test_that_a_name_is_reported_when_it_is_finished(qtbot, bar):
    edit = bar.findChild(QLineEdit, "profile_name")
    edit.clear()
    with qtbot.waitSignal(bar.nameEdited) as edited:
        qtbot.keyClicks(edit, "cats")
        qtbot.keyClick(edit, Qt.Key.Key_Return)

    assert edited.args == ["cats"]


def test_that_recent_files_and_examples_can_be_chosen(qtbot, bar):
    bar.setRecent((Path("/x/a&b.toml"),))
    bar.setRecent((Path("/x/a&b.toml"), Path("/x/c.toml")))
    bar.setExamples((("digits", Path("/e/digits.toml")),))
    assert [action.text() for action in bar.recent_menu.actions()] == ["a&&b.toml", "c.toml"]
    with qtbot.waitSignal(bar.fileChosen) as chosen:
        bar.recent_menu.actions()[0].trigger()
    assert chosen.args == [Path("/x/a&b.toml")]
    with qtbot.waitSignal(bar.exampleChosen) as example:
        bar.examples_menu.actions()[0].trigger()

    assert example.args == [Path("/e/digits.toml")]


def test_that_the_state_is_shown_in_words(bar):
    bar.setState("Importing TensorFlow…", Tone.PLAIN)

    assert bar.findChild(QLabel, "run_state").text() == "● Importing TensorFlow…"


def test_that_start_reports_who_uses_the_devices_already(bar):
    start = bar.findChild(QPushButton, "start_button")
    bar.setButtons(READY, 0, ("RTX 4090: Xorg (root) 300 MiB",))
    shown = QTextDocumentFragment.fromHtml(start.toolTip()).toPlainText()
    assert shown.endswith("Other processes on its devices:\nRTX 4090: Xorg (root) 300 MiB")
    bar.setButtons(READY, 0)
    assert "now:" not in start.toolTip()
    bar.setButtons(GOING, 0, ("RTX 4090: Xorg (root) 300 MiB",))
    assert "Xorg" not in start.toolTip()
