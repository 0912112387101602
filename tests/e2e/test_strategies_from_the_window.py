"""Every strategy, chosen in the window and started with a click: real processes and TensorFlow."""

import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QComboBox, QPushButton

from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind
from gpupanel.domain.training import TrainingSettings
from gpupanel.runs.directory.profile_file import write_profile
from gpupanel.ui.run_state import RunState

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

END_MS = 120_000
"""Importing TensorFlow in four processes at once takes long on a machine that does much else."""


@pytest.mark.parametrize("kind", StrategyKind)
def test_that_a_chosen_strategy_trains(qtbot, window, tmp_path, kind: StrategyKind) -> None:
    profile = Profile(
        devices=DeviceSettings(visible=("cpu",), cpu_replicas=2),
        training=TrainingSettings(epochs=15, learning_rate=3e-3, tensorboard=False),
    )
    write_profile(tmp_path / "any.toml", profile)
    window.open_target(tmp_path / "any.toml")
    chooser = window.findChild(QComboBox, "strategy_chooser")
    qtbot.keyClick(chooser, Qt.Key.Key_Home)
    for _ in StrategyKind:
        if window.session.profile.strategy.kind is not kind:
            qtbot.keyClick(chooser, Qt.Key.Key_Down)
    assert window.session.profile.strategy.kind is kind

    start = window.findChild(QPushButton, "start_button")
    qtbot.waitUntil(start.isEnabled, timeout=5000)
    qtbot.mouseClick(start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.session.run_state is RunState.ENDED, timeout=END_MS)

    status = window.session.run_status
    assert status.outcome is Outcome.COMPLETED, status.problems
    assert status.metrics.val_accuracy > 0.9
    assert window.findChild(QObject, "loss_plot").isVisible()
