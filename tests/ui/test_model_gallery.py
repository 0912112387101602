"""All models stand in a list that is searched, and chosen from by the keyboard."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from gpupanel.domain.profile import Profile
from gpupanel.ui.dialogs.model_gallery_dialog import ModelGalleryDialog
from gpupanel.ui.main_window import MainWindow
from tests.fakes.person import Person
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("preview_without_process", "undressed")


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path, runs_dir: Path) -> Iterator[MainWindow]:
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, Person())
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    yield window
    window.closing.close_unasked()


def opened(window: MainWindow) -> ModelGalleryDialog:
    button = window.findChild(QPushButton, "model_gallery_open")
    assert isinstance(button, QPushButton)
    button.click()
    return window.findChildren(ModelGalleryDialog)[-1]


def typed(dialog: ModelGalleryDialog, text: str) -> QLineEdit:
    line = dialog.findChild(QLineEdit, "model_gallery_line")
    assert isinstance(line, QLineEdit)
    line.clear()
    QTest.keyClicks(line, text)
    return line


def test_that_a_model_is_found_by_any_of_its_columns_and_taken_by_return(
    window: MainWindow,
) -> None:
    dialog = opened(window)
    typed(dialog, "few images mobilenet")
    sources = [each.kind.source for each in dialog.found()]
    assert sources == ["MobileNetV3Small", "MobileNetV2", "MobileNetV3Large", "MobileNet"]
    line = typed(dialog, "pretrained mobilenet")
    QTest.keyClick(line, Qt.Key.Key_Down)
    QTest.keyClick(line, Qt.Key.Key_Return)
    model = window.session.profile.model
    # With what the list says of it: weights that are downloaded.
    assert (model.source, model.begins_with) == ("MobileNetV2", "imagenet")
    window.session.undo()
    assert window.session.profile.model == Profile().model


def test_that_it_begins_at_the_model_that_is_chosen(window: MainWindow) -> None:
    dialog = opened(window)
    tip = dialog.findChild(QLabel, "model_gallery_tip")
    assert isinstance(tip, QLabel)
    assert tip.text().startswith("MLP: dense layers")
    line = typed(dialog, "no such model")
    assert tip.text() == "No model is called so."
    QTest.keyClick(line, Qt.Key.Key_Return)
    assert dialog.isVisible()


def test_that_a_model_from_scratch_is_taken_as_it_is_in_the_chooser(window: MainWindow) -> None:
    line = typed(opened(window), "resnet scratch")
    QTest.keyClick(line, Qt.Key.Key_Return)
    assert window.session.profile.model.source == "resnet"


def test_that_only_a_training_has_the_list(window: MainWindow) -> None:
    window.session.edit(Profile(task="evaluate"))
    button = window.findChild(QPushButton, "model_gallery_open")
    assert isinstance(button, QPushButton)
    assert not button.isVisibleTo(window.session_page.model)
