"""Somebody pastes a whole file into a field, or drops a folder's worth of files."""

import time

import pytest
from PySide6.QtCore import QMimeData, QUrl
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QToolTip
from pytestqt.qtbot import QtBot

from gpupanel.runs.history.label import LONGEST_NOTES
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.ui.dialogs.label_dialog import LabelDialog
from gpupanel.ui.dropped_files import has_local_paths
from gpupanel.ui.widgets.cut_texts import CutTexts
from tests.ui.filled_values import filled


def test_that_a_paste_of_millions_of_lines_into_notes_takes_no_time_and_is_cut_with_a_word(
    qtbot: QtBot,
) -> None:
    dialog = LabelDialog(filled(RunSummary, "x", notes=""), None, at_notes=True)
    qtbot.addWidget(dialog)
    dialog.show()
    board = QGuiApplication.clipboard()
    board.setText("ab\n" * 1_000_000)
    begun_s = time.monotonic()
    dialog._notes.paste()
    QApplication.processEvents()
    assert time.monotonic() - begun_s < 1.0
    said = dialog.findChild(QLabel, "label_beyond")
    assert said.isVisible()
    assert said.text() == "At most 20,000 characters: the rest was not pasted."
    assert len(dialog.label().notes) in (LONGEST_NOTES, LONGEST_NOTES - 1)
    # What is chosen makes room.
    dialog._notes.selectAll()
    board.setText("short")
    dialog._notes.paste()
    assert dialog.label().notes == "short"
    assert not said.isVisible()
    dialog._notes.setPlainText("x" * (LONGEST_NOTES + 1))
    assert said.text() == "At most 20,000 characters: what is beyond them is not kept."
    board.clear()


def test_that_tags_beyond_those_that_are_kept_are_said_while_they_are_written(
    qtbot: QtBot,
) -> None:
    dialog = LabelDialog(filled(RunSummary, "x", notes="", tags=()), None, at_notes=False)
    qtbot.addWidget(dialog)
    dialog.show()
    said = dialog.findChild(QLabel, "label_beyond")
    tags = dialog.findChild(QLineEdit, "label_tags")
    for text, words in (
        ("one, two", ""),
        ("x" * 41, "A tag has at most 40 characters: what is beyond them is not kept."),
        (
            ",".join("abcdefghijklmnopqrstu"),
            "A run has at most 20 tags: those beyond them are not kept.",
        ),
        ("a, A," * 30, ""),
    ):
        tags.setText(text)
        assert (said.text(), said.isVisible()) == (words, bool(words))


@pytest.mark.qt_log_ignore("This plugin does not support raise", extend=True)
def test_that_a_field_of_one_line_says_that_it_took_less_than_was_pasted(qtbot: QtBot) -> None:
    field = QLineEdit()
    qtbot.addWidget(field)
    watching = CutTexts(field)
    field.show()
    field.setFocus()
    qtbot.waitUntil(field.hasFocus)
    board = QGuiApplication.clipboard()
    board.setText("x" * 32_767)
    field.paste()
    assert not QToolTip.text()
    field.clear()
    board.setText("x" * 40_000)
    field.paste()
    assert QToolTip.text() == "At most 32,767 characters: the rest was not taken."
    assert watching.parent() is field
    QToolTip.hideText()
    board.clear()


def test_that_dragging_a_hundred_thousand_files_over_the_window_asks_for_one() -> None:
    class Dragged(QMimeData):
        asked = 0

        def urls(self) -> list[QUrl]:
            return [_Counted(f"file:///f{number}") for number in range(1_000)]

    class _Counted(QUrl):
        def host(self, *_options: object) -> str:
            Dragged.asked += 1
            return ""

    assert has_local_paths(Dragged())
    assert Dragged.asked == 1
