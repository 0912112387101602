"""Which cases a profile's devices get, in which order, with how much memory; and what follows."""

from itertools import pairwise
from typing import Any

import pytest

from gpupanel.domain.data import DigitsData
from gpupanel.domain.device import CPU_KEY, DeviceInventory
from gpupanel.domain.gpu_support import GpuSupport
from gpupanel.domain.memory import (
    AllMemory,
    Allocator,
    GrowingMemory,
    LimitedMemory,
    SplitMemory,
)
from gpupanel.domain.model import MlpModel
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.self_test import (
    CaseOutcome,
    CaseResult,
    SelfTest,
    SelfTestCase,
    SelfTestKind,
    SelfTestRequest,
)
from gpupanel.domain.strategy import AllReduce, StrategyKind, StrategySettings
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.context import Known, planning_context
from gpupanel.planning.prepare import prepare
from gpupanel.planning.self_test import (
    LEAST_ROOM_MIB,
    devices_without_room,
    plan_uses_nccl,
    self_test_request,
    self_test_settings,
    step_basis,
)
from tests.fakes.devices import CPU, CPU_ONLY, RTX_3060, RTX_4090, TWO_UNEQUAL, sample_with

MIRRORED = StrategySettings(kind=StrategyKind.MIRRORED)
BOTH = Profile(strategy=MIRRORED)
FIVE = DeviceInventory(
    driver="580.65",
    devices=(*(RTX_4090.model_copy(update={"key": f"GPU-{n}"}) for n in range(5)), CPU),
)
SUM, STEP, MEMORY = SelfTestKind.ALL_REDUCE, SelfTestKind.STEP, SelfTestKind.MEMORY
TRANSFER, PAIR_TRANSFER = SelfTestKind.TRANSFER, SelfTestKind.PAIR_TRANSFER
FREE_3060_MIB = 12_288


def cpus(replicas: int, kind: StrategyKind = StrategyKind.MIRRORED, **strategy: Any) -> Profile:
    return Profile(
        devices=DeviceSettings(visible=(CPU_KEY,), cpu_replicas=replicas),
        strategy=StrategySettings(kind=kind, **strategy),
    )


def with_memory(key: str, policy: Any) -> Profile:
    return Profile(strategy=MIRRORED, memory={key: policy})


def asked(
    profile: Profile,
    inventory: DeviceInventory = TWO_UNEQUAL,
    sample: TelemetrySample | None = None,
) -> SelfTestRequest | None:
    return self_test_request(planning_context(profile, inventory, Known(sample)))


def request_of(
    profile: Profile,
    inventory: DeviceInventory = TWO_UNEQUAL,
    sample: TelemetrySample | None = None,
) -> SelfTestRequest:
    request = asked(profile, inventory, sample)
    assert request is not None
    return request


def of_kind(request: SelfTestRequest, kind: SelfTestKind) -> list[SelfTestCase]:
    return [case for case in request.cases if case.kind is kind]


def where(case: SelfTestCase) -> list[str]:
    return [place.logical_device.removeprefix("/device:") for place in case.places]


def ways_over(request: SelfTestRequest, *places: str) -> list[AllReduce | None]:
    return [case.all_reduce for case in of_kind(request, SUM) if where(case) == [*places]]


def limits(plan: LaunchPlan) -> dict[str, tuple[int | None, ...]]:
    return {device.key: device.logical_limits_mib for device in plan.devices}


def plan_of(profile: Profile, inventory: DeviceInventory = TWO_UNEQUAL) -> LaunchPlan:
    plan = prepare(profile, inventory).plan
    assert plan is not None
    return plan


# Which cases there are.


