"""Notes are set, tried and kept in the window's settings."""

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QCheckBox, QDialog, QLabel, QLineEdit, QPushButton, QTabWidget

from gpupanel.domain.notes import NoteSettings
from gpupanel.runs.notes.note_settings import NOTES_FILE
from tests.fakes.note_receiver import NoteReceiver
from tests.fakes.person import Person
from tests.ui.new_window import new_window


@pytest.fixture
def window(qtbot, tmp_path, runs_dir, preview_without_process):
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, Person())
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    yield window
    for dialog in window.findChildren(QDialog):
        dialog.close()
    window.close()


@pytest.fixture
def page(qtbot, window):
    qtbot.keyClick(window, Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
    dialog = window.findChild(QDialog, "settings_dialog")
    qtbot.waitUntil(dialog.isVisible)
    dialog.findChild(QTabWidget).setCurrentIndex(2)
    return dialog.notes


def field(page, name) -> QLineEdit:
    return next(each for each in page.findChildren(QLineEdit) if each.accessibleName() == name)


def said(page) -> str:
    return page.findChild(QLabel, "notes_said").text().replace("\N{ZERO WIDTH SPACE}", "")


def test_that_what_is_typed_is_kept_for_the_person_alone(qtbot, page):
    qtbot.keyClicks(field(page, "Mail"), "ada@example.org")
    box = next(e for e in page.findChildren(QCheckBox) if e.accessibleName() == "A run has ended")
    box.click()
    wanted = NoteSettings(mail="ada@example.org", ended=False)
    qtbot.waitUntil(lambda: NOTES_FILE.read() == wanted)
    assert NOTES_FILE.path().stat().st_mode & 0o777 == 0o600


def test_that_what_is_typed_last_is_kept_when_the_window_closes_at_once(qtbot, window, page):
    qtbot.keyClicks(field(page, "Mail"), "ada")
    window.close()
    assert NOTES_FILE.read().mail == "ada"


def test_that_a_test_is_sent_by_each_way_and_says_what_came_of_it(qtbot, page):
    button = page.findChild(QPushButton, "notes_test")
    assert not button.isEnabled()
    with NoteReceiver() as receiver:
        qtbot.keyClicks(field(page, "Webhook"), f"{receiver.url}/hook")
        qtbot.keyClicks(field(page, "Command"), "/no/such/command")
        button.click()
        assert said(page) == "Sending…"
        qtbot.waitUntil(lambda: "Webhook: sent." in said(page))
        assert "/no/such/command cannot be started: No such file or directory." in said(page)
        assert "A test" in receiver.received[0].document["text"]
    assert button.isEnabled()


def test_that_what_is_no_address_is_told_below_it(qtbot, page):
    qtbot.keyClicks(field(page, "Webhook"), "ntfy.sh/mine")
    words = [label.text() for label in page.findChildren(QLabel) if not label.isHidden()]
    assert "The webhook is no address of the web." in words


def test_that_settings_that_cannot_be_read_say_so(qtbot, window):
    NOTES_FILE.write(NoteSettings(mail="ada"))
    NOTES_FILE.path().write_text('webhok = "x"')
    qtbot.keyClick(window, Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
    dialog = window.findChild(QDialog, "settings_dialog")
    assert "webhok" in said(dialog.notes)


def test_that_settings_that_cannot_be_kept_say_so(qtbot, page, config_dir):
    config_dir.write_text("a file stands in the place of the folder")
    qtbot.keyClicks(field(page, "Mail"), "ada")
    qtbot.waitUntil(lambda: str(config_dir) in said(page))
