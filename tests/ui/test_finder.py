"""Ctrl+K: a setting or an action is found by a part of its name, and is gone to."""

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QWidget

from gpupanel.ui.dialogs.finder_dialog import FinderDialog, FinderEntry
from gpupanel.ui.main_window import MainWindow
from gpupanel.ui.tools.session_tools.rate_range.dialog import RateRangeDialog
from tests.fakes.devices import TWO_UNEQUAL
from tests.fakes.person import Person
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("preview_without_process", "undressed")


@pytest.fixture
def window(qtbot, tmp_path, runs_dir):
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, Person())
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    window.session.set_inventory(TWO_UNEQUAL)
    yield window
    window.close()


def finder(window: MainWindow) -> FinderDialog:
    window.findChild(QAction, "edit_find").trigger()
    return window.findChildren(FinderDialog)[-1]


def typed(dialog: FinderDialog, text: str) -> list[str]:
    line = dialog.findChild(QLineEdit, "finder_line")
    line.clear()
    QTest.keyClicks(line, text)
    return [each.name for each in dialog.found()]


def focused() -> str:
    widget = QApplication.focusWidget()
    return "" if widget is None else widget.accessibleName()


def press(dialog: FinderDialog, key: Qt.Key) -> None:
    QTest.keyClick(dialog.findChild(QLineEdit, "finder_line"), key)


def test_that_a_setting_is_found_and_has_the_focus_then(window, qtbot) -> None:
    window.tabs.setCurrentIndex(2)
    dialog = finder(window)
    assert typed(dialog, "learning ra")[0] == "Learning rate"
    press(dialog, Qt.Key.Key_Return)
    assert window.tabs.currentWidget() is window.session_page
    qtbot.waitUntil(lambda: focused() == "Learning rate")


def test_that_a_folded_setting_is_unfolded(window, qtbot) -> None:
    dialog = finder(window)
    assert typed(dialog, "label smoo") == ["Label smoothing"]
    press(dialog, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: focused() == "Label smoothing")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("resnet50", "Kind of model"),
        ("adamw", "Optimizer"),
        ("csv", "Data set"),
        ("checkpoint_every_epochs", "Checkpoint"),
        ("batch global", "Global batch size"),
        ("dark", "Dark theme"),
    ],
)
def test_that_choices_keys_and_words_in_any_order_find(window, text: str, name: str) -> None:
    assert name in typed(finder(window), text)


def test_that_an_action_is_done_and_one_that_cannot_be_says_so(window) -> None:
    dialog = finder(window)
    assert typed(dialog, "stop")[-1] == "Stop"
    assert not dialog.found()[-1].is_possible
    dialog.choose(len(dialog.found()) - 1)
    press(dialog, Qt.Key.Key_Return)
    assert dialog.isVisible()
    assert "ends the run" in dialog.findChild(QLabel, "finder_tip").text()
    assert typed(dialog, "runs")[0] == "Runs"
    press(dialog, Qt.Key.Key_Return)
    assert not dialog.isVisible()
    assert window.tabs.currentWidget() is window.runs


def test_that_a_word_within_another_finds_nothing_but_names(window) -> None:
    found = typed(finder(window), "rate")
    assert found[0] == "Learning rate"
    assert "Shares" not in found  # of the section Strategy


def test_that_a_button_of_a_section_is_found_and_pressed(window, qtbot) -> None:
    dialog = finder(window)
    assert "Find learning rate…" in typed(dialog, "find lear")
    press(dialog, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.findChild(RateRangeDialog) is not None)
    window.findChild(RateRangeDialog).reject()


def test_that_entries_of_one_name_stand_beside_each_other_as_they_are(qtbot, qapp) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    one = [FinderEntry("R&D", "File", "", "", "", is_possible=True, go=list) for _ in range(3)]
    dialog = FinderDialog(one, parent)
    dialog.open()
    assert len(typed(dialog, "r&d")) == 3
    dialog.reject()


def test_that_arrows_choose_and_escape_leaves_everything_as_it_is(window) -> None:
    dialog = finder(window)
    typed(dialog, "e")
    press(dialog, Qt.Key.Key_Down)
    press(dialog, Qt.Key.Key_Down)
    assert dialog.chosen() == dialog.found()[2]
    before = window.session.profile
    press(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
    assert window.session.profile == before


def test_that_what_nothing_is_called_is_said(window) -> None:
    dialog = finder(window)
    assert typed(dialog, "zzz <b>x</b>") == []
    press(dialog, Qt.Key.Key_Return)
    assert dialog.isVisible()
    assert dialog.findChild(QLabel, "finder_tip").text() == "Nothing is called so."


def test_that_every_setting_that_is_shown_is_found_once(window) -> None:
    names = [(each.place, each.name) for each in finder(window).found()]
    assert len(names) == len(set(names))
    for panel in (window.session_page.training, window.session_page.strategy):
        assert panel.section_title in {place for place, _ in names}
    assert sum(place == "Training" for place, _ in names) > 20