def test_that_two_gpus_are_summed_over_first_and_copied_between_last() -> None:
    request = request_of(BOTH)
    first, second, both = ["GPU:0"], ["GPU:1"], ["GPU:0", "GPU:1"]
    assert [(case.kind, where(case)) for case in request.cases] == [
        *[(SUM, both)] * 4,
        (STEP, first),
        (STEP, second),
        (MEMORY, first),
        (MEMORY, second),
        (TRANSFER, first),
        (TRANSFER, second),
        (PAIR_TRANSFER, both),
    ]
    keys = {
        place.logical_device: place.device_key for case in request.cases for place in case.places
    }
    assert keys == {"/device:GPU:0": RTX_4090.key, "/device:GPU:1": RTX_3060.key}
    assert request.profile == BOTH


def test_that_one_device_is_neither_summed_over_nor_copied_to_another() -> None:
    request = request_of(Profile())
    assert [case.kind for case in request.cases] == [STEP, MEMORY, TRANSFER]
    # The other GPU stays hidden, as it would in the run.
    assert limits(request.plan).keys() == {RTX_4090.key}
    assert request.plan.strategy is StrategyKind.ONE_DEVICE


def test_that_the_whole_is_summed_over_before_any_pair() -> None:
    request = request_of(BOTH, FIVE)
    sums = [len(case.places) for case in of_kind(request, SUM)]
    assert sums == sorted(sums, reverse=True)
    assert set(sums) == {5, 2}
    kinds = [case.kind for case in request.cases]
    whole = kinds.index(STEP)
    assert {len(case.places) for case in request.cases[:whole]} == {5}
    assert all(len(case.places) < 3 for case in request.cases[whole:])
    # Every two of five GPUs: a link is known by its pair.
    assert len(of_kind(request, PAIR_TRANSFER)) == 10
    assert len(of_kind(request, STEP)) == 5


def test_that_hierarchical_copy_is_tested_over_an_even_number_only() -> None:
    request = request_of(BOTH, FIVE)
    whole = ways_over(request, *(f"GPU:{n}" for n in range(5)))
    assert whole == [AllReduce.AUTO, AllReduce.NCCL, AllReduce.REDUCTION_TO_ONE_DEVICE]
    assert AllReduce.HIERARCHICAL_COPY in ways_over(request, "GPU:1", "GPU:3")


@pytest.mark.parametrize("way", AllReduce)
def test_that_the_way_of_the_run_is_tested_before_the_others(way: AllReduce) -> None:
    strategy = MIRRORED.model_copy(update={"all_reduce": way})
    ways = ways_over(request_of(Profile(strategy=strategy)), "GPU:0", "GPU:1")
    assert ways[0] is way
    assert sorted(map(str, ways)) == sorted(map(str, AllReduce))


def test_that_without_peer_to_peer_only_what_nccl_sums_goes_without() -> None:
    strategy = MIRRORED.model_copy(update={"peer_to_peer": False})
    request = request_of(Profile(strategy=strategy))
    assert {case.all_reduce: case.peer_to_peer for case in of_kind(request, SUM)} == {
        AllReduce.AUTO: False,
        AllReduce.NCCL: False,
        # No link is used, so what is remembered of them stays true.
        AllReduce.HIERARCHICAL_COPY: True,
        AllReduce.REDUCTION_TO_ONE_DEVICE: True,
    }
    assert request.plan.environment["NCCL_P2P_DISABLE"] == "1"
    assert all(case.peer_to_peer for case in of_kind(request_of(BOTH), SUM))


def test_that_what_is_summed_by_nccl_is_not_tested_where_it_is_known_to_be_missing() -> None:
    missing = Problem(code="x", message="TensorFlow does not find libnccl.so.2.")
    support = GpuSupport(without_nccl=missing)
    request = self_test_request(planning_context(BOTH, TWO_UNEQUAL, Known(support=support)))
    assert request is not None
    assert ways_over(request, "GPU:0", "GPU:1") == [
        AllReduce.HIERARCHICAL_COPY,
        AllReduce.REDUCTION_TO_ONE_DEVICE,
    ]


def test_that_without_nccl_automatic_sums_have_no_peers_to_go_without() -> None:
    request = request_of(cpus(2, peer_to_peer=False), CPU_ONLY)
    assert {case.peer_to_peer for case in of_kind(request, SUM)} == {True}


