"""What is shown of a run on more devices than there are places, colours or pixels for."""

import numpy as np
import pytest
from PySide6.QtWidgets import QLabel

from gpupanel.domain.cluster import ClusterSettings, devices_of, sample_of
from gpupanel.domain.device import CPU_KEY, DeviceInventory
from gpupanel.domain.events import RunStarted
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.domain.value import MOST_PLACES
from gpupanel.planning.prepare import prepare
from gpupanel.runs.following.readings import SampleBatch
from gpupanel.runs.following.status import RunStatus
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.ui import device_colors
from gpupanel.ui.device_choices import DeviceChoices
from gpupanel.ui.panels.device_panel import DevicePanel
from gpupanel.ui.panels.device_panel.absent_card import AbsentCard
from gpupanel.ui.panels.live_panel import LivePanel
from gpupanel.ui.panels.plan_panel.panel import ProblemList
from gpupanel.ui.panels.run_parts import member_states
from gpupanel.ui.panels.runs_panel import columns
from gpupanel.ui.plots.device_spread import MOST_CURVES
from gpupanel.ui.run_devices import devices_of_run, shown_plan
from gpupanel.ui.widgets.labels import Note
from gpupanel.ui.widgets.layouts import MOST_ROWS, CellGrid
from tests.fakes.clusters import cluster_node, cluster_of, gpu_key, many_nodes
from tests.fakes.devices import CPU_ONLY, TWO_UNEQUAL

MANY = many_nodes(8, 8)


def _plan(inventory: DeviceInventory, **more: object) -> LaunchPlan:
    profile = Profile(
        cluster=ClusterSettings(),
        strategy=StrategySettings(kind=StrategyKind.MULTI_WORKER),
        training=TrainingSettings(global_batch_size=1_024),
        **more,
    )
    plan = prepare(profile, inventory).plan
    assert plan is not None
    return plan


def test_that_very_many_devices_are_drawn_as_least_mean_and_greatest(qtbot):
    inventory = devices_of(MANY)
    assert len(inventory.devices) > MOST_CURVES
    panel = LivePanel()
    qtbot.addWidget(panel)
    panel.setDevices(devices_of_run(_plan(inventory), inventory))
    panel.setPlan(_plan(inventory))
    panel.addEvents([RunStarted(time_s=0.0, supervisor_pid=1)])
    samples = [sample_of(many_nodes(8, 8, time_s=float(at))) for at in (1, 2, 3)]
    panel.addSamples(SampleBatch.of(samples))
    spread = panel.curves.spread
    gpus = {gpu.key for gpu in inventory.gpus}
    busy = [
        [r.gpu_utilization_percent for r in sample.readings if r.key in gpus] for sample in samples
    ]
    np.testing.assert_allclose(spread.utilization.least.values, np.min(busy, axis=1))
    np.testing.assert_allclose(spread.utilization.mean.values, np.mean(busy, axis=1))
    np.testing.assert_allclose(spread.utilization.greatest.values, np.max(busy, axis=1))
    assert 0.0 < spread.memory.mean.last() < 100.0
    labels = [curve.label for curve in panel.plot_wall.utilization_plot.curves]
    assert labels == ["least", "greatest", "mean of 64"]


@pytest.mark.filterwarnings("error")
def test_that_a_moment_in_which_no_device_reported_is_a_gap_of_the_spread(qtbot):
    inventory = devices_of(MANY)
    panel = LivePanel()
    qtbot.addWidget(panel)
    panel.setDevices(inventory)
    panel.addEvents([RunStarted(time_s=0.0, supervisor_pid=1)])
    panel.addSamples(SampleBatch(b'{"time_s":1.0,"readings":[]}\n'))
    assert np.isnan(panel.curves.spread.utilization.mean.values).all()


def test_that_very_many_processes_are_counted_by_what_they_do(qtbot):
    plan = _plan(devices_of(MANY))
    states = member_states(plan, RunStatus(pids=(1, 2, 3)))
    assert [state.words for state in states] == ["● 3 running", "○ 61 waits"]
    few = _plan(devices_of(cluster_of(cluster_node("a"), cluster_node("b"))))
    words = [state.words for state in member_states(few, RunStatus(pids=(1, 2)))]
    assert words == ["● worker 0 on a running", "● worker 1 on b running"]


def test_that_a_table_of_very_many_rows_says_how_many_there_are_besides(qtbot):
    grid = CellGrid(stretched=0)
    qtbot.addWidget(grid)
    grid.set_rows(range(500), lambda _, number: (QLabel(str(number)),), Note)
    texts = [label.text() for label in grid.findChildren(QLabel)]
    assert texts == [*map(str, range(MOST_ROWS - 1)), f"and {500 - MOST_ROWS + 1} more"]
    grid.set_rows(range(MOST_ROWS), lambda _, number: (QLabel(str(number)),), Note)
    shown = [each.text() for each in grid.findChildren(QLabel) if not each.isHidden()]
    assert shown == [*map(str, range(MOST_ROWS))]


def test_that_processors_of_nodes_are_told_apart_in_what_is_drawn_of_a_plan():
    inventory = devices_of(cluster_of(cluster_node("a", 0), cluster_node("b", 0)))
    plan = _plan(inventory, devices=DeviceSettings(visible=(CPU_KEY,)))
    drawn = shown_plan(plan)
    assert [replica.device_key for replica in drawn.replicas] == ["cpu@a", "cpu@b"]
    assert [device.key for device in drawn.devices] == ["cpu@a", "cpu@b"]
    assert drawn.shares == plan.shares


