"""Which process of a run stands on which node of a job."""

import pytest
from pydantic import ValidationError

from gpupanel.domain.device import DeviceInventory, DeviceKind, PhysicalDevice
from gpupanel.domain.job_node import JobNode
from gpupanel.domain.memory import LimitedMemory
from gpupanel.domain.plan import LaunchPlan, PlannedProcess
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.planning.job_nodes import check_for_nodes, on_nodes, placed_on_nodes
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
    )


def planned(profile: Profile, *nodes: JobNode) -> tuple[Profile, LaunchPlan]:
    moved, inventory, _ = on_nodes(profile, nodes)
    plan = prepare(moved, inventory).plan
    assert plan is not None
    return moved, placed_on_nodes(plan, nodes)


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
    assert (moved.devices.visible, moved.strategy.workers) == (("cpu",), 2)
    assert [node for node, _ in places(plan)] == ["one", "two"]


def test_that_one_machine_that_stands_for_two_nodes_counts_once() -> None:
    nodes = (a_node("one", "GPU-a", "GPU-b"), a_node("two", "GPU-a", "GPU-b"))
    moved, inventory, _ = on_nodes(Profile(strategy=WORKERS), nodes)
    assert moved.devices.visible == ("GPU-a", "GPU-b")
    assert [device.key for device in inventory.devices] == ["GPU-a", "GPU-b", "cpu"]


def test_that_it_is_said_that_ports_are_open_to_whoever_reaches_the_nodes() -> None:
    _, _, (warning,) = on_nodes(ON_CPU, (a_node("one"), a_node("two")))
    assert (warning.code, warning.is_error) == ("ports_open_between_nodes", False)


@pytest.mark.parametrize(
    "profile",
    [
        Profile(),
        Profile(strategy=StrategySettings(kind=StrategyKind.MIRRORED)),
        Profile(strategy=StrategySettings(kind=StrategyKind.PARAMETER_SERVER)),
        ON_CPU.model_copy(update={"task": "evaluate"}),
    ],
)
def test_that_only_a_training_with_workers_is_for_several_nodes(profile: Profile) -> None:
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
    with pytest.raises(ProblemError, match="Worker 0 would need GPUs of two nodes") as refused:
        planned(profile, *nodes)
    assert code_of(refused) == "worker_across_nodes"


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