def test_that_a_split_gpu_is_one_device_with_several_places_and_without_nccl() -> None:
    request = request_of(with_memory(RTX_4090.key, SplitMemory(split_mib=(8_000, 4_000))))
    assert [(place.device_key, place.part) for place in request.cases[0].places] == [
        (RTX_4090.key, 0),
        (RTX_4090.key, 1),
        (RTX_3060.key, 0),
    ]
    assert not plan_uses_nccl(request.plan)
    assert AllReduce.NCCL not in {case.all_reduce for case in request.cases}
    # Its processors, memory and way to the host are the same for both parts.
    for kind in (STEP, MEMORY, TRANSFER):
        assert [where(case) for case in of_kind(request, kind)] == [["GPU:0"], ["GPU:2"]]
    pairs = [["GPU:0", "GPU:1"], ["GPU:0", "GPU:2"], ["GPU:1", "GPU:2"]]
    assert [where(case) for case in of_kind(request, PAIR_TRANSFER)] == pairs
    # The run reduces over three in the one way that is right for them.
    assert request.cases[0].all_reduce is AllReduce.REDUCTION_TO_ONE_DEVICE


def test_that_logical_cpus_are_tested_a_few_times_and_not_all() -> None:
    request = request_of(cpus(7), CPU_ONLY)
    assert [len(case.places) for case in of_kind(request, SUM)][:2] == [7, 7]
    assert [where(case) for case in of_kind(request, STEP)] == [[f"CPU:{n}"] for n in range(4)]
    assert [where(case) for case in of_kind(request, MEMORY)] == [["CPU:0"]]
    assert [where(case) for case in of_kind(request, TRANSFER)] == [["CPU:0"]]
    pairs = [where(case) for case in of_kind(request, PAIR_TRANSFER)]
    assert pairs == [["CPU:0", f"CPU:{n}"] for n in range(1, 7)]
    assert of_kind(request, MEMORY)[0].amount_mib == 64


def test_that_a_gpu_and_the_cpu_are_both_tested_without_nccl() -> None:
    devices = DeviceSettings(visible=(RTX_3060.key, CPU_KEY))
    request = request_of(Profile(devices=devices, strategy=MIRRORED))
    assert ways_over(request, "GPU:0", "CPU:0") == [
        AllReduce.AUTO,
        AllReduce.HIERARCHICAL_COPY,
        AllReduce.REDUCTION_TO_ONE_DEVICE,
    ]
    assert [where(case) for case in of_kind(request, STEP)] == [["GPU:0"], ["CPU:0"]]
    tested = [case.amount_mib for case in of_kind(request, MEMORY)]
    assert tested[0] > tested[1] == 64


@pytest.mark.parametrize("replicas", [1, 2, 7])
def test_that_no_two_cases_are_the_same_and_each_hangs_at_some_time(replicas: int) -> None:
    requests = [request_of(cpus(replicas), CPU_ONLY), request_of(BOTH), request_of(BOTH, FIVE)]
    for request in requests:
        identities = {case.identity for case in request.cases}
        assert len(identities) == len(request.cases)
        assert all(0.0 < case.seconds <= 30.0 for case in request.cases)
        # A step may have to be compiled.
        assert max(request.cases, key=lambda case: case.seconds).kind is STEP


def test_that_only_a_step_depends_on_the_model() -> None:
    other = BOTH.model_copy(update={"model": MlpModel(hidden=(3,))})
    before, after = request_of(BOTH).cases, request_of(other).cases
    changed = {
        case.kind
        for case, then in zip(before, after, strict=True)
        if case.identity != then.identity
    }
    assert changed == {STEP}
    assert {case.basis for case in after if case.kind is STEP} == {step_basis(other)}


# In which process, and with how much memory.


