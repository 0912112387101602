"""The trainer's log."""

import pytest
from PySide6.QtWidgets import QPlainTextEdit

from gpupanel.ui.panels.log_panel import LogPanel


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
