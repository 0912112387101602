"""From the first setting to an exported model without a mouse: real window, real training."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QDialog, QPushButton, QWidget

from gpupanel.domain.outcome import Outcome
from gpupanel.ui.main_window import MainWindow
from gpupanel.ui.run_state import RunState
from tests.ui.accessible_tree import spoken_name

pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.slow,
    pytest.mark.qt_log_ignore("This plugin does not support"),
]

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
MOST_STOPS = 150


def _focused() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None
    return widget


def _press(qtbot, key: Qt.Key, modifiers=Qt.KeyboardModifier.NoModifier) -> None:
    qtbot.keyClick(_focused(), key, modifiers)


def _tab_to(qtbot, name: str) -> QWidget:
    """Press Tab until a screen reader would say that name."""
    for _ in range(MOST_STOPS):
        _press(qtbot, Qt.Key.Key_Tab)
        if spoken_name(_focused()).replace("&", "") == name:
            return _focused()
    raise AssertionError(f"Tab does not come to {name}")


def test_that_a_model_is_trained_and_exported_by_keyboard_alone(
    qtbot, window: MainWindow, person, tmp_path: Path
):
    window.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is window)
    window.setFocus()
    qtbot.keyClick(window, Qt.Key.Key_1, CTRL)
    qtbot.keyClick(window, Qt.Key.Key_Tab)
    epochs = _tab_to(qtbot, "Epochs")
    qtbot.keyClicks(epochs, "2")
    _press(qtbot, Qt.Key.Key_Return)
    assert window.session.profile.training.epochs == 2
    _press(qtbot, Qt.Key.Key_Z, CTRL)
    _press(qtbot, Qt.Key.Key_Z, CTRL | SHIFT)
    assert window.session.profile.training.epochs == 2
    start = window.findChild(QPushButton, "start_button")
    qtbot.waitUntil(start.isEnabled, timeout=30_000)

    _press(qtbot, Qt.Key.Key_Return, CTRL)
    qtbot.waitUntil(lambda: window.session.run_state is RunState.ENDED, timeout=120_000)
    assert window.session.run_status.outcome is Outcome.COMPLETED
    assert window.tabs.currentWidget() is window.live_page

    person.saves = tmp_path / "digits.keras"
    keras = window.findChild(QPushButton, "export_keras")
    qtbot.waitUntil(keras.isEnabled, timeout=10_000)
    _tab_to(qtbot, "Curves")
    while not keras.isVisible():
        _press(qtbot, Qt.Key.Key_Right)
    _tab_to(qtbot, "Keras model…")
    _press(qtbot, Qt.Key.Key_Space)
    dialog = window.findChild(QDialog, "model_export_dialog")
    qtbot.waitUntil(lambda: bool(dialog.text()), timeout=120_000)
    assert person.saves.is_file()
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
    window.activateWindow()  # as a window manager does, which is not here
    qtbot.waitUntil(lambda: QApplication.activeWindow() is window)
    qtbot.keyClick(window, Qt.Key.Key_Q, CTRL)
    assert window.closing.is_closed
