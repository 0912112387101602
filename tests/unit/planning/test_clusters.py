"""What a profile becomes on the nodes of a cluster."""

from typing import Any

import pytest

from gpupanel.domain.cluster import ClusterSettings
from gpupanel.domain.device import DeviceInventory, PhysicalDevice
from gpupanel.domain.memory import LimitedMemory
from gpupanel.domain.model import SavedModel
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.planning.fewer_nodes import on_nodes_there
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.prepare import prepare
from tests.fakes.devices import CPU, CPU_ONLY, RTX_3060, RTX_4090


def in_node(node: str, device: PhysicalDevice, key: str = "") -> PhysicalDevice:
    own = f"cpu@{node}" if not device.is_gpu else device.key
    return device.model_copy(update={"key": key or own, "node": node})


CPUS = DeviceInventory(devices=(in_node("a", CPU), in_node("b", CPU)))
UNEQUAL = DeviceInventory(
    driver="580.65",
    devices=(
        *(in_node("a", RTX_4090), in_node("a", RTX_4090, "GPU-4090-2"), in_node("a", CPU)),
        *(in_node("b", RTX_3060), in_node("b", CPU)),
    ),
)


def on_cluster(
    kind: StrategyKind = StrategyKind.MULTI_WORKER, visible: tuple[str, ...] = (), **strategy: Any
) -> Profile:
    return Profile(
        cluster=ClusterSettings(),
        devices=DeviceSettings(visible=visible),
        strategy=StrategySettings(kind=kind, **strategy),
    )


def problem_of(profile: Profile, inventory: DeviceInventory, code: str) -> Problem:
    (problem,) = (each for each in prepare(profile, inventory).problems if each.code == code)
    return problem


def nodes_of(profile: Profile, inventory: DeviceInventory) -> list[str]:
    preparation = prepare(profile, inventory)
    assert preparation.is_startable, preparation.problems
    assert preparation.plan is not None
    assert preparation.plan.cluster == profile.cluster
    return [process.name for process in preparation.plan.gang]


def test_that_each_gpu_of_each_node_has_a_worker_there() -> None:
    profile = on_cluster(shares=(40, 16, 8))
    assert nodes_of(profile, UNEQUAL) == ["worker 0 on a", "worker 1 on a", "worker 2 on b"]
    plan = prepare(profile, UNEQUAL).plan
    assert plan is not None
    assert [worker.environment["CUDA_VISIBLE_DEVICES"] for worker in plan.gang] == [
        *(RTX_4090.key, "GPU-4090-2", RTX_3060.key)
    ]
    assert plan.shares == (40, 16, 8)


def test_that_each_cpu_has_a_worker_by_default_and_more_are_divided() -> None:
    assert nodes_of(on_cluster(), CPUS) == ["worker 0 on a", "worker 1 on b"]
    assert nodes_of(on_cluster(visible=("cpu",), workers=3), CPUS) == [
        *("worker 0 on a", "worker 1 on a", "worker 2 on b")
    ]
    plan = prepare(on_cluster(), CPUS).plan
    assert plan is not None
    assert {replica.device_key for replica in plan.replicas} == {"cpu"}


def test_that_parameter_servers_are_on_the_nodes_of_workers() -> None:
    profile = on_cluster(StrategyKind.PARAMETER_SERVER, parameter_servers=3)
    assert nodes_of(profile, CPUS) == [
        *("the coordinator on a", "worker 0 on a", "worker 1 on b"),
        *("parameter server 0 on a", "parameter server 1 on b", "parameter server 2 on a"),
    ]


def test_that_memory_policies_are_each_gpus_own() -> None:
    memory = {RTX_3060.key: LimitedMemory(limit_mib=2048)}
    plan = prepare(on_cluster().model_copy(update={"memory": memory}), UNEQUAL).plan
    assert plan is not None
    assert [worker.devices[0].logical_limits_mib for worker in plan.gang] == [(), (), (2048,)]


def test_that_devices_that_are_named_in_any_order_stay_together_by_node() -> None:
    visible = (RTX_4090.key, RTX_3060.key, "GPU-4090-2")
    assert nodes_of(on_cluster(visible=visible), UNEQUAL) == [
        *("worker 0 on a", "worker 1 on a", "worker 2 on b")
    ]


@pytest.mark.parametrize("kind", [StrategyKind.MIRRORED, StrategyKind.ONE_DEVICE])
def test_that_a_strategy_of_one_process_is_offered_workers_instead(kind: StrategyKind) -> None:
    profile = on_cluster(kind, visible=("cpu@a", "cpu@b"))
    problem = problem_of(profile, CPUS, "cluster_needs_workers")
    assert problem.fix is not None
    assert prepare(apply_fix(profile, problem.fix), CPUS).is_startable


