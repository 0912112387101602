"""A run that begins on two raylets, goes on on this machine, and then on the raylets again."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton

from gpupanel.domain.cluster import ClusterSettings
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.runs.directory.profile_file import write_profile
from gpupanel.ui.main_window import MainWindow
from gpupanel.ui.run_state import RunState
from tests.clusters import RealCluster, real_cluster

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

START_UP_MS = 90_000
WORKERS = StrategySettings(kind=StrategyKind.MULTI_WORKER)


@pytest.fixture
def real() -> Iterator[RealCluster]:
    with real_cluster("alpha", "beta") as raylets:
        yield raylets


def _click(qtbot, window: MainWindow, name: str) -> None:
    button = window.findChild(QPushButton, name)
    qtbot.waitUntil(button.isEnabled, timeout=60_000)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def _wait_for_steps(qtbot, window: MainWindow, beyond: int) -> None:
    def steps() -> bool:
        status = window.session.run_status
        running = window.session.run_state is RunState.RUNNING
        return running and status is not None and status.step > beyond

    qtbot.waitUntil(steps, timeout=START_UP_MS)


def _end_by(qtbot, window: MainWindow, name: str, outcome: Outcome) -> int:
    """Click, wait for the end, and give the step of the checkpoint."""
    _click(qtbot, window, name)
    qtbot.waitUntil(lambda: window.session.run_state is RunState.ENDED, timeout=START_UP_MS)
    assert window.session.run_status.outcome is outcome
    return window.session.run_status.checkpoint.step


def test_that_a_run_goes_from_the_cluster_to_this_machine_and_back(
    qtbot, window, tmp_path: Path, real: RealCluster
) -> None:
    path = tmp_path / "nodes.toml"
    profile = Profile(
        name="nodes",
        cluster=ClusterSettings(address=real.address),
        devices=DeviceSettings(visible=("cpu",)),
        strategy=WORKERS,
        training=TrainingSettings(epochs=100_000, tensorboard=False),
    )
    write_profile(path, profile)
    window.open_target(path)
    _click(qtbot, window, "start_button")
    _wait_for_steps(qtbot, window, beyond=0)
    on_nodes = _end_by(qtbot, window, "suspend_button", Outcome.SUSPENDED)
    real.until_no_trainer_is_left(10.0)

    alone = {"cluster": None, "strategy": StrategySettings()}
    window.session.edit(window.session.profile.model_copy(update=alone))
    _click(qtbot, window, "resume_elsewhere_button")
    _wait_for_steps(qtbot, window, beyond=on_nodes)
    assert not window.control.shown_facts.plan.is_on_nodes
    assert f"Resumed from step {on_nodes:,}." in window.findChild(QLabel, "run_story").text()
    here = _end_by(qtbot, window, "suspend_button", Outcome.SUSPENDED)

    back = {"cluster": profile.cluster, "strategy": WORKERS}
    window.session.edit(window.session.profile.model_copy(update=back))
    _click(qtbot, window, "resume_elsewhere_button")
    _wait_for_steps(qtbot, window, beyond=here)
    assert [process.node for process in window.control.shown_facts.plan.processes] == [
        "alpha",
        "beta",
    ]
    _end_by(qtbot, window, "stop_button", Outcome.STOPPED)
    real.until_no_trainer_is_left(10.0)