def test_that_processes_of_a_run_are_tested_in_one() -> None:
    for kind in (StrategyKind.MULTI_WORKER, StrategyKind.PARAMETER_SERVER):
        request = request_of(Profile(strategy=StrategySettings(kind=kind)))
        assert request.plan.processes == ()
        assert request.plan.strategy is StrategyKind.MIRRORED
        assert where(request.cases[0]) == ["GPU:0", "GPU:1"]
        assert request.profile.strategy.kind is kind


def test_that_devices_which_no_worker_takes_are_not_tested() -> None:
    strategy = StrategySettings(kind=StrategyKind.PARAMETER_SERVER, workers=1)
    request = request_of(Profile(strategy=strategy))
    assert limits(request.plan).keys() == {RTX_4090.key}
    assert of_kind(request, SUM) == []


@pytest.mark.parametrize(("workers", "replicas"), [(None, 2), (1, 2), (3, 3)])
def test_that_workers_on_the_cpu_become_logical_devices(workers: int | None, replicas: int) -> None:
    request = request_of(cpus(1, StrategyKind.MULTI_WORKER, workers=workers), CPU_ONLY)
    assert len(request.plan.replicas) == replicas
    assert limits(request.plan) == {CPU_KEY: (None,) * replicas}


def test_that_the_devices_of_layers_are_tested_as_those_of_replicas() -> None:
    profile = Profile(strategy=StrategySettings(kind=StrategyKind.MODEL_PARALLEL))
    # The run has one replica, on the first of its two places.
    assert len(plan_of(profile).replicas) == 1
    request = request_of(profile)
    assert where(request.cases[0]) == ["GPU:0", "GPU:1"]
    assert ways_over(request, "GPU:0", "GPU:1")[0] is AllReduce.AUTO


def test_that_tasks_and_batches_of_the_profile_do_not_matter() -> None:
    training = TrainingSettings(global_batch_size=1, accumulation_steps=4)
    request = request_of(BOTH.model_copy(update={"task": "predict", "training": training}))
    assert request.plan == request_of(BOTH).plan
    assert all(replica.share > 0 for replica in request.plan.replicas)


def test_that_limits_are_kept_by_an_allocator_that_keeps_them() -> None:
    devices = DeviceSettings(allocator=Allocator.CUDA_MALLOC_ASYNC)
    profile = Profile(devices=devices, strategy=MIRRORED)
    assert plan_of(profile).environment["TF_GPU_ALLOCATOR"] == "cuda_malloc_async"
    assert request_of(profile).plan.environment["TF_GPU_ALLOCATOR"] == ""


@pytest.mark.parametrize("policy", [AllMemory(), GrowingMemory()])
def test_that_what_is_free_is_taken_less_a_margin_and_a_context(policy: Any) -> None:
    profile = with_memory("default", policy)
    sample = sample_with(gpu_4090=4_564, gpu_3060=9_288)
    plan = request_of(profile, TWO_UNEQUAL, sample).plan
    # A tenth of 20 000, and the least margin of 3 000.
    assert limits(plan) == {
        RTX_4090.key: (20_000 - 2_000 - 500,),
        RTX_3060.key: (3_000 - 512 - 500,),
    }
    assert plan.environment["TF_FORCE_GPU_ALLOW_GROWTH"] == "true"


def test_that_all_memory_counts_as_free_without_a_reading() -> None:
    sample = sample_with(gpu_4090=0)
    assert limits(request_of(BOTH, TWO_UNEQUAL, sample).plan)[RTX_3060.key] == (
        FREE_3060_MIB - 1_229 - 500,
    )


def test_that_no_more_is_taken_than_the_limit_of_the_profile() -> None:
    within = request_of(with_memory(RTX_3060.key, LimitedMemory(limit_mib=2_000)))
    assert limits(within.plan)[RTX_3060.key] == (2_000,)
    beyond = request_of(with_memory(RTX_3060.key, LimitedMemory(limit_mib=99_000)))
    assert limits(beyond.plan) == limits(request_of(BOTH).plan)


