"""A sweep from the dialog in the window to a trained trial in its table: real, small trainings."""

import time

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QPushButton, QTableView

from gpupanel.domain.model import MlpModel
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.training import TrainingSettings
from gpupanel.runs.locations import queue_dir
from gpupanel.runs.queue.waking import scheduler_lives
from gpupanel.ui.dialogs.new_sweep_dialog import NewSweepDialog
from gpupanel.ui.dialogs.sweeps_dialog import SweepsDialog
from gpupanel.ui.inputs.swept_list_edit import SweptListEdit
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.qt_log_ignore(
    "This plugin does not support (raise|grabbing the keyboard|propagateSizeHints)"
)
RATE = "training.learning_rate"


def cells(dialog: SweepsDialog) -> list[list[str]]:
    model = dialog.findChild(QTableView, "sweeps_trials").model()
    return [
        [str(model.index(row, column).data()) for column in range(model.columnCount())]
        for row in range(model.rowCount())
    ]


@pytest.mark.slow
@pytest.mark.tensorflow
def test_that_a_sweep_goes_from_its_dialog_to_trained_trials_in_its_table(
    qtbot, window, state_dir, runs_dir
):
    profile = Profile(
        name="digits",
        devices=DeviceSettings(visible=("cpu",)),
        model=MlpModel(hidden=(16,)),
        training=TrainingSettings(epochs=1, tensorboard=False),
    )
    window.session.open_profile(profile, None)
    window.window_actions.new_sweep.trigger()
    dialog = window.findChild(NewSweepDialog)
    qtbot.waitUntil(dialog.isVisible)
    dialog.activateWindow()
    method = dialog.form.editors()["method"]
    method.setCurrentIndex(method.findData("grid"))
    search = dialog.findChild(QLineEdit, "new_sweep_search")
    search.setFocus()
    QTest.keyClicks(search, "learning r")
    QTest.keyClick(search, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: dialog.row(RATE) is not None and search.text() == "")
    qtbot.wait(1)
    values = dialog.row(RATE).findChild(SweptListEdit)
    values.setFocus()
    values.selectAll()
    QTest.keyClicks(values, "0.000001, 0.01")
    queue = dialog.findChild(QPushButton, "new_sweep_queue")
    qtbot.waitUntil(queue.isEnabled, timeout=30_000)
    qtbot.mouseClick(queue, Qt.MouseButton.LeftButton)

    qtbot.waitUntil(lambda: not dialog.isVisible(), timeout=30_000)
    qtbot.waitUntil(lambda: window.findChild(SweepsDialog) is not None, timeout=30_000)
    shown = window.findChild(SweepsDialog)
    patience_ms = int(PATIENCE_S * 1_000)
    qtbot.waitUntil(
        lambda: (
            [row for row in cells(shown) if "Completed" in row] == cells(shown) != []
            and len(cells(shown)) == 2
        ),
        timeout=patience_ms,
    )
    first, second = cells(shown)
    assert "1e-06" in first
    assert "0.01" in second
    # The table has what was learned: by the rate that learns the loss is the smaller one.
    assert float(second[2]) < float(first[2])
    assert window.session.profile.sweep is None
    assert len([each for each in runs_dir.iterdir() if (each / "model.keras").exists()]) == 2
    end_s = time.monotonic() + PATIENCE_S
    while scheduler_lives(queue_dir()):
        assert time.monotonic() < end_s
        time.sleep(0.1)
