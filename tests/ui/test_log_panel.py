"""The trainer's log."""

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QPlainTextEdit, QPushButton, QToolButton

from gpupanel.runs.following.log_lines import LineKind, line_kind
from gpupanel.ui.panels.log_panel import LogPanel
from gpupanel.ui.widgets.labels import Note


@pytest.fixture
def panel(qtbot):
    panel = LogPanel()
    qtbot.addWidget(panel)
    panel.resize(400, 200)
    return panel


def _view(panel):
    return panel.findChild(QPlainTextEdit, "trainer_log")


def test_that_portions_join_within_a_line(panel):
    panel.append("one li")
    panel.append("ne\ntwo")

    assert panel.text() == "one line\ntwo"


def test_that_another_run_begins_empty(panel, tmp_path):
    panel.append("old")

    panel.clear(tmp_path / "trainer.log")

    assert panel.text() == ""


def test_that_the_end_is_followed_until_a_person_scrolls_up(qtbot, panel):
    with qtbot.waitExposed(panel):
        panel.show()
    bar = _view(panel).verticalScrollBar()
    panel.append("line\n" * 100)
    assert bar.value() == bar.maximum()
    bar.setValue(10)

    panel.append("line\n" * 100)

    assert bar.value() == 10


def test_that_only_the_end_of_a_very_long_log_is_kept(panel):
    panel.append("x" * 50 + "\n")
    panel.append("".join(f"{number}\n" for number in range(200_000)))

    lines = panel.text().splitlines()
    assert lines[-1] == "199999"
    assert len(lines) <= 5000


def test_that_of_long_lines_fewer_are_kept_each_of_them_whole(qtbot, panel):
    with qtbot.waitExposed(panel):
        panel.show()
    panel.append("".join(f"{number}\n" for number in range(100)))
    for number in range(100, 200):
        panel.append(f"{number}{'x' * 15_000}\n")
    bar = _view(panel).verticalScrollBar()

    lines = panel.text().splitlines()

    assert [line.rstrip("x") for line in lines] == [str(each) for each in range(131, 200)]
    assert {len(line) for line in lines} == {15_003}
    assert bar.value() == bar.maximum()


def test_that_it_cannot_be_typed_into_but_copied_from(panel):
    assert _view(panel).isReadOnly()


def test_that_no_empty_line_stands_below_the_last_one(qtbot):
    panel = LogPanel()
    qtbot.addWidget(panel)
    panel.append("one\n")
    assert panel.text() == "one"
    panel.append("\ntwo\n")
    assert panel.text() == "one\n\ntwo"
    panel.clear()
    panel.append("three")
    assert panel.text() == "three"


ROUTINE = "I0000 00:00:1795417079.082141   22214 port.cc:153] oneDNN custom operations are on.\n"
LOG = f"{ROUTINE}epoch 1\n{ROUTINE}x.py:3: UserWarning: old\n  old()\nepoch 2\nValueError: bad\nend"


def shown(panel):
    block, lines = _view(panel).document().begin(), []
    while block.isValid():
        if block.isVisible():
            lines.append(block.text())
        block = block.next()
    return lines


def test_that_what_tensorflow_always_prints_is_one_line_that_opens(qtbot, panel):
    with qtbot.waitExposed(panel):
        panel.show()
    panel.append(LOG)
    fold = panel.findChild(QToolButton, "log_start_up")
    assert fold.text() == "2 lines of TensorFlow's start-up"
    assert shown(panel)[0] == "epoch 1"
    assert len(shown(panel)) == 6

    qtbot.mouseClick(fold, Qt.MouseButton.LeftButton)
    assert shown(panel) == LOG.splitlines()
    qtbot.keyClick(fold, Qt.Key.Key_Space)
    assert len(shown(panel)) == 6
    assert panel.text() == LOG


def test_that_lines_that_are_hidden_take_no_place(qtbot, panel):
    with qtbot.waitExposed(panel):
        panel.show()
    panel.append(ROUTINE * 500 + "epoch\n" * 30)
    bar = _view(panel).verticalScrollBar()
    folded = bar.maximum()
    assert folded < 40
    panel.findChild(QToolButton, "log_start_up").setChecked(True)
    assert bar.maximum() > folded + 400
    assert bar.value() == 0
    panel.findChild(QToolButton, "log_start_up").setChecked(False)
    assert bar.maximum() == folded
    assert bar.value() == bar.maximum()


