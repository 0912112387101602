"""The bar on top."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton

from gpupanel.runs.directory.templates import templates
from gpupanel.ui.panels.profile_bar import ProfileBar


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


def test_that_a_template_can_be_chosen_and_says_what_it_is_for(qtbot, bar):
    bar.setTemplates(templates())
    entries = bar.templates_menu.actions()
    assert [each.text() for each in entries] == [each.title for each in templates()]
    with qtbot.waitSignal(bar.templateChosen) as chosen:
        entries[0].trigger()

    assert chosen.args == [templates()[0]]
    assert templates()[0].about in entries[0].toolTip()


def test_that_of_a_long_name_the_beginning_is_seen(bar):
    bar.setDocument("n" * 200, is_dirty=False, path=None)
    assert bar.findChild(QLineEdit).cursorPosition() == 0