@pytest.mark.parametrize("task", ["evaluate", "predict"])
def test_that_workers_of_nodes_evaluate_and_predict_without_a_word_to_each_other(task: str) -> None:
    profile = saved_on_cluster(StrategyKind.MULTI_WORKER, task)
    assert nodes_of(profile, CPUS) == ["worker 0 on a", "worker 1 on b"]
    plan = prepare(profile, CPUS).plan
    assert plan is not None
    assert not plan.communicates
    assert sum(plan.shares) == profile.inference.batch_size
    trained = prepare(on_cluster(), CPUS).plan
    assert trained is not None
    assert trained.communicates


@pytest.mark.parametrize(
    "kind", [StrategyKind.PARAMETER_SERVER, StrategyKind.MIRRORED, StrategyKind.ONE_DEVICE]
)
def test_that_a_task_that_does_not_train_is_offered_workers_on_a_cluster(
    kind: StrategyKind,
) -> None:
    profile = saved_on_cluster(kind, "evaluate")
    problem = problem_of(profile, CPUS, "cluster_needs_workers")
    assert "parameter_server or" not in problem.hint
    assert problem.fix is not None
    assert prepare(apply_fix(profile, problem.fix), CPUS).is_startable
    codes = [each.code for each in prepare(profile, CPUS).problems]
    assert "strategy_not_for_inference" not in codes


def test_that_balanced_shares_are_equal_where_nothing_trains() -> None:
    profile = saved_on_cluster(StrategyKind.MULTI_WORKER, "predict", shares="balanced")
    problem = problem_of(profile, CPUS, "balanced_is_for_training")
    assert not problem.is_error


def saved_on_cluster(kind: StrategyKind, task: str, **strategy: Any) -> Profile:
    model = SavedModel(path="/shared/model.keras")
    return on_cluster(kind, **strategy).model_copy(update={"task": task, "model": model})


def test_that_no_worker_has_gpus_of_two_nodes() -> None:
    inventory = UNEQUAL.model_copy(
        update={"devices": (*UNEQUAL.devices, in_node("b", RTX_3060, "GPU-3060-2"))}
    )
    three = inventory.model_copy(
        update={"devices": tuple(each for each in inventory.devices if each.key != "GPU-4090-2")}
    )
    assert nodes_of(on_cluster(workers=2), inventory) == ["worker 0 on a", "worker 1 on b"]
    lonely = three.model_copy(
        update={"devices": (*three.devices, in_node("c", RTX_3060, "GPU-3060-3"))}
    )
    profile = on_cluster(workers=2)
    problem = problem_of(profile, lonely, "worker_across_nodes")
    assert problem.fix is not None
    assert prepare(apply_fix(profile, problem.fix), lonely).is_startable


def test_that_a_cluster_that_nobody_asked_is_no_machine_to_start_on() -> None:
    profile = on_cluster()
    problem = problem_of(profile, CPU_ONLY, "cluster_not_asked")
    assert problem.fix is not None
    assert apply_fix(profile, problem.fix).cluster is None
    assert not prepare(profile, CPU_ONLY).is_startable


def test_that_a_device_of_a_node_that_is_gone_is_missed_in_the_cluster() -> None:
    left = DeviceInventory(devices=tuple(each for each in UNEQUAL.devices if each.node == "a"))
    profile = on_cluster(visible=(RTX_4090.key, RTX_3060.key))
    problem = problem_of(profile, left, "device_not_found")
    assert problem.message == f"The device {RTX_3060.key} is not in this cluster now."


def test_that_a_run_continues_on_the_nodes_that_are_left_with_shares_that_fit() -> None:
    left = DeviceInventory(devices=tuple(each for each in UNEQUAL.devices if each.node == "a"))
    visible = (RTX_4090.key, "GPU-4090-2", RTX_3060.key)
    profile = on_cluster(visible=visible, workers=3, shares=(40, 16, 8), optimizer_state=(3, 2, 1))
    fewer = on_nodes_there(profile, left)
    assert fewer is not None
    changed, plan = fewer
    assert changed.devices.visible == visible[:2]
    assert plan.shares == (32, 32)
    assert changed.strategy.optimizer_state == "sharded"
    assert plan.optimizer_parts == (0.5, 0.5)
    assert {process.node for process in plan.gang} == {"a"}


def test_that_what_still_fits_stays_as_the_person_chose_it() -> None:
    left = DeviceInventory(devices=(in_node("a", CPU),))
    profile = on_cluster(visible=("cpu",), workers=2, shares=(48, 16))
    fewer = on_nodes_there(profile, left)
    assert fewer is not None
    assert fewer[0] == profile
    assert fewer[1].shares == (48, 16)


def test_that_nothing_continues_where_no_device_is_left() -> None:
    assert on_nodes_there(on_cluster(visible=(RTX_3060.key,)), CPUS) is None
    assert on_nodes_there(on_cluster(StrategyKind.MIRRORED), CPUS) is None