def test_that_warnings_and_errors_are_shown_apart(qtbot, panel):
    button = panel.findChild(QPushButton, "log_warnings")
    assert not button.isEnabled()
    panel.append(LOG)
    assert button.text() == "Warnings: 3 lines"
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert shown(panel) == ["x.py:3: UserWarning: old", "  old()", "ValueError: bad"]
    panel.append("\nepoch 3\nTraceback (most recent call last):\n  File")
    assert shown(panel)[3:] == ["Traceback (most recent call last):", "  File"]
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert "epoch 3" in shown(panel)


def test_that_a_search_finds_folded_lines_too_and_escape_of_the_text_shows_all(qtbot, panel):
    panel.append(LOG)
    search = panel.findChild(QLineEdit, "log_search")
    qtbot.keyClicks(search, "ONEDNN")
    assert len(shown(panel)) == 2
    assert panel.findChild(QLabel, "log_found").text() == "2 lines found"
    search.setText("nowhere")
    assert shown(panel) == []
    assert panel.findChild(QLabel, "log_found").text() == "Nothing found"
    panel.append("\nsomewhere and nowhere")
    assert shown(panel) == ["somewhere and nowhere"]
    search.clear()
    assert len(shown(panel)) == 7


def test_that_a_line_that_becomes_longer_becomes_a_warning(panel):
    panel.append("x.py:3: User")
    panel.append("Warning: late\n")
    assert panel.findChild(QPushButton, "log_warnings").text() == "Warnings: 1 line"


def test_that_another_run_begins_without_a_filter(qtbot, panel):
    panel.append(LOG)
    panel.findChild(QPushButton, "log_warnings").click()
    panel.findChild(QLineEdit, "log_search").setText("x")
    panel.clear()
    panel.append("one\ntwo")
    assert shown(panel) == ["one", "two"]
    assert not panel.findChild(QToolButton, "log_start_up").isVisibleTo(panel)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(st.sampled_from(["a", "\n", ROUTINE, "ValueError: x\n", " b", "\r\n"]), max_size=12)
)
def test_that_counts_are_those_of_the_lines_that_are_kept(panel, portions):
    panel.clear()
    for portion in portions:
        panel.append(portion)
    kinds, before = [], LineKind.PLAIN
    for line in panel.text().split("\n"):
        before = line_kind(line, before)
        kinds.append(before)
    assert list(panel._kinds) == (kinds if portions else [])
    assert panel._counts.total() == len(panel._kinds)


def test_that_a_log_of_many_lines_stays_quick_and_bounded(qtbot, panel):
    with qtbot.waitExposed(panel):
        panel.show()
    began = time.thread_time()
    for _ in range(20):
        panel.append("ValueError: x\n" * 10_000 + ROUTINE * 100)
    panel.findChild(QLineEdit, "log_search").setText("value")
    assert len(panel._kinds) == _view(panel).document().blockCount() <= 5000
    assert len(shown(panel)) == _view(panel).document().blockCount() - 100
    assert time.thread_time() - began < 20  # 2 s on a quick machine


def test_that_nothing_scrolls_where_all_lines_are_folded_away(panel, qtbot):
    with qtbot.waitExposed(panel):
        panel.show()
    text = panel.findChild(QPlainTextEdit, "trainer_log")
    panel.append(
        "I0000 00:00:1795547744.765587 15670 port.cc:153] oneDNN custom operations are on. "
        + "x" * 400
        + "\n"
    )
    assert not text.horizontalScrollBar().isVisible()
    (note,) = text.findChildren(Note)
    assert note.isVisible()  # an empty page without a word looks broken
    panel.findChild(QToolButton, "log_start_up").setChecked(True)
    assert not note.isVisible()
    panel.findChild(QToolButton, "log_start_up").setChecked(False)
    assert note.isVisible()
    panel.append("loss is " + "0" * 4000 + "\n")
    qtbot.waitUntil(text.horizontalScrollBar().isVisible)
    assert not note.isVisible()
