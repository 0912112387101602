"""Somebody pastes a whole file into a field, or drops a folder's worth of files."""

import time

from PySide6.QtCore import QMimeData, QUrl
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from gpupanel.runs.history.label import LONGEST_NOTES
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.ui.dialogs.label_dialog import LabelDialog
from gpupanel.ui.dropped_files import has_local_paths
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
