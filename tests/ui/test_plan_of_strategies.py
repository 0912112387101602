"""What the plan panel says of each strategy, and of shares that a run has measured."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gpupanel.domain.event_details import ReplicaSpeed
from gpupanel.domain.events import SharesChosen
from gpupanel.domain.memory import LimitedMemory
from gpupanel.domain.model import SavedModel
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategySettings
from gpupanel.planning.prepare import prepare
from gpupanel.runs.following.status import RunStatus
from gpupanel.ui.panels.plan_panel import PlanPanel
from gpupanel.ui.panels.plan_panel.plan_tables import MemoryList, ProcessTable
from gpupanel.ui.widgets.replica_table import ReplicaTable
from gpupanel.ui.widgets.share_bar import ShareBar
from tests.ui.values import TWO_GPUS, mirrored

BALANCED = mirrored("balanced")
MEASURED = RunStatus().after(
    SharesChosen(
        time_s=1,
        step=0,
        shares=(46, 18),
        speeds=(
            ReplicaSpeed(replica=0, examples_per_second=11_800),
            ReplicaSpeed(replica=1, examples_per_second=4_620),
        ),
        reason="measured",
    )
)


@pytest.fixture
def panel(qtbot: QtBot) -> PlanPanel:
    panel = PlanPanel()
    qtbot.addWidget(panel)
    panel.setInventory(TWO_GPUS)
    return panel


def _summary(panel: PlanPanel) -> str:
    return panel.findChild(QLabel, "plan_summary").text()


def _words(widget: QWidget) -> list[str]:
    return [label.text() for label in widget.findChildren(QLabel) if not label.isHidden()]


def _of_kind(kind: str, **strategy: object) -> Profile:
    return Profile(strategy=StrategySettings.model_validate({"kind": kind, **strategy}))


def test_that_balanced_shares_are_said_to_be_measured_first(panel):
    panel.setPreparation(prepare(BALANCED, TWO_GPUS))
    assert "with measured shares" in _summary(panel)
    assert any("Measured when training starts" in words for words in _words(panel))
    assert panel.findChild(QPushButton, "keep_measured_shares").isHidden()


def test_that_measured_shares_take_the_place_of_equal_ones_and_can_be_kept(panel, qtbot):
    panel.setPreparation(prepare(BALANCED, TWO_GPUS))
    panel.setRunStatus(MEASURED)
    bar = panel.findChild(ShareBar)
    assert bar.shares() == (46, 18)
    assert "18 of 64 examples, 4,620 ex/s" in bar.accessibleDescription()
    with qtbot.waitSignal(panel.shares.sharesChosen) as kept:
        qtbot.mouseClick(
            panel.findChild(QPushButton, "keep_measured_shares"), Qt.MouseButton.LeftButton
        )
    assert kept.args == [(46, 18)]


def test_that_a_border_that_is_moved_gives_the_measured_shares(panel, qtbot):
    panel.setPreparation(prepare(BALANCED, TWO_GPUS))
    panel.setRunStatus(MEASURED)
    with qtbot.waitSignal(panel.shares.sharesChosen) as chosen:
        qtbot.keyClick(panel.findChild(ShareBar), Qt.Key.Key_Left)
    assert chosen.args == [(45, 19)]


@pytest.mark.parametrize("profile", [mirrored(), mirrored("balanced", batch=128)])
def test_that_what_another_run_measured_is_not_shown(panel, profile):
    panel.setRunStatus(MEASURED)
    panel.setPreparation(prepare(profile, TWO_GPUS))
    assert panel.findChild(ShareBar).shares() == prepare(profile, TWO_GPUS).plan.shares
    assert panel.findChild(QPushButton, "keep_measured_shares").isHidden()


def test_that_processes_are_listed_with_the_devices_that_they_see(panel):
    panel.setPreparation(prepare(_of_kind("multi_worker"), TWO_GPUS))
    assert "2 replicas in 2 processes" in _summary(panel)
    table = panel.findChild(ProcessTable)
    assert [words for words in _words(table) if words] == [
        "Worker 0",
        "RTX 4090",
        "computes (chief)",
        "Worker 1",
        "RTX 3060",
        "computes",
    ]
    assert "worker 1: /device:GPU:0" in _words(panel.findChild(ReplicaTable))
    panel.setPreparation(prepare(mirrored(), TWO_GPUS))
    assert table.isHidden()


def test_that_nothing_is_divided_among_workers_with_parameter_servers(panel):
    panel.setPreparation(prepare(_of_kind("parameter_server", parameter_servers=2), TWO_GPUS))
    assert "2 workers on RTX 4090 and RTX 3060 take batches of 64 examples" in _summary(panel)
    assert "2 parameter servers keep the weights" in _summary(panel)
    assert panel.findChild(ShareBar).isHidden()
    assert panel.findChild(ReplicaTable).isHidden()
    assert "no device" in _words(panel.findChild(ProcessTable))


def test_that_places_for_layers_stand_where_replicas_would(panel):
    panel.setPreparation(prepare(_of_kind("model_parallel"), TWO_GPUS))
    assert "per step pass through the layers on RTX 4090 and RTX 3060" in _summary(panel)
    words = _words(panel)
    assert "Devices for layers" in words
    assert {"/device:GPU:0", "/device:GPU:1"} <= set(words)
    assert "Replica" not in words


@pytest.mark.parametrize(
    ("task", "words"),
    [("evaluate", "evaluate 256 examples a call"), ("predict", "predict for 256 examples a call")],
)
def test_that_other_tasks_are_shown_as_such(panel, task, words):
    profile = mirrored().model_copy(update={"task": task, "model": SavedModel(path="m.keras")})
    panel.setTask(task)
    panel.setPreparation(prepare(profile, TWO_GPUS))
    assert words in _summary(panel)


def test_that_memory_of_workers_is_shown_by_the_environment_of_each(panel):
    first, second = (gpu.key for gpu in TWO_GPUS.gpus)
    memory = {
        first: LimitedMemory(limit_mib=8192, growth=True),
        second: LimitedMemory(limit_mib=4096),
    }
    profile = _of_kind("multi_worker").model_copy(update={"memory": memory})
    panel.setPreparation(prepare(profile, TWO_GPUS))
    words = _words(panel.findChild(MemoryList))
    assert any(each.startswith("up to 8.0 GiB") for each in words)
    assert any(each.startswith("takes 4.0 GiB") for each in words)
