"""What each strategy makes of the chosen devices, and what it needs of them."""

from typing import Any

import pytest

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.memory import AllMemory, GrowingMemory, LimitedMemory, SplitMemory
from gpupanel.domain.plan import LaunchPlan, ProcessRole
from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import AllReduce, StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.prepare import Preparation, mended, prepare
from tests.fakes.devices import CPU_ONLY, TWO_UNEQUAL
from tests.unit.planning.test_prepare import found

TWO_WORKERS = "GPU-4090", "GPU-3060"


def with_kind(kind: StrategyKind, *, replicas: int = 1, **strategy: Any) -> Profile:
    return Profile(
        devices=DeviceSettings(cpu_replicas=replicas),
        strategy=StrategySettings(kind=kind, **strategy),
    )


def plan_of(profile: Profile, inventory: DeviceInventory = TWO_UNEQUAL) -> LaunchPlan:
    preparation = prepare(profile, inventory)
    assert preparation.is_startable, preparation.problems
    assert preparation.plan is not None
    return preparation.plan


@pytest.mark.parametrize("kind", StrategyKind)
@pytest.mark.parametrize("inventory", [TWO_UNEQUAL, CPU_ONLY], ids=["GPUs", "CPU"])
def test_that_every_strategy_can_be_started(kind: StrategyKind, inventory: DeviceInventory) -> None:
    plan = plan_of(with_kind(kind, replicas=2), inventory)
    assert plan.strategy is kind
    assert {replica.process for replica in plan.replicas} <= set(range(len(plan.gang)))
    seen = {device.key for process in plan.gang for device in process.devices}
    assert {replica.device_key for replica in plan.replicas} <= seen


def test_that_central_storage_computes_on_every_device() -> None:
    plan = plan_of(with_kind(StrategyKind.CENTRAL_STORAGE))
    assert [replica.logical_device for replica in plan.replicas] == [
        "/device:GPU:0",
        "/device:GPU:1",
    ]
    assert plan.processes == ()
    assert [process.name for process in plan.gang] == ["the trainer"]


def test_that_each_worker_sees_a_gpu_of_its_own() -> None:
    plan = plan_of(with_kind(StrategyKind.MULTI_WORKER))
    assert [process.name for process in plan.gang] == ["worker 0", "worker 1"]
    assert [process.environment["CUDA_VISIBLE_DEVICES"] for process in plan.gang] == [*TWO_WORKERS]
    assert [(replica.process, replica.logical_device) for replica in plan.replicas] == [
        (0, "/device:GPU:0"),
        (1, "/device:GPU:0"),
    ]
    assert [device.key for device in plan.devices] == [*TWO_WORKERS]
    assert plan.shares == (32, 32)


def test_that_workers_on_the_cpu_have_a_whole_cpu_device_each() -> None:
    plan = plan_of(with_kind(StrategyKind.MULTI_WORKER, replicas=3), CPU_ONLY)
    assert len(plan.gang) == 3
    assert all(process.devices[0].logical_limits_mib == () for process in plan.gang)
    assert [device.key for device in plan.devices] == ["cpu"]
    assert len(plan_of(with_kind(StrategyKind.MULTI_WORKER), CPU_ONLY).gang) == 2


def test_that_growth_may_differ_between_workers_but_not_within_one() -> None:
    memory = {"GPU-4090": AllMemory(), "GPU-3060": GrowingMemory()}
    workers = with_kind(StrategyKind.MULTI_WORKER).model_copy(update={"memory": memory})
    grows = [process.devices[0].memory_growth for process in plan_of(workers).gang]
    assert grows == [False, True]
    one = with_kind(StrategyKind.MULTI_WORKER, workers=1).model_copy(update={"memory": memory})
    assert found(one, "memory_growth_differs").is_error


def test_that_a_parameter_server_run_has_a_coordinator_first() -> None:
    plan = plan_of(with_kind(StrategyKind.PARAMETER_SERVER, parameter_servers=2))
    roles = [process.role for process in plan.gang]
    worker, server = ProcessRole.WORKER, ProcessRole.PARAMETER_SERVER
    assert roles == [ProcessRole.COORDINATOR, worker, worker, server, server]
    names = [process.name for process in plan.gang]
    assert names[0] == "the coordinator"
    assert names[-1] == "parameter server 1"
    assert [replica.process for replica in plan.replicas] == [1, 2]
    assert plan.shares == (64, 64)
    hidden = [process.environment["CUDA_VISIBLE_DEVICES"] for process in plan.gang]
    assert hidden == ["-1", *TWO_WORKERS, "-1", "-1"]


