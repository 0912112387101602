"""From a click on Start to a trained model: real window, real supervisor, real TensorFlow."""

import os
import signal
from pathlib import Path

import pyqtgraph as pg
import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QLabel, QPushButton, QTableView

from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.runs.directory.profile_file import read_profile, write_profile
from gpupanel.ui.main_window import MainWindow
from gpupanel.ui.run_state import RunState
from tests.ui.new_window import new_window

pytestmark = pytest.mark.tensorflow

START_UP_MS = 90_000
"""Importing TensorFlow takes that long on a machine that does much else."""


def _profile(tmp_path: Path, epochs: int) -> Path:
    profile = Profile(
        name="from a click",
        devices=Profile().devices.model_copy(update={"visible": ("cpu",), "cpu_replicas": 2}),
        strategy=StrategySettings(kind=StrategyKind.MIRRORED),
        training=TrainingSettings(epochs=epochs, tensorboard=False),
    )
    path = tmp_path / "click.toml"
    write_profile(path, profile)
    return path


def _click(qtbot, window: MainWindow, name: str) -> None:
    button = window.findChild(QPushButton, name)
    qtbot.waitUntil(button.isEnabled, timeout=5000)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def _drawn_losses(window: MainWindow) -> int:
    """How many points of the loss the plot really draws."""
    plot = window.findChild(QObject, "loss_plot")
    curves = [item for item in plot.canvas.plotItem.items if isinstance(item, pg.PlotCurveItem)]
    return max(
        (len(curve.getData()[0]) for curve in curves if curve.getData()[0] is not None), default=0
    )


def _wait_for_curve(qtbot, window: MainWindow) -> None:
    qtbot.waitUntil(lambda: _drawn_losses(window) >= 5, timeout=START_UP_MS)


def _wait_for_end(qtbot, window: MainWindow) -> None:
    qtbot.waitUntil(lambda: window.session.run_state is RunState.ENDED, timeout=START_UP_MS)


def _text(window: MainWindow, name: str) -> str:
    return window.findChild(QLabel, name).text()


@pytest.mark.long
def test_that_a_click_on_start_trains_and_stop_saves(qtbot, window, person, tmp_path, runs_dir):
    window.open_target(_profile(tmp_path, epochs=100_000))
    _click(qtbot, window, "start_button")
    _wait_for_curve(qtbot, window)
    assert window.tabs.currentWidget() is window.live_page
    assert not window.findChild(QPushButton, "start_button").isEnabled()
    assert _text(window, "run_state") == "● Training"

    _click(qtbot, window, "stop_button")
    _wait_for_end(qtbot, window)

    status = window.session.run_status
    assert status.outcome is Outcome.STOPPED
    assert status.step > 0
    assert _text(window, "run_state") == "● Stopped"
    (run,) = runs_dir.iterdir()
    assert (run / "model.keras").is_file()

    window.session.edit(window.session.profile.model_copy(update={"name": "kept"}))
    person.saves = tmp_path / "kept.toml"
    window.profiles.save_as()
    saved = window.session.profile
    window.profiles.new()
    assert window.session.profile != saved
    window.open_target(tmp_path / "kept.toml")
    assert window.session.profile == saved == read_profile(tmp_path / "kept.toml")


@pytest.mark.slow
def test_that_a_run_completes_and_can_be_opened_again(qtbot, window, tmp_path):
    window.open_target(_profile(tmp_path, epochs=20))
    _click(qtbot, window, "start_button")
    _wait_for_end(qtbot, window)
    status = window.session.run_status
    assert status.outcome is Outcome.COMPLETED
    assert status.metrics.val_accuracy > 0.9
    assert _text(window, "run_state") == "● Completed"
    _wait_for_curve(qtbot, window)
    drawn = _drawn_losses(window)

    window.tabs.setCurrentWidget(window.runs)
    table = window.findChild(QTableView, "runs_table")
    qtbot.waitUntil(lambda: table.model().rowCount() == 1, timeout=5000)
    qtbot.waitUntil(lambda: table.model().index(0, 2).data() == "Completed", timeout=5000)
    table.selectRow(0)
    qtbot.keyClick(table, Qt.Key.Key_Return)

    assert window.tabs.currentWidget() is window.live_page
    qtbot.waitUntil(lambda: _drawn_losses(window) == drawn, timeout=10_000)
    assert "Completed" in _banner_words(window)
    assert window.findChild(QPushButton, "start_button").isEnabled()


@pytest.mark.slow
def test_that_a_trainer_that_is_killed_is_reported_as_lost(qtbot, window, tmp_path):
    window.open_target(_profile(tmp_path, epochs=100_000))
    _click(qtbot, window, "start_button")
    _wait_for_curve(qtbot, window)

    os.kill(window.session.run_status.pids[0], signal.SIGKILL)
    _wait_for_end(qtbot, window)

    assert window.session.run_status.outcome is Outcome.LOST
    assert _text(window, "run_state") == "● Lost"
    problem = window.findChild(QLabel, "run_problem")
    assert problem.isVisible()
    assert "signal 9" in problem.text().lower() or "sigkill" in problem.text().lower()
    assert window.findChild(QPushButton, "start_button").isEnabled()


@pytest.mark.slow
def test_that_stop_during_start_up_ends_the_run_before_its_first_step(qtbot, window, tmp_path):
    window.open_target(_profile(tmp_path, epochs=100_000))
    _click(qtbot, window, "start_button")
    _click(qtbot, window, "stop_button")
    _wait_for_end(qtbot, window)

    assert window.session.run_status.outcome is Outcome.STOPPED
    assert window.session.run_status.step == 0


@pytest.mark.slow
def test_that_a_run_outlives_its_window_and_the_next_window_follows_it(
    qtbot, window, person, settings, tmp_path, runs_dir
):
    window.open_target(_profile(tmp_path, epochs=100_000))
    _click(qtbot, window, "start_button")
    _wait_for_curve(qtbot, window)
    step = window.session.run_status.step
    window.close()
    assert len(person.left) == 1

    again = new_window(settings, runs_dir, person)
    qtbot.addWidget(again)
    with qtbot.waitExposed(again):
        again.show()
    again.begin()
    _wait_for_curve(qtbot, again)
    qtbot.waitUntil(lambda: again.session.run_status.step > step, timeout=10_000)
    assert again.tabs.currentWidget() is again.live_page
    _click(qtbot, again, "stop_button")
    _wait_for_end(qtbot, again)

    assert again.session.run_status.outcome is Outcome.STOPPED
    again.close()


def _banner_words(window: MainWindow) -> str:
    return " ".join(label.text() for label in window.live_page.banner.findChildren(QLabel))