def test_that_a_split_that_fits_is_kept_and_another_is_made_smaller_in_proportion() -> None:
    profile = with_memory(RTX_3060.key, SplitMemory(split_mib=(4_000, 2_000)))
    assert limits(request_of(profile).plan)[RTX_3060.key] == (4_000, 2_000)
    # 2 000 of them are free, and 988 may be taken.
    little = sample_with(gpu_4090=0, gpu_3060=FREE_3060_MIB - 2_000)
    assert limits(request_of(profile, TWO_UNEQUAL, little).plan)[RTX_3060.key] == (658, 329)


def test_that_a_split_is_tested_growing_as_limits_are() -> None:
    memory = {
        RTX_4090.key: SplitMemory(split_mib=(2_000, 8_000)),
        RTX_3060.key: LimitedMemory(limit_mib=1_000),
    }
    plan = request_of(Profile(strategy=MIRRORED, memory=memory)).plan
    assert plan.environment["TF_FORCE_GPU_ALLOW_GROWTH"] == "true"


def test_that_the_smallest_part_of_a_split_keeps_some_memory() -> None:
    profile = with_memory(RTX_3060.key, SplitMemory(split_mib=(1, 30_000)))
    first, second = limits(request_of(profile).plan)[RTX_3060.key]
    assert first == 1
    assert second == 30_000 * (FREE_3060_MIB - 1_229 - 500) // 30_001


def test_that_memory_is_tested_in_three_quarters_of_what_is_taken() -> None:
    memory = {
        RTX_4090.key: SplitMemory(split_mib=(2_000, 8_000)),
        RTX_3060.key: LimitedMemory(limit_mib=1_000),
    }
    request = request_of(Profile(strategy=MIRRORED, memory=memory))
    assert [case.amount_mib for case in of_kind(request, MEMORY)] == [1_500, 750]
    others = [case for case in request.cases if case.kind is not MEMORY]
    assert {case.amount_mib for case in others} == {0}


def test_that_a_small_limit_leaves_the_other_cases_what_they_need() -> None:
    memory = {
        RTX_4090.key: SplitMemory(split_mib=(200, 8_000)),
        RTX_3060.key: LimitedMemory(limit_mib=LEAST_ROOM_MIB),
    }
    request = request_of(Profile(strategy=MIRRORED, memory=memory))
    assert [case.amount_mib for case in of_kind(request, MEMORY)] == [0, 272]


# What is refused, and why.


def test_that_what_cannot_be_planned_is_not_tested() -> None:
    gone = Profile(devices=DeviceSettings(visible=("GPU-gone",)), strategy=MIRRORED)
    assert asked(gone) is None
    unfitting = Profile(strategy=MIRRORED.model_copy(update={"shares": (1, 2, 3)}))
    assert asked(unfitting) is None
    # Nothing is used, so nothing of it is too small.
    for profile in (gone, unfitting):
        assert devices_without_room(planning_context(profile, TWO_UNEQUAL)) == ()


def test_that_a_gpu_with_too_little_room_is_named_and_none_is_tested() -> None:
    least_free = LEAST_ROOM_MIB + 512 + 500
    for free, names in ((least_free, ()), (least_free - 1, ("RTX 3060",))):
        sample = sample_with(gpu_4090=0, gpu_3060=FREE_3060_MIB - free)
        context = planning_context(BOTH, TWO_UNEQUAL, Known(sample))
        assert devices_without_room(context) == names
        assert (self_test_request(context) is None) is bool(names)


def test_that_a_limit_below_the_least_is_too_little_room_too() -> None:
    low = with_memory(RTX_4090.key, LimitedMemory(limit_mib=LEAST_ROOM_MIB - 1))
    assert asked(low) is None
    assert devices_without_room(planning_context(low, TWO_UNEQUAL)) == ("RTX 4090",)
    least = with_memory(RTX_4090.key, LimitedMemory(limit_mib=LEAST_ROOM_MIB))
    assert limits(request_of(least).plan)[RTX_4090.key] == (LEAST_ROOM_MIB,)