def test_that_a_plan_of_a_parameter_server_run_gives_every_worker_whole_batches() -> None:
    plan = plan_of(with_kind(StrategyKind.PARAMETER_SERVER))
    halves = plan.model_dump(mode="json")
    for replica in halves["replicas"]:
        replica["share"] = 32
    with pytest.raises(ValueError, match="whole batches"):
        LaunchPlan.model_validate(halves)


def test_that_layers_can_be_placed_on_every_logical_device() -> None:
    plan = plan_of(with_kind(StrategyKind.MODEL_PARALLEL, replicas=3), CPU_ONLY)
    assert [place.logical_device for place in plan.places] == [
        "/device:CPU:0",
        "/device:CPU:1",
        "/device:CPU:2",
    ]
    assert plan.shares == (64,)


@pytest.mark.parametrize("kind", [StrategyKind.MULTI_WORKER, StrategyKind.PARAMETER_SERVER])
def test_that_more_workers_than_gpus_are_refused(kind: StrategyKind) -> None:
    assert found(with_kind(kind, workers=3), "more_workers_than_gpus").is_error


THREE = DeviceInventory(
    devices=(
        *TWO_UNEQUAL.gpus,
        TWO_UNEQUAL.gpus[0].model_copy(update={"key": "GPU-third", "name": "a third"}),
    )
)


def test_that_gpus_that_workers_cannot_divide_are_refused() -> None:
    profile = with_kind(StrategyKind.MULTI_WORKER, workers=2)
    assert found(profile, "workers_do_not_divide_gpus", THREE).is_error


def test_that_workers_with_unequal_logical_devices_are_refused() -> None:
    memory = {"GPU-4090": SplitMemory(split_mib=(1024, 1024))}
    profile = with_kind(StrategyKind.MULTI_WORKER).model_copy(update={"memory": memory})
    assert found(profile, "workers_have_unequal_devices").is_error


def test_that_a_gpu_that_no_worker_uses_is_reported() -> None:
    profile = with_kind(StrategyKind.PARAMETER_SERVER, workers=1)
    assert found(profile, "devices_unused").severity is Severity.WARNING


@pytest.mark.parametrize(
    ("inventory", "kind"), [(TWO_UNEQUAL, "mirrored"), (CPU_ONLY, "one_device")]
)
def test_that_one_worker_alone_is_reported(inventory: DeviceInventory, kind: str) -> None:
    problem = found(with_kind(StrategyKind.MULTI_WORKER, workers=1), "single_worker", inventory)
    assert problem.severity is Severity.HINT
    assert problem.fix is not None
    assert problem.fix.changes[0].value == kind


@pytest.mark.parametrize(
    ("placement", "wanted"), [("auto", 2), ({"dense_1": 0, "outputs": 2}, 3), ({}, 2)]
)
def test_that_one_cpu_device_for_a_strategy_of_several_is_reported_and_more_are_offered(
    placement: Any, wanted: int
) -> None:
    profile = with_kind(StrategyKind.MODEL_PARALLEL, placement=placement)
    fix = found(profile, "single_replica", CPU_ONLY).fix
    assert fix is not None
    assert apply_fix(profile, fix).devices.cpu_replicas == wanted


@pytest.mark.parametrize(
    "kind",
    [StrategyKind.ONE_DEVICE, StrategyKind.PARAMETER_SERVER, StrategyKind.MODEL_PARALLEL],
)
def test_that_shares_where_nothing_is_shared_are_reported_to_mean_nothing(
    kind: StrategyKind,
) -> None:
    profile = with_kind(kind, shares="balanced")
    assert found(profile, "shares_unused").severity is Severity.HINT
    assert not plan_of(profile).balanced


