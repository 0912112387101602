"""A run that is suspended by a click frees its devices, and goes on with others by another."""

from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton

from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.runs.directory.profile_file import write_profile
from gpupanel.runs.processes.run_processes import processes_of
from gpupanel.ui.main_window import MainWindow
from gpupanel.ui.run_state import RunState

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

START_UP_MS = 90_000
"""Importing TensorFlow takes that long on a machine that does much else."""


def _profile(tmp_path: Path) -> Path:
    path = tmp_path / "suspend.toml"
    training = TrainingSettings(epochs=100_000, tensorboard=False)
    devices = Profile().devices.model_copy(update={"visible": ("cpu",)})
    write_profile(path, Profile(name="suspended", devices=devices, training=training))
    return path


def _click(qtbot, window: MainWindow, name: str) -> None:
    button = window.findChild(QPushButton, name)
    qtbot.waitUntil(button.isEnabled, timeout=10_000)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def _wait_for_steps(qtbot, window: MainWindow, beyond: int) -> None:
    def steps() -> bool:
        status = window.session.run_status
        running = window.session.run_state is RunState.RUNNING
        return running and status is not None and status.step > beyond

    qtbot.waitUntil(steps, timeout=START_UP_MS)


def _wait_for_end(qtbot, window: MainWindow) -> None:
    qtbot.waitUntil(lambda: window.session.run_state is RunState.ENDED, timeout=START_UP_MS)


def test_that_a_suspended_run_goes_on_with_two_replicas(qtbot, window, tmp_path):
    window.open_target(_profile(tmp_path))
    _click(qtbot, window, "start_button")
    _wait_for_steps(qtbot, window, beyond=0)
    _click(qtbot, window, "suspend_button")
    assert window.session.run_state is RunState.SUSPENDING
    _wait_for_end(qtbot, window)
    status, layout = window.session.run_status, window.control.shown
    assert status.outcome is Outcome.SUSPENDED
    assert window.findChild(QLabel, "run_state").text() == "● Suspended"
    state = window.findChild(QLabel, "shown_state").text()
    assert state.startswith(f"Suspended at step {status.checkpoint.step:,}; the devices are free")
    assert not processes_of(layout)
    assert not [pid for pid in status.pids if psutil.pid_exists(pid)]

    profile = window.session.profile
    devices = profile.devices.model_copy(update={"cpu_replicas": 2})
    strategy = StrategySettings(kind=StrategyKind.MIRRORED, shares=(48, 16))
    window.session.edit(
        profile.model_copy(update={"devices": devices, "strategy": strategy, "name": "else"})
    )
    _click(qtbot, window, "resume_elsewhere_button")
    _wait_for_steps(qtbot, window, beyond=status.checkpoint.step)
    story = window.findChild(QLabel, "run_story").text()
    assert f"Resumed from step {status.checkpoint.step:,}." in story
    assert "Shares: 48 + 16" in story
    assert len(window.control.shown_facts.plan.replicas) == 2
    _click(qtbot, window, "stop_button")
    _wait_for_end(qtbot, window)
    assert window.session.run_status.outcome is Outcome.STOPPED
    assert window.control.shown == layout