def test_that_a_gpu_of_unknown_memory_is_left_alone() -> None:
    unknown = RTX_3060.model_copy(update={"memory_total_mib": None})
    inventory = DeviceInventory(driver="580.65", devices=(unknown, CPU))
    assert asked(Profile(), inventory) is None
    assert devices_without_room(planning_context(Profile(), inventory)) == ("RTX 3060",)


def test_that_a_full_gpu_that_the_run_does_not_use_is_in_nobodys_way() -> None:
    sample = sample_with(gpu_4090=0, gpu_3060=FREE_3060_MIB)
    context = planning_context(Profile(), TWO_UNEQUAL, Known(sample))
    # It is chosen, but the strategy takes one device.
    assert RTX_3060 in context.gpus
    assert devices_without_room(context) == ()
    assert self_test_request(context) is not None


def test_that_the_cpu_never_has_too_little_room() -> None:
    context = planning_context(cpus(2), TWO_UNEQUAL, Known(sample_with(gpu_4090=24_564)))
    assert devices_without_room(context) == ()
    assert self_test_request(context) is not None


# What a plan sums by.


@pytest.mark.parametrize(
    ("profile", "by_nccl"),
    [
        (BOTH, True),
        (Profile(), True),
        (cpus(2), False),
        (with_memory(RTX_3060.key, SplitMemory(split_mib=(900, 900))), False),
        (
            Profile(
                devices=DeviceSettings(visible=(RTX_3060.key, CPU_KEY)),
                strategy=MIRRORED,
            ),
            False,
        ),
    ],
    ids=["two GPUs", "one GPU", "CPUs", "a split GPU", "GPU and CPU"],
)
def test_that_nccl_wants_a_gpu_for_each_replica(profile: Profile, *, by_nccl: bool) -> None:
    assert plan_uses_nccl(plan_of(profile)) is by_nccl


# What a self-test depends on.


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "another"},
        {"task": "evaluate"},
        {"training": TrainingSettings(epochs=99, learning_rate=0.5, global_batch_size=8)},
        {"strategy": MIRRORED.model_copy(update={"shares": "balanced"})},
    ],
    ids=["name", "task", "training", "shares"],
)
def test_that_a_self_test_stays_true_when_other_settings_change(changes: dict[str, Any]) -> None:
    changed = BOTH.model_copy(update=changes)
    assert changed != BOTH
    assert self_test_settings(changed) == self_test_settings(BOTH)
    assert request_of(changed).cases == request_of(BOTH).cases


@pytest.mark.parametrize(
    "changes",
    [
        {"devices": DeviceSettings(visible=(CPU_KEY,), cpu_replicas=2)},
        {"memory": {RTX_3060.key: LimitedMemory(limit_mib=1_000)}},
        {"model": MlpModel(hidden=(3,))},
        {"data": DigitsData(validation_fraction=0.5)},
        {"training": TrainingSettings(mixed_precision=True)},
        {"training": TrainingSettings(jit_compile=True)},
        {"strategy": StrategySettings()},
        {"strategy": MIRRORED.model_copy(update={"all_reduce": AllReduce.NCCL})},
        {"strategy": MIRRORED.model_copy(update={"peer_to_peer": False})},
    ],
)
def test_that_a_self_test_is_outdated_by_what_it_depends_on(changes: dict[str, Any]) -> None:
    changed = BOTH.model_copy(update=changes)
    assert self_test_settings(changed) != self_test_settings(BOTH)
    assert request_of(changed).cases != request_of(BOTH).cases
    # The settings alone ask for the same cases as the whole profile.
    assert request_of(self_test_settings(changed)).cases == request_of(changed).cases