def test_that_balanced_shares_begin_as_equal_ones() -> None:
    plan = plan_of(with_kind(StrategyKind.MULTI_WORKER, shares="balanced"))
    assert plan.balanced
    assert plan.shares == (32, 32)
    alone = with_kind(StrategyKind.MIRRORED, shares="balanced")
    assert not plan_of(alone, CPU_ONLY).balanced


@pytest.mark.parametrize(
    ("kind", "all_reduce"),
    [
        (StrategyKind.MULTI_WORKER, AllReduce.HIERARCHICAL_COPY),
        (StrategyKind.CENTRAL_STORAGE, AllReduce.NCCL),
        (StrategyKind.ONE_DEVICE, AllReduce.NCCL),
    ],
)
def test_that_an_all_reduce_that_is_not_used_is_reported(
    kind: StrategyKind, all_reduce: AllReduce
) -> None:
    profile = with_kind(kind, all_reduce=all_reduce)
    assert found(profile, "all_reduce_unused").severity is Severity.HINT


def test_that_workers_may_sum_by_nccl() -> None:
    preparation = prepare(
        with_kind(StrategyKind.MULTI_WORKER, all_reduce=AllReduce.NCCL), TWO_UNEQUAL
    )
    assert preparation.problems == ()


@pytest.mark.parametrize(
    "key",
    [{"workers": 2}, {"parameter_servers": 1}, {"placement": "auto"}, {"pipeline": True}],
    ids=str,
)
def test_that_keys_of_other_strategies_are_reported_to_do_nothing(key: dict[str, Any]) -> None:
    profile = with_kind(StrategyKind.MIRRORED, **key)
    assert found(profile, "strategy_key_unused").field == f"strategy.{next(iter(key))}"


def test_that_a_state_that_is_not_divided_is_told() -> None:
    profile = with_kind(StrategyKind.MODEL_PARALLEL, optimizer_state="sharded")
    unused = found(profile, "strategy_key_unused")
    assert (unused.field, unused.severity) == ("strategy.optimizer_state", Severity.HINT)
    assert apply_fix(profile, unused.fix).strategy.optimizer_state == "replicated"


def gone(*keys: str, memory: dict[str, Any] | None = None, **strategy: Any) -> Profile:
    return Profile(
        devices=DeviceSettings(visible=keys),
        strategy=StrategySettings(**{"kind": StrategyKind.MIRRORED, **strategy}),
        memory=memory or {},
    )


def on_what_is_here(profile: Profile, inventory: DeviceInventory = TWO_UNEQUAL) -> Profile:
    fix = found(profile, "device_not_found", inventory).fix
    assert fix is not None
    return apply_fix(profile, fix)


@pytest.mark.parametrize(
    ("visible", "replacement"),
    [
        (("GPU-gone",), ("GPU-4090",)),
        (("GPU-4090", "GPU-gone"), ("GPU-4090", "GPU-3060")),
        (("GPU-gone", "GPU-4090"), ("GPU-3060", "GPU-4090")),
        (("GPU-gone", "GPU-lost"), ("GPU-4090", "GPU-3060")),
    ],
)
def test_that_other_gpus_take_the_places_of_absent_ones(
    visible: tuple[str, ...], replacement: tuple[str, ...]
) -> None:
    assert on_what_is_here(gone(*visible)).devices.visible == replacement


def test_that_the_memory_policy_of_an_absent_gpu_goes_to_the_one_in_its_place() -> None:
    memory = {
        "GPU-gone": LimitedMemory(limit_mib=1024),
        "GPU-4090": LimitedMemory(limit_mib=2048),
    }
    mended = on_what_is_here(gone("GPU-gone", "GPU-4090", memory=memory))
    assert mended.memory == {"GPU-3060": memory["GPU-gone"], "GPU-4090": memory["GPU-4090"]}


def test_that_the_cpu_stands_in_with_as_many_replicas_where_no_gpu_is() -> None:
    split = {"GPU-b": SplitMemory(split_mib=(1024, 1024)), "GPU-a": AllMemory()}
    profile = gone("GPU-a", "GPU-b", memory=split, shares=(32, 16, 16))
    assert prepare(profile, CPU_ONLY).plan is None
    mended = on_what_is_here(profile, CPU_ONLY)
    assert mended.devices == DeviceSettings(visible=("cpu",), cpu_replicas=3)
    assert mended.memory == {}
    assert prepare(mended, CPU_ONLY).problems == ()


