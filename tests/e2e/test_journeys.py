"""From the first start to an exported model: once by mouse, once by the keyboard alone."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QSettings, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QLineEdit,
    QPushButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from gpupanel.domain.outcome import Outcome
from gpupanel.ui.inputs.counter import Counter
from gpupanel.ui.main_window import MainWindow
from gpupanel.ui.run_state import RunState
from tests.fakes.person import Person
from tests.ui.new_window import new_window

pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.slow,
    # Of the offscreen plugin, where a menu opens.
    pytest.mark.qt_log_ignore("This plugin does not support", extend=True),
]

PATIENCE_MS = 180_000
"""TensorFlow's import and first steps, on a machine that does much else."""
Key = Qt.Key
_KERAS = "export_keras"


@pytest.fixture
def person(tmp_path: Path) -> Person:
    person = Person()
    (tmp_path / "out").mkdir()
    person.saves = tmp_path / "out" / "model.keras"
    return person


@pytest.fixture
def window(
    qtbot: QtBot, settings: QSettings, runs_dir: Path, person: Person
) -> Iterator[MainWindow]:
    """The window as it is at the first start of all."""
    window = new_window(settings, runs_dir, person)
    window.resize(1280, 800)
    with qtbot.waitExposed(window):
        window.show()
    window.activateWindow()
    window.begin_unasked()
    with qtbot.waitSignal(window.session.preparationChanged, timeout=10_000):
        window.begin()
    yield window
    window.closing.close_unasked()
    window.deleteLater()


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Bright and dark ones, a folder each."""
    random = np.random.default_rng(0)
    folder = tmp_path / "pictures"
    for name, level in (("bright", 200), ("dark", 20)):
        (folder / name).mkdir(parents=True)
        for number in range(24):
            pixels = np.clip(random.normal(level, 20, (48, 48, 3)), 0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(folder / name / f"{number}.png")
    return folder


class Mouse:
    """Clicks, and counts its clicks."""

    def __init__(self, qtbot: QtBot, window: MainWindow) -> None:
        self._qtbot, self._window = qtbot, window
        self.clicks = 0

    def click(self, widget: QWidget) -> None:
        self._qtbot.waitUntil(
            lambda: widget.isVisible() and widget.isEnabled(), timeout=PATIENCE_MS
        )
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton)
        self.clicks += 1

    def click_button(self, name: str) -> None:
        self.click(button(self._window, name))


def button(window: MainWindow, name: str) -> QPushButton:
    found = window.findChild(QPushButton, name)
    assert isinstance(found, QPushButton), name
    return found


def choose_in_dialog(qtbot: QtBot, window: MainWindow, mouse: Mouse, folder: Path) -> None:
    qtbot.waitUntil(lambda: bool(window.findChildren(QFileDialog)), timeout=10_000)
    (dialog,) = window.findChildren(QFileDialog)
    name = dialog.findChild(QLineEdit)
    assert name is not None
    name.setText(str(folder))
    box = dialog.findChild(QDialogButtonBox)
    assert box is not None
    mouse.click(box.buttons()[0])


def assert_exported(qtbot: QtBot, window: MainWindow, person: Person) -> None:
    qtbot.waitUntil(
        lambda: any(
            each.objectName() == "model_export_dialog" and each.text()
            for each in window.findChildren(QDialog)
            if hasattr(each, "text")
        ),
        timeout=PATIENCE_MS,
    )
    assert person.saves is not None
    assert person.saves.stat().st_size > 10_000


def test_that_own_pictures_become_an_exported_model_by_mouse(
    qtbot: QtBot, window: MainWindow, person: Person, pictures: Path
) -> None:
    mouse = Mouse(qtbot, window)
    mouse.click_button("welcome_images")
    choose_in_dialog(qtbot, window, mouse, pictures)
    qtbot.waitUntil(
        lambda: any(
            problem.code == "model_suggested" for problem in window.session.preparation.problems
        ),
        timeout=PATIENCE_MS,
    )
    (fix,) = (
        each
        for each in window.session_page.plan.findChildren(QPushButton)
        if each.isVisible() and "ResNet" in each.text()
    )
    mouse.click(fix)
    mouse.click_button("start_button")
    assert mouse.clicks <= 5
    qtbot.waitUntil(lambda: window.session.run_state is RunState.RUNNING, timeout=PATIENCE_MS)
    qtbot.waitUntil(
        lambda: window.session.run_status is not None and window.session.run_status.epoch >= 2,
        timeout=PATIENCE_MS,
    )
    mouse.click_button("stop_button")
    qtbot.waitUntil(lambda: window.session.run_state is RunState.ENDED, timeout=PATIENCE_MS)
    assert window.session.profile.model.source == "resnet"
    tabs = window.live_page.tabs
    place = tabs.tabBar().tabRect(tabs.indexOf(window.live_page.exports)).center()
    QTest.mouseClick(tabs.tabBar(), Qt.MouseButton.LeftButton, pos=place)
    mouse.click_button(_KERAS)
    assert_exported(qtbot, window, person)


def press(key: Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    target = QApplication.focusWidget()
    assert target is not None
    QTest.keyClick(target, key, modifier)
    QApplication.processEvents()


def tab_to(wanted: QWidget) -> None:
    for _ in range(200):
        if QApplication.focusWidget() is wanted:
            return
        press(Key.Key_Tab)
    raise AssertionError(wanted)


def test_that_the_example_becomes_an_exported_model_by_the_keyboard_alone(
    qtbot: QtBot, window: MainWindow, person: Person
) -> None:
    tab_to(button(window, "welcome_skip"))
    press(Key.Key_Space)
    (epochs,) = (
        each
        for each in window.session_page.training.findChildren(Counter)
        if each.accessibleName() == "Epochs"
    )
    tab_to(epochs)
    press(Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(QApplication.focusWidget(), "2")
    press(Key.Key_Return)
    assert window.session.profile.training.epochs == 2
    # The data is read first.
    qtbot.waitUntil(button(window, "start_button").isEnabled, timeout=PATIENCE_MS)
    press(Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: window.session.run_state is RunState.ENDED, timeout=PATIENCE_MS)
    assert window.session.run_status is not None
    assert window.session.run_status.outcome is Outcome.COMPLETED
    exports = button(window, _KERAS)
    qtbot.waitUntil(exports.isEnabled, timeout=10_000)
    tab_to(window.live_page.tabs.tabBar())
    while not exports.isVisible():
        press(Key.Key_Right)
    tab_to(exports)
    press(Key.Key_Space)
    assert_exported(qtbot, window, person)