def test_that_a_plan_of_one_machine_is_drawn_as_it_is():
    plan = prepare(Profile(), TWO_UNEQUAL).plan
    assert shown_plan(plan) is plan


def test_that_a_run_on_nodes_is_shown_without_devices_of_others_and_with_its_own_anywhere():
    inventory = devices_of(cluster_of(cluster_node("a"), cluster_node("b"), cluster_node("c", 0)))
    plan = _plan(inventory)
    keys = [device.key for device in devices_of_run(plan, inventory).devices]
    assert keys == [gpu_key("a", 0), "cpu@a", gpu_key("b", 0), "cpu@b"]
    elsewhere = devices_of_run(plan, CPU_ONLY).devices
    memory_mib = inventory.gpus[0].memory_total_mib
    assert [(device.key, device.node, device.memory_total_mib) for device in elsewhere] == [
        (gpu_key("a", 0), "a", memory_mib),
        (gpu_key("b", 0), "b", memory_mib),
    ]
    assert memory_mib
    local = prepare(Profile(), TWO_UNEQUAL).plan
    found = devices_of_run(local, inventory).devices
    assert [device.node for device in found] == [None]


def test_that_more_devices_than_colours_keep_their_colours_when_one_goes():
    colors = device_colors.DeviceColors()
    keys = [f"GPU-{number}" for number in range(300)]
    colors.see(keys)
    before = colors.numbers(keys)
    assert len(set(before.values())) == 300
    colors.see(keys[1:])
    after = colors.numbers(keys[1:])
    assert after == {key: before[key] for key in keys[1:]}


@pytest.mark.parametrize("switched", ["a", "b"])
def test_that_switching_nodes_leaves_what_is_of_other_machines_in_the_profile(switched):
    inventory = devices_of(cluster_of(cluster_node("a"), cluster_node("b", 2)))
    choices = DeviceChoices(devices=DeviceSettings(visible=("GPU-elsewhere", gpu_key("a", 0))))
    found = choices.with_node_switched(switched, inventory).devices.visible
    expected = {"a": (), "b": (gpu_key("a", 0), gpu_key("b", 0), gpu_key("b", 1))}
    assert found == (*expected[switched], "GPU-elsewhere")


def test_that_gpus_take_the_place_of_processors_when_a_node_with_gpus_is_switched_on():
    inventory = devices_of(cluster_of(cluster_node("a", 0), cluster_node("b", 1)))
    choices = DeviceChoices(devices=DeviceSettings(visible=("cpu@a",)))
    assert choices.with_node_switched("b", inventory).devices.visible == (gpu_key("b", 0),)


def test_that_lost_gpus_of_a_node_are_not_switched_on():
    inventory = devices_of(cluster_of(cluster_node("a"), cluster_node("b", 2)))
    choices = DeviceChoices(devices=DeviceSettings(visible=(gpu_key("a", 0),)))
    lost = frozenset({gpu_key("b", 0)})
    found = choices.with_node_switched("b", inventory, lost).devices.visible
    assert found == (gpu_key("a", 0), gpu_key("b", 1))


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("NVIDIA H100", "NVIDIA H100"), "H100 #1, H100 #2"),
        (("NVIDIA H100",) * 512 + ("NVIDIA L4",), "512 \N{MULTIPLICATION SIGN} H100, L4"),
    ],
)
def test_that_the_table_of_runs_counts_very_many_devices(names, expected):
    run = RunSummary.model_construct(devices=names)
    assert columns._devices(run) == expected


def test_that_of_very_many_devices_that_are_not_here_the_first_have_cards(qtbot):
    panel = DevicePanel()
    qtbot.addWidget(panel)
    panel.setInventory(CPU_ONLY)
    named = tuple(f"GPU-{number}" for number in range(MOST_PLACES))
    panel.setValue(DeviceChoices(devices=DeviceSettings(visible=named)))
    cards = panel.findChildren(AbsentCard)
    assert [each.key for each in cards] == list(named[: MOST_ROWS - 1])
    notes = [each.text() for each in panel.findChildren(Note) if not each.isHidden()]
    assert f"and {MOST_PLACES - MOST_ROWS + 1:,} more devices of the profile" in notes
    panel.setValue(DeviceChoices(devices=DeviceSettings(visible=named[:2])))
    shown = [each.key for each in panel.findChildren(AbsentCard) if not each.isHidden()]
    assert shown == ["GPU-0", "GPU-1"]
    notes = [each.text() for each in panel.findChildren(Note) if not each.isHidden()]
    assert not any("more devices" in note for note in notes)


def test_that_of_very_many_problems_the_errors_are_shown_and_the_others_counted(qtbot):
    shown = ProblemList()
    qtbot.addWidget(shown)
    hints = [Problem(code=f"h{n}", severity=Severity.HINT, message="m") for n in range(1_000)]
    shown.setProblems([*hints, Problem(code="wrong", message="It is wrong.")])
    codes = [each.code for each in shown.problems()]
    assert codes == ["wrong", *(f"h{n}" for n in range(MOST_ROWS - 2))]
    assert shown._more.text() == "and 978 more: `gpupanel check` lists them"
    shown.setProblems(hints[:3])
    assert [each.code for each in shown.problems()] == ["h0", "h1", "h2"]
    assert shown._more.isHidden()
