"""Which process of a run stands on which node of a job."""

import pytest
from pydantic import ValidationError

from gpupanel.domain.device import DeviceInventory, DeviceKind, PhysicalDevice
from gpupanel.domain.job_node import JobNode
from gpupanel.domain.memory import LimitedMemory
from gpupanel.domain.model import SavedModel
from gpupanel.domain.plan import LaunchPlan, PlannedProcess
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.telemetry import DeviceReading, TelemetrySample
from gpupanel.planning.job_nodes import check_for_nodes, on_nodes, sample_of_nodes, with_addresses
from gpupanel.planning.prepare import prepare
from tests.fakes.devices import CPU

WORKERS = StrategySettings(kind=StrategyKind.MULTI_WORKER)
ON_CPU = Profile(devices=DeviceSettings(visible=("cpu",)), strategy=WORKERS)


def a_node(name: str, *keys: str, visible: str | None = None) -> JobNode:
    gpus = (PhysicalDevice(key=key, kind=DeviceKind.GPU, name="A100") for key in keys)
    return JobNode(
        name=name,
        address=f"10.0.0.{len(name)}",
        visible_devices=visible,
        inventory=DeviceInventory(driver="580.65", devices=(*gpus, CPU)),
        sample=sample_of(*keys, CPU.key),
    )


def sample_of(*keys: str) -> TelemetrySample:
    return TelemetrySample(time_s=1.0, readings=tuple(DeviceReading(key=key) for key in keys))


def planned(profile: Profile, *nodes: JobNode) -> tuple[Profile, LaunchPlan]:
    moved, inventory, _ = on_nodes(profile, nodes)
    plan = prepare(moved, inventory).plan
    assert plan is not None
    return moved, with_addresses(plan, nodes)


def places(plan: LaunchPlan) -> list[tuple[str | None, str]]:
    return [(each.node, each.devices[0].key) for each in plan.processes]


def code_of(refused: pytest.ExceptionInfo[ProblemError]) -> str:
    (problem,) = refused.value.problems
    return problem.code


def test_that_each_gpu_of_each_node_has_a_process_on_its_node() -> None:
    profile = Profile(
        devices=DeviceSettings(visible=("GPU-w", "GPU-x", "GPU-y", "GPU-z")),
        memory={"GPU-z": LimitedMemory(limit_mib=1024)},
        strategy=WORKERS,
    )
    nodes = (
        a_node("one", "GPU-a", "GPU-b", "GPU-c", visible="2,0"),
        a_node("four", "GPU-d", "GPU-e"),
    )
    moved, plan = planned(profile, *nodes)
    assert moved.devices.visible == ("GPU-c", "GPU-a", "GPU-d", "GPU-e")
    assert moved.memory == {"GPU-e": LimitedMemory(limit_mib=1024)}
    assert places(plan) == [
        ("one", "GPU-c"),
        ("one", "GPU-a"),
        ("four", "GPU-d"),
        ("four", "GPU-e"),
    ]
    assert [each.address for each in plan.processes] == ["10.0.0.3"] * 2 + ["10.0.0.4"] * 2
    assert plan.is_on_nodes


def test_that_on_the_cpu_each_node_has_a_worker_or_as_many_as_the_profile_says() -> None:
    nodes = (a_node("one"), a_node("three"), a_node("four"))
    _, plan = planned(ON_CPU, *nodes)
    assert places(plan) == [("one", "cpu"), ("three", "cpu"), ("four", "cpu")]
    strategy = WORKERS.model_copy(update={"workers": 5})
    _, plan = planned(ON_CPU.model_copy(update={"strategy": strategy}), *nodes)
    assert [node for node, _ in places(plan)] == ["one", "one", "three", "three", "four"]


def test_that_a_profile_that_names_none_trains_on_the_cpu_where_no_node_has_a_gpu() -> None:
    moved, plan = planned(Profile(strategy=WORKERS), a_node("one"), a_node("two"))
    assert moved.devices.visible == ("cpu",)
    assert [node for node, _ in places(plan)] == ["one", "two"]


def test_that_one_machine_that_stands_for_two_nodes_counts_once() -> None:
    nodes = (a_node("one", "GPU-a", "GPU-b"), a_node("two", "GPU-a", "GPU-b"))
    moved, inventory, _ = on_nodes(Profile(strategy=WORKERS), nodes)
    assert moved.devices.visible == ("GPU-a", "GPU-b")
    found = [(device.key, device.node) for device in inventory.devices]
    assert found == [("GPU-a", "one"), ("GPU-b", "one"), ("cpu@one", "one"), ("cpu@two", "two")]