def test_that_a_self_test_is_outdated_by_another_number_of_workers() -> None:
    profiles = [cpus(1, StrategyKind.MULTI_WORKER, workers=count) for count in (2, 3, 4)]
    for before, after in pairwise(profiles):
        assert request_of(before, CPU_ONLY).cases != request_of(after, CPU_ONLY).cases
        assert self_test_settings(before) != self_test_settings(after)


def test_that_the_digest_of_a_step_says_model_data_and_precision() -> None:
    profiles = [
        BOTH,
        BOTH.model_copy(update={"model": MlpModel(hidden=(3,))}),
        BOTH.model_copy(update={"data": DigitsData(validation_fraction=0.5)}),
        BOTH.model_copy(update={"training": TrainingSettings(mixed_precision=True)}),
        BOTH.model_copy(update={"training": TrainingSettings(jit_compile=True)}),
    ]
    assert len({step_basis(each) for each in profiles}) == len(profiles)
    elsewhere = BOTH.model_copy(update={"strategy": StrategySettings(), "name": "another"})
    assert step_basis(elsewhere) == step_basis(BOTH)


# What is said of it before a start.


def remembered(request: SelfTestRequest, **wrong: Any) -> SelfTest:
    """All passed but the cases of that kind, and of that way, where one is given."""
    kind, way = wrong["kind"], wrong.get("way")
    outcomes = []
    for case in request.cases:
        bad = case.kind is kind and way in (None, case.all_reduce)
        result = CaseResult.WRONG if bad else CaseResult.PASSED
        outcomes.append(CaseOutcome(case=case, result=result, tested_s=1_795_000_000.0))
    return SelfTest(outcomes=tuple(outcomes), tested_s=1_795_000_000.0, is_remembered=True)


def said(profile: Profile, test: SelfTest | None) -> list[Problem]:
    preparation = prepare(profile, TWO_UNEQUAL, Known(self_test=test))
    assert preparation.is_startable
    return [each for each in preparation.problems if each.code.startswith("self_test")]


def test_that_wrong_sums_of_the_run_are_a_warning_with_its_date_and_a_fix() -> None:
    test = remembered(request_of(BOTH), kind=SUM, way=AllReduce.AUTO)
    (problem,) = said(BOTH, test)
    assert problem.severity is Severity.WARNING
    assert problem.message == "Automatic all-reduce sums wrongly over RTX 4090 and RTX 3060."
    # It is an error of the machine, which a start does not have to wait for.
    assert "Seen by the self-test of " in problem.hint
    assert "November 2026" in problem.hint
    assert problem.hint.endswith("; it can be repeated.")
    assert problem.hint.startswith("A training would learn from wrong gradients")
    assert problem.fix is not None
    assert problem.fix.label == "Use NCCL"


def test_that_wrong_sums_in_another_way_than_the_runs_are_not_said() -> None:
    test = remembered(request_of(BOTH), kind=SUM, way=AllReduce.NCCL)
    assert said(BOTH, test) == []
    nccl = Profile(strategy=MIRRORED.model_copy(update={"all_reduce": AllReduce.NCCL}))
    assert [each.code for each in said(nccl, test)] == ["self_test_all_reduce"]


def test_that_each_device_that_failed_and_is_used_is_said_of_its_own() -> None:
    test = remembered(request_of(BOTH), kind=MEMORY)
    assert [each.message for each in said(BOTH, test)] == [
        "The memory of RTX 4090 gives wrong values.",
        "The memory of RTX 3060 gives wrong values.",
    ]
    # One device is the first of the two; the other is not asked for anything.
    (only,) = said(Profile(), test)
    assert "RTX 4090" in only.message


def test_that_nothing_is_said_without_a_test_or_without_a_training() -> None:
    test = remembered(request_of(BOTH), kind=MEMORY)
    assert said(BOTH, None) == []
    assert said(BOTH, SelfTest()) == []
    predicts = BOTH.model_copy(update={"task": "predict"})
    found = prepare(predicts, TWO_UNEQUAL, Known(self_test=test)).problems
    assert not any(each.code.startswith("self_test") for each in found)
