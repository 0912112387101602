"""The run's half of the bar on top."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QTextDocumentFragment
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from gpupanel.ui.menus.window_actions import WindowActions
from gpupanel.ui.panels.run_bar import RunBar
from gpupanel.ui.run_state import ButtonStates
from gpupanel.ui.widgets.labels import Tone

READY = ButtonStates(start=True, stop=False)
GOING = ButtonStates(start=False, stop=True)
STOPPING = ButtonStates(start=False, stop=False, is_stopping=True)
STOPPED_LONG_AGO = replace(STOPPING, end_now=True)


@pytest.fixture
def bar(qtbot):
    bar = RunBar()
    qtbot.addWidget(bar)
    bar.resize(1200, 48)
    with qtbot.waitExposed(bar):
        bar.show()
    return bar


def _button(bar, name):
    return bar.findChild(QPushButton, name)


def test_that_start_is_as_the_states_say(qtbot, bar):
    bar.setButtons(READY, 0)
    start = _button(bar, "start_button")
    assert start.isEnabled()
    with qtbot.waitSignal(bar.startRequested):
        qtbot.mouseClick(start, Qt.MouseButton.LeftButton)
    bar.setButtons(GOING, 0)
    with qtbot.assertNotEmitted(bar.startRequested):
        qtbot.mouseClick(start, Qt.MouseButton.LeftButton)


def test_that_the_keyboard_starts(qtbot, bar):
    bar.setButtons(READY, 0)
    with qtbot.waitSignal(bar.startRequested):
        qtbot.keyClick(bar, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)


def test_that_the_actions_that_steer_say_what_happens_or_why_not(qtbot):
    actions = WindowActions(bar := QWidget())
    qtbot.addWidget(bar)
    steering = RunBar(actions, bar)
    steering.setButtons(replace(GOING, suspend=True, suspend_tip="Saves a checkpoint"), 0)
    assert (actions.stop.isEnabled(), actions.suspend.isEnabled()) == (True, True)
    assert "Saves a checkpoint" in actions.suspend.toolTip()
    steering.setButtons(replace(READY, suspend_tip="No run is in progress"), 0)
    assert (actions.stop.isEnabled(), actions.suspend.isEnabled()) == (False, False)
    assert "No run is in progress" in actions.suspend.toolTip()
    for states in (STOPPING, STOPPED_LONG_AGO):
        steering.setButtons(states, 0)
        assert (actions.stop.text(), actions.stop.isEnabled()) == ("S&topping…", False)


def test_that_the_run_whose_state_is_shown_is_named_and_a_click_leads_to_it(qtbot, bar):
    link = _button(bar, "run_link")
    assert not link.isVisible()
    bar.setRun("cats & dogs")
    assert (link.text(), link.accessibleName()) == ("cats && dogs", "cats & dogs")
    with qtbot.waitSignal(bar.runRequested):
        qtbot.mouseClick(link, Qt.MouseButton.LeftButton)
    bar.setRun("x" * 300)
    assert "…" in link.text()
    assert link.sizeHint().width() < 240
    bar.setRun("")
    assert not link.isVisible()


def test_that_progress_and_a_passing_notice_share_a_place(qtbot, bar):
    detail = bar.findChild(QLabel, "run_detail")
    bar.setState("Training", Tone.PLAIN, "epoch 3/100 · 0:42 left")
    assert detail.text() == "epoch 3/100 · 0:42 left"
    bar._notice.setInterval(50)
    bar.setNotice("Queued, place 2")
    bar.setState("Training", Tone.PLAIN, "epoch 4/100 · 0:40 left")
    assert detail.text() == "Queued, place 2"
    qtbot.waitUntil(lambda: detail.text() == "epoch 4/100 · 0:40 left")


def test_that_where_it_is_narrow_the_time_that_is_left_is_what_stays(qtbot, bar):
    bar.setState("Training", Tone.PLAIN, "epoch 10/10 · 0:05 left")
    detail = bar.findChild(QLabel, "run_detail")
    said = {}
    for width in range(1_000, 290, -10):
        bar.resize(width, 48)
        words = detail.wordsFor(detail.width())
        assert detail.fontMetrics().horizontalAdvance(words) <= detail.width() or width < 370
        said[words] = None
    assert list(said) == ["epoch 10/10 · 0:05 left", "10/10 · 0:05 left", "0:05 left"]
    assert "epoch 10/10" in QTextDocumentFragment.fromHtml(detail.toolTip()).toPlainText()


def test_that_a_long_state_keeps_no_room_from_what_comes_after_it(qtbot, bar):
    bar.setState("3 problems to fix before it starts", Tone.WARNING)
    bar.setState("Training", Tone.PLAIN, "epoch 1/2 · 0:05 left")
    state = bar.findChild(QLabel, "run_state")
    qtbot.waitUntil(lambda: state.width() < 100)


def test_that_keys_that_are_held_do_what_they_do_once(bar):
    bar.setButtons(GOING, 0)
    keys = {each.shortcut().toString(): each for each in bar.findChildren(QAction)}

    for each in ("Ctrl+Return", "Ctrl+Shift+Return", "Ctrl+.", "Ctrl+Shift+."):
        assert not keys[each].autoRepeat()


def test_that_a_start_that_is_off_says_why(bar):
    bar.setButtons(ButtonStates(start=False, stop=False), 2)

    assert "What will happen" in _button(bar, "start_button").toolTip()


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


def test_that_a_short_state_is_whole_however_it_is_dressed_later(qtbot):
    bar = RunBar()
    qtbot.addWidget(bar)
    bar.setState("Ready", Tone.GOOD)
    with qtbot.waitExposed(bar):
        bar.show()
    state = bar.findChild(QLabel, "run_state")
    # As a larger or bolder font makes it wider than it was when its words were set.
    bar.setStyleSheet("QLabel { font-size: 22px; font-weight: bold }")
    bar.resize(bar.minimumSizeHint())
    qtbot.waitUntil(lambda: state.shownText() == "● Ready", timeout=2_000)


def test_that_a_notice_is_not_cut_to_a_letter_where_there_is_no_room_for_it(qtbot, bar):
    bar.setState("Training", Tone.PLAIN)
    bar.setNotice("Queued, place 2", "Queued")
    detail = bar.findChild(QLabel, "run_detail")
    bar.resize(1_000, 48)
    qtbot.waitUntil(lambda: detail.shownText() == "Queued, place 2")
    bar.resize(bar.minimumSizeHint().width(), 48)
    qtbot.waitUntil(lambda: detail.shownText() == "Queued")