def test_that_it_is_said_that_ports_are_open_to_whoever_reaches_the_nodes() -> None:
    _, _, (warning,) = on_nodes(ON_CPU, (a_node("one"), a_node("two")))
    assert (warning.code, warning.is_error) == ("ports_open_between_nodes", False)


def test_that_readings_of_nodes_have_the_keys_of_their_devices() -> None:
    nodes = (a_node("one", "GPU-a"), a_node("two"))
    _, inventory, _ = on_nodes(Profile(strategy=WORKERS), nodes)
    keys = [reading.key for reading in sample_of_nodes(nodes).readings]
    assert keys == [device.key for device in inventory.devices] == ["GPU-a", "cpu@one", "cpu@two"]


def test_that_processes_of_an_evaluation_over_nodes_open_no_ports() -> None:
    saved = SavedModel(path="model.keras")
    profile = ON_CPU.model_copy(update={"task": "evaluate", "model": saved})
    nodes = (a_node("one"), a_node("two"))
    moved, inventory, hints = on_nodes(profile, nodes)
    assert hints == ()
    preparation = prepare(moved, inventory)
    assert preparation.plan is not None
    assert [each for each in preparation.problems if each.is_error] == []
    plan = with_addresses(preparation.plan, nodes)
    assert [process.node for process in plan.processes] == ["one", "two"]
    assert not plan.communicates


def test_that_parameter_servers_are_divided_over_the_nodes() -> None:
    strategy = StrategySettings(kind=StrategyKind.PARAMETER_SERVER, parameter_servers=2)
    nodes = (a_node("one"), a_node("three"))
    _, plan = planned(ON_CPU.model_copy(update={"strategy": strategy}), *nodes)
    assert [(each.role.value, each.node, each.address) for each in plan.processes] == [
        ("coordinator", "one", "10.0.0.3"),
        ("worker", "one", "10.0.0.3"),
        ("worker", "three", "10.0.0.5"),
        ("parameter_server", "one", "10.0.0.3"),
        ("parameter_server", "three", "10.0.0.5"),
    ]


@pytest.mark.parametrize(
    "profile",
    [
        Profile(),
        Profile(strategy=StrategySettings(kind=StrategyKind.MIRRORED)),
        Profile(task="evaluate", strategy=StrategySettings(kind=StrategyKind.PARAMETER_SERVER)),
    ],
)
def test_that_only_strategies_of_several_processes_are_for_several_nodes(profile: Profile) -> None:
    check_for_nodes(profile, 1)
    check_for_nodes(ON_CPU, 2)
    with pytest.raises(ProblemError) as refused:
        on_nodes(profile, (a_node("one"), a_node("two")))
    assert code_of(refused) == "nodes_need_workers"


def test_that_a_node_without_a_process_is_not_waited_for() -> None:
    for workers, said in ((1, "1 process, and"), (2, "2 processes, and")):
        strategy = WORKERS.model_copy(update={"workers": workers})
        profile = ON_CPU.model_copy(update={"strategy": strategy})
        with pytest.raises(ProblemError, match=said) as refused:
            planned(profile, a_node("one"), a_node("two"), a_node("three"))
        assert code_of(refused) == "nodes_idle"


def test_that_no_process_has_gpus_of_two_nodes() -> None:
    profile = Profile(strategy=WORKERS.model_copy(update={"workers": 2}))
    nodes = (a_node("one", "GPU-a"), a_node("two", "GPU-b", "GPU-c", "GPU-d"))
    moved, inventory, _ = on_nodes(profile, nodes)
    preparation = prepare(moved, inventory)
    assert not preparation.is_startable
    assert "worker_across_nodes" in {each.code for each in preparation.problems}


@pytest.mark.parametrize(
    "address", ["", "::1", "host", "10.0.0.1:80", "10.0.0.1\n", "10.0.0", "0.0.0.0", "224.0.0.1"]
)
def test_that_a_plan_names_addresses_by_their_numbers(address: str) -> None:
    assert PlannedProcess(address="10.0.0.1").address
    with pytest.raises(ValidationError):
        PlannedProcess(address=address)


def test_that_a_plan_of_one_machine_is_on_no_node() -> None:
    plan = prepare(ON_CPU, DeviceInventory(devices=(CPU,))).plan
    assert plan is not None
    assert not plan.is_on_nodes