@pytest.mark.parametrize(("workers", "expected"), [(None, 2), (4, 4)])
def test_that_workers_stay_as_many_where_the_cpu_stands_in(
    workers: int | None, expected: int
) -> None:
    profile = gone("GPU-a", "GPU-b", kind=StrategyKind.MULTI_WORKER, workers=workers)
    mended = on_what_is_here(profile, CPU_ONLY)
    assert len(plan_of(mended, CPU_ONLY).gang) == expected


def test_that_one_device_stays_one_where_the_cpu_stands_in() -> None:
    mended = on_what_is_here(gone("GPU-a", kind=StrategyKind.ONE_DEVICE), CPU_ONLY)
    assert mended.devices.cpu_replicas == 1


def test_that_shares_become_equal_where_fewer_gpus_are_left() -> None:
    profile = gone("GPU-a", "GPU-b", "GPU-c", shares=(32, 16, 16))
    assert on_what_is_here(profile).strategy.shares == "equal"
    assert on_what_is_here(profile).strategy.optimizer_state == "replicated"


def test_that_quotas_follow_the_memory_where_fewer_gpus_are_left() -> None:
    profile = gone("GPU-a", "GPU-b", "GPU-c", optimizer_state=(3, 2, 1))
    assert on_what_is_here(profile).strategy.optimizer_state == "sharded"


def test_that_a_machine_without_any_device_has_no_plan() -> None:
    preparation = prepare(gone("GPU-a"), DeviceInventory(devices=()))
    assert preparation.plan is None
    (problem,) = preparation.problems
    assert problem.fix is not None
    assert problem.fix.label == "Use the CPU"


@pytest.mark.parametrize(
    ("policy", "replicas", "offered"),
    [
        (SplitMemory(split_mib=(512, 512, 512)), 1, 3),
        (LimitedMemory(limit_mib=512), 1, None),
    ],
)
def test_that_a_memory_policy_where_no_gpu_is_is_reported(
    policy: Any, replicas: int, offered: int | None
) -> None:
    profile = Profile(
        devices=DeviceSettings(cpu_replicas=replicas),
        memory={"default": policy},
        strategy=StrategySettings(kind=StrategyKind.MIRRORED),
    )
    fix = found(profile, "memory_policy_without_gpus", CPU_ONLY).fix
    assert (fix is None) is (offered is None)
    if fix is not None:
        assert apply_fix(profile, fix).devices.cpu_replicas == offered


def test_that_a_batch_of_a_task_that_does_not_train_is_its_own() -> None:
    profile = with_kind(StrategyKind.MIRRORED).model_copy(
        update={"task": "evaluate", "training": TrainingSettings(global_batch_size=7)}
    )
    plan = prepare(profile, TWO_UNEQUAL).plan
    assert plan is not None
    assert plan.shares == (128, 128)
    tiny = profile.inference.model_copy(update={"batch_size": 1})
    small = profile.model_copy(update={"inference": tiny})
    problem = found(small, "batch_smaller_than_replicas")
    assert problem.field == "inference.batch_size"


def test_that_mending_takes_every_fix_for_errors_and_warnings_and_leaves_hints() -> None:
    profile = gone("GPU-a", "GPU-b", shares=(60, 5), memory={"GPU-x": AllMemory()})
    better = mended(profile, CPU_ONLY)
    assert better.devices == DeviceSettings(visible=("cpu",), cpu_replicas=2)
    assert better.strategy.shares == (59, 5)
    assert {problem.severity for problem in prepare(better, CPU_ONLY).problems} == {Severity.HINT}
    assert better.memory == profile.memory


def test_that_mending_ends_where_fixes_would_go_in_circles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def never_content(*_: object) -> Preparation:
        change = Change(path=("name",), value="again")
        fix = Fix(label="Try again", changes=(change,))
        return Preparation(problems=(Problem(code="x", message="Never.", fix=fix),))

    monkeypatch.setattr("gpupanel.planning.prepare.prepare", never_content)
    assert mended(Profile(), CPU_ONLY).name == "again"
