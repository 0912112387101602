"""The run's half of the bar on top."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QTextDocumentFragment
from PySide6.QtWidgets import QLabel, QPushButton

from gpupanel.ui.panels.run_bar import RunBar
from gpupanel.ui.run_state import ButtonStates
from gpupanel.ui.widgets.labels import Tone

READY = ButtonStates(start=True, stop=False)
GOING = ButtonStates(start=False, stop=True)
STOPPING = ButtonStates(start=False, stop=False, is_stopping=True)
STOPPED_LONG_AGO = replace(STOPPING, end_now=True)
NAMES = ("start_button", "queue_button", "stop_button")


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


def test_that_a_second_click_on_stop_does_nothing_and_end_now_lies_apart(qtbot, bar):
    bar.setButtons(GOING, 0)
    stop, end = _button(bar, "stop_button"), _button(bar, "end_now_button")
    places = [_button(bar, each).geometry() for each in NAMES]
    for states in (STOPPING, STOPPED_LONG_AGO):
        bar.setButtons(states, 0)
        bar.layout().activate()
        assert stop.text() == "Stopping…"
        assert places == [_button(bar, each).geometry() for each in NAMES]
        with qtbot.assertNotEmitted(bar.stopRequested), qtbot.assertNotEmitted(bar.endRequested):
            qtbot.mouseDClick(stop, Qt.MouseButton.LeftButton)
            qtbot.keyClick(bar, Qt.Key.Key_Period, Qt.KeyboardModifier.ControlModifier)
        assert end.isVisible() == states.end_now

    assert "without saving" in end.toolTip()
    with qtbot.waitSignal(bar.endRequested):
        qtbot.mouseClick(end, Qt.MouseButton.LeftButton)
    bar.setButtons(READY, 0)
    assert _button(bar, "suspend_button").isVisible()
    assert not end.isVisible()


def test_that_a_suspended_run_is_resumed_by_the_primary_button(qtbot, bar):
    bar.setButtons(READY, 0)
    start, resume = _button(bar, "start_button"), _button(bar, "bar_resume_button")
    assert (start.property("role"), resume.isVisible()) == ("primary", False)
    bar.setResume("Continues from step 7")
    assert (start.property("role"), resume.property("role")) == ("", "primary")
    assert not _button(bar, "suspend_button").isVisible()
    with qtbot.waitSignal(bar.resumeRequested):
        qtbot.mouseClick(resume, Qt.MouseButton.LeftButton)
    bar.setResume("")
    assert (start.property("role"), resume.isVisible()) == ("primary", False)


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
    for width in range(1_000, 480, -10):
        bar.resize(width, 48)
        words = detail.wordsFor(detail.width())
        assert detail.fontMetrics().horizontalAdvance(words) <= detail.width() or width < 560
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
