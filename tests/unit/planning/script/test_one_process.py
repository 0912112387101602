"""Runs of several processes as one process can carry them out."""

import pytest

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.memory import AllMemory, GrowingMemory, MemoryPolicy, SplitMemory
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import AllReduce, StrategyKind, StrategySettings
from gpupanel.planning.prepare import prepare
from gpupanel.planning.script.one_process import in_one_process
from tests.fakes.devices import CPU_ONLY, TWO_UNEQUAL


def planned(
    kind: StrategyKind,
    inventory: DeviceInventory = TWO_UNEQUAL,
    memory: dict[str, MemoryPolicy] | None = None,
    **strategy: object,
) -> LaunchPlan:
    profile = Profile(strategy=StrategySettings(kind=kind, **strategy), memory=memory or {})
    plan = prepare(profile, inventory).plan
    assert plan is not None
    return plan


def test_that_workers_become_replicas_on_the_gpus_of_all() -> None:
    memory: dict[str, MemoryPolicy] = {"GPU-4090": GrowingMemory(), "GPU-3060": AllMemory()}
    plan = in_one_process(planned(StrategyKind.MULTI_WORKER, memory=memory, shares=(48, 16)))
    assert plan.strategy is StrategyKind.MIRRORED
    assert plan.processes == ()
    assert plan.environment["CUDA_VISIBLE_DEVICES"] == "GPU-4090,GPU-3060"
    assert plan.environment["TF_FORCE_GPU_ALLOW_GROWTH"] == "true"
    assert [(device.key, device.index, device.memory_growth) for device in plan.devices] == [
        ("GPU-4090", 0, True),
        ("GPU-3060", 1, True),
    ]
    assert [
        (replica.logical_device, replica.share, replica.process) for replica in plan.replicas
    ] == [("/device:GPU:0", 48, 0), ("/device:GPU:1", 16, 0)]


def test_that_what_workers_sum_over_a_ring_needs_no_nccl_in_one_process() -> None:
    def summed(kind: StrategyKind, inventory: DeviceInventory, **strategy: object) -> AllReduce:
        return in_one_process(planned(kind, inventory, **strategy)).all_reduce

    workers = StrategyKind.MULTI_WORKER
    assert summed(workers, TWO_UNEQUAL) is AllReduce.HIERARCHICAL_COPY
    assert summed(workers, TWO_UNEQUAL, all_reduce=AllReduce.NCCL) is AllReduce.NCCL
    assert summed(workers, CPU_ONLY) is AllReduce.AUTO
    assert summed(workers, CPU_ONLY, workers=1) is AllReduce.AUTO
    assert summed(StrategyKind.PARAMETER_SERVER, TWO_UNEQUAL) is AllReduce.AUTO
    assert summed(StrategyKind.MIRRORED, TWO_UNEQUAL) is AllReduce.AUTO


def test_that_the_parts_of_split_gpus_are_numbered_through() -> None:
    split = SplitMemory(split_mib=(2048, 2048))
    memory: dict[str, MemoryPolicy] = {"GPU-4090": split, "GPU-3060": split}
    plan = in_one_process(planned(StrategyKind.MULTI_WORKER, memory=memory))
    assert [replica.logical_device for replica in plan.replicas] == [
        f"/device:GPU:{number}" for number in range(4)
    ]
    assert not any(device.memory_growth for device in plan.devices)


@pytest.mark.parametrize(("workers", "limits"), [(1, ()), (3, (None, None, None))])
def test_that_workers_on_the_cpu_get_a_logical_device_each(
    workers: int, limits: tuple[None, ...]
) -> None:
    plan = in_one_process(planned(StrategyKind.MULTI_WORKER, CPU_ONLY, workers=workers))
    assert [device.logical_limits_mib for device in plan.devices] == [limits]
    assert len({replica.logical_device for replica in plan.replicas}) == workers


def test_that_one_worker_takes_all_steps_of_a_parameter_server_run() -> None:
    plan = in_one_process(planned(StrategyKind.PARAMETER_SERVER))
    assert plan.strategy is StrategyKind.ONE_DEVICE
    assert plan.environment["CUDA_VISIBLE_DEVICES"] == "GPU-4090"
    assert [(replica.logical_device, replica.share) for replica in plan.replicas] == [
        ("/device:GPU:0", plan.global_batch_size)
    ]


def test_that_replicas_without_a_share_stay_where_processes_take_part_in_sums() -> None:
    shares = {"shares": (64, 0)}
    assert in_one_process(planned(StrategyKind.MULTI_WORKER, **shares)).shares == (64, 0)
    assert in_one_process(planned(StrategyKind.MIRRORED, **shares)).shares == (64,)


def test_that_a_plan_of_one_process_stays_as_it_is() -> None:
    profile = Profile(
        devices=DeviceSettings(visible=("cpu",), cpu_replicas=2),
        strategy=StrategySettings(kind=StrategyKind.MIRRORED),
    )
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    assert in_one_process(plan) == plan
