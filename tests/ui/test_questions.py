"""The dialogs that ask a person: where to save, and in whose words."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import (
    QApplication,
    QDialogButtonBox,
    QFileDialog,
    QLabel,
    QMessageBox,
    QStyle,
    QWidget,
)

from gpupanel.runs.trust.user_code import UserCode
from gpupanel.ui.dialogs.problem_dialog import ProblemDialog
from gpupanel.ui.dialogs.trust_dialog import TrustDialog
from gpupanel.ui.questions import Questions


@pytest.fixture
def window(qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    return window


@pytest.fixture
def picks(monkeypatch):
    """What the person types into the dialog of files."""

    def pick(path: Path) -> None:
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))

    return pick


def answer(text: str) -> list[str]:
    """Click on that button of the next question; gives what was asked."""
    asked: list[str] = []

    def click() -> None:
        box = QApplication.activeModalWidget()
        assert isinstance(box, QMessageBox)
        asked.append(box.text())
        next(button for button in box.buttons() if text in button.text()).click()

    QTimer.singleShot(100, click)
    return asked


@pytest.mark.parametrize(("text", "is_given"), [("Replace", True), ("Cancel", False)])
def test_that_a_file_that_the_ending_makes_another_one_is_replaced_only_when_asked(
    window, picks, tmp_path, text, is_given
):
    (tmp_path / "mine.toml").touch()
    picks(tmp_path / "mine")
    asked = answer(text)

    found = Questions(window).place_to_save(tmp_path)

    assert found == (tmp_path / "mine.toml" if is_given else None)
    assert asked == ["mine.toml exists already. Replace it?"]


def test_that_a_dot_in_a_name_is_no_ending(window, picks, tmp_path):
    picks(tmp_path / "resnet v1.5")
    assert Questions(window).place_to_save(tmp_path) == tmp_path / "resnet v1.5.toml"
    picks(tmp_path / "mine.toml")
    assert Questions(window).place_to_save(tmp_path) == tmp_path / "mine.toml"


def test_that_a_path_with_tags_is_shown_as_it_is(qtbot, window):
    path = Path("/home/me/<b>ok</b> model.py<!-- evil.py")
    dialogs = (
        TrustDialog((UserCode("model.path", path, b"pass"),), window),
        ProblemDialog(f"{path} was not opened.", (), window),
    )
    for dialog in dialogs:
        shown = [each for each in dialog.findChildren(QLabel) if "<b>ok</b>" in each.text()]
        assert [each.textFormat() for each in shown] == [Qt.TextFormat.PlainText]


def test_that_no_button_of_a_question_has_a_picture_of_the_desktop(qtbot):
    box = QMessageBox()
    qtbot.addWidget(box)
    box.setStandardButtons(QMessageBox.StandardButton.Save | QMessageBox.StandardButton.Cancel)
    box.ensurePolished()
    hint = QStyle.StyleHint.SH_DialogButtonBox_ButtonsHaveIcons
    assert box.style().styleHint(hint, None, box.findChild(QDialogButtonBox)) == 0


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("x.pdf", "x.pdf.html"),
        ("x.html", "x.html"),
        ("x.HTM", "x.HTM.html"),
        ("resnet v1.5", "resnet v1.5.html"),
    ],
)
def test_that_what_is_exported_has_the_ending_of_its_kind(window, picks, tmp_path, typed, written):
    picks(tmp_path / typed)
    found = Questions(window).place_to_export("Export", tmp_path / "run.html", "Reports (*.html)")
    assert found == tmp_path / written


def test_that_a_program_is_looked_for_in_the_folder_of_the_profile(window, tmp_path):
    begun: list[str] = []

    def leave() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, QFileDialog)
        begun.append(dialog.directory().absolutePath())
        dialog.reject()

    QTimer.singleShot(100, leave)
    assert Questions(window).program_to_open(tmp_path) is None
    assert begun == [str(tmp_path)]
