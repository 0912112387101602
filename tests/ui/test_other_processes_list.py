"""Who uses the chosen devices already, in the plan."""

import pytest
from PySide6.QtWidgets import QLabel

from gpupanel.domain.telemetry import DeviceProcess
from gpupanel.planning.other_processes import OtherProcesses
from gpupanel.planning.prepare import Preparation
from gpupanel.runs.following.status import RunStage, RunStatus
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.panels.plan_panel import PlanPanel
from gpupanel.ui.panels.plan_panel.other_processes_list import OtherProcessesList
from tests.fakes.devices import RTX_3060, RTX_4090, TWO_UNEQUAL

LABELS = DeviceLabels(TWO_UNEQUAL)
XORG = DeviceProcess(pid=5, name="Xorg", user="root", command="/usr/bin/Xorg", memory_used_mib=300)
BLENDER = DeviceProcess(pid=6, name="blender", user="ana", memory_used_mib=4096)


def held(*processes: DeviceProcess, gpu=RTX_4090, memory_mib: int = 4400) -> OtherProcesses:
    return OtherProcesses(
        device_key=gpu.key, device_name=gpu.name, memory_mib=memory_mib, processes=processes
    )


def rows(widget: OtherProcessesList) -> list[str]:
    """The texts of the grid, row by row."""
    grid = widget._grid
    found = []
    for row in range(grid.rowCount()):
        items = [grid.itemAtPosition(row, column) for column in (1, 2)]
        texts = [item.widget().text() for item in items if item is not None]
        if texts:
            found.append(" ".join(texts).strip())
    return found


@pytest.fixture
def others(qtbot) -> OtherProcessesList:
    widget = OtherProcessesList()
    qtbot.addWidget(widget)
    return widget


def test_that_nothing_stands_there_while_nobody_uses_the_devices(others):
    others.setOtherProcesses((), LABELS)
    assert others.isHidden()
    others.setOtherProcesses((held(XORG),), LABELS)
    assert not others.isHidden()


def test_that_each_device_is_shown_with_its_processes(others):
    others.setOtherProcesses(
        (held(BLENDER, XORG), held(XORG, gpu=RTX_3060, memory_mib=310)), LABELS
    )
    assert rows(others) == [
        "RTX 4090 4.3 GiB",
        "blender · ana 4.0 GiB",
        "Xorg · root 300 MiB",
        "RTX 3060 310 MiB",
        "Xorg · root 300 MiB",
    ]


def test_that_rows_keep_their_place_while_values_change(others):
    others.setOtherProcesses((held(BLENDER, XORG),), LABELS)
    before = others.findChildren(QLabel)
    risen = XORG.model_copy(update={"memory_used_mib": 5000})
    others.setOtherProcesses((held(risen, BLENDER, memory_mib=9100),), LABELS)
    assert others.findChildren(QLabel) == before
    assert rows(others) == ["RTX 4090 8.9 GiB", "blender · ana 4.0 GiB", "Xorg · root 4.9 GiB"]


def test_that_who_comes_stands_last_and_who_goes_leaves_no_gap(others):
    others.setOtherProcesses((held(BLENDER, XORG),), LABELS)
    newest = DeviceProcess(pid=9, name="game", memory_used_mib=9000)
    others.setOtherProcesses((held(newest, BLENDER),), LABELS)
    assert rows(others) == ["RTX 4090 4.3 GiB", "blender · ana 4.0 GiB", "game 8.8 GiB"]


def test_that_many_processes_are_counted(others):
    many = tuple(XORG.model_copy(update={"pid": pid}) for pid in range(8))
    others.setOtherProcesses((held(*many),), LABELS)
    assert rows(others)[-1] == "3 more"
    assert len(rows(others)) == 7


def test_that_the_plan_reports_them_and_says_since_when_while_a_run_goes_on(qtbot):
    panel = PlanPanel()
    qtbot.addWidget(panel)
    panel.setInventory(TWO_UNEQUAL)
    panel.setPreparation(Preparation(other_processes=(held(XORG),)))
    others = panel.findChild(OtherProcessesList, "others_list")
    assert not others.isHidden()
    captions = [label.text() for label in others.findChildren(QLabel)]
    assert "Other processes on these devices" in captions
    panel.setRunStatus(RunStatus(stage=RunStage.RUNNING))
    captions = [label.text() for label in others.findChildren(QLabel)]
    assert "Other processes before the run" in captions
    panel.setRunStatus(RunStatus(stage=RunStage.ENDED))
    captions = [label.text() for label in others.findChildren(QLabel)]
    assert "Other processes on these devices" in captions
