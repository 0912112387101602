"""What TensorFlow really allows of memory, rule by rule: code, field, reason, and every fix."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpupanel.domain.device import DeviceInventory, PhysicalDevice
from gpupanel.domain.gpu_support import GpuSupport
from gpupanel.domain.memory import (
    CUDA_CONTEXT_MIB,
    AllMemory,
    Allocator,
    GrowingMemory,
    LimitedMemory,
    MemoryPolicy,
    SplitMemory,
)
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import DeviceDescription, DeviceSettings, Profile
from gpupanel.domain.strategy import AllReduce, StrategyKind, StrategySettings
from gpupanel.domain.telemetry import DeviceProcess, DeviceReading, TelemetrySample
from gpupanel.domain.tensorflow_facts import TensorFlowBuild
from gpupanel.planning.context import Known
from gpupanel.planning.description import described
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.memory_presets import DESKTOP_MIB, MemoryPreset, preset_policy
from gpupanel.planning.prepare import Preparation, other_processes, prepare
from gpupanel.planning.rules.memory_rules import scaled_to
from tests.fakes.devices import CPU, RTX_3060, RTX_4090, TWO_UNEQUAL, sample_with

MIRRORED = StrategySettings(kind=StrategyKind.MIRRORED)
H100 = RTX_4090.model_copy(
    update={
        "key": "GPU-h100",
        "name": "H100",
        "memory_total_mib": 81_559,
        "compute_capability": (9, 0),
        "is_partitioned": True,
    }
)


def instance(number: int, size_mib: int) -> PhysicalDevice:
    return H100.model_copy(
        update={
            "key": f"MIG-{number}",
            "name": f"H100 MIG {number}",
            "memory_total_mib": size_mib,
            "is_partitioned": False,
            "parent_key": H100.key,
        }
    )


SMALL, BIG = instance(1, 9_856), instance(2, 40_192)
IN_MIG_MODE = DeviceInventory(driver="580.65", devices=(H100, SMALL, BIG, RTX_3060, CPU))
BUILD = TensorFlowBuild(
    version="2.21.0",
    is_cuda_build=True,
    cuda_version="12.5.1",
    compute_capabilities=("sm_60", "sm_70", "sm_80", "sm_89", "compute_90"),
)


def mirrored(*visible: str, **parts: Any) -> Profile:
    devices = DeviceSettings(visible=visible)
    return Profile(**{"strategy": MIRRORED, "devices": devices, **parts})


def found(
    profile: Profile,
    code: str,
    inventory: DeviceInventory = TWO_UNEQUAL,
    sample: TelemetrySample | None = None,
    build: TensorFlowBuild | None = None,
) -> Problem:
    """The one problem with that code; each of its fixes makes it go away."""
    support = GpuSupport(build=build)
    problems = prepare(profile, inventory, Known(sample, support=support)).problems
    (problem,) = (problem for problem in problems if problem.code == code)
    fixes = (*([problem.fix] if problem.fix else []), *problem.alternatives)
    for fix in fixes:
        mended = prepare(apply_fix(profile, fix), inventory, Known(sample, support=support))
        assert code not in {each.code for each in mended.problems}, fix.label
        assert mended.plan is not None
    return problem


def codes(
    profile: Profile,
    inventory: DeviceInventory = TWO_UNEQUAL,
    sample: TelemetrySample | None = None,
    build: TensorFlowBuild | None = None,
) -> set[str]:
    support = GpuSupport(build=build)
    return {
        each.code for each in prepare(profile, inventory, Known(sample, support=support)).problems
    }


def available(preparation: Preparation) -> dict[str, int | None]:
    """What TensorFlow can have of each planned device, in MiB by its key."""
    assert preparation.plan is not None
    return {device.key: device.available_mib for device in preparation.plan.devices}


# Growth, limits, isolation


def test_that_growth_that_differs_can_be_had_with_a_process_for_each_gpu() -> None:
    profile = mirrored(memory={"GPU-4090": AllMemory()})
    problem = found(profile, "memory_growth_differs")
    (apart,) = problem.alternatives
    isolated = apply_fix(profile, apart)
    assert isolated.memory == profile.memory
    plan = prepare(isolated, TWO_UNEQUAL).plan
    assert plan is not None
    assert [process.environment["TF_FORCE_GPU_ALLOW_GROWTH"] for process in plan.processes] == [
        "false",
        "true",
    ]


def test_that_a_limit_that_cancels_growth_names_both_gpus() -> None:
    profile = mirrored(memory={"GPU-4090": LimitedMemory(limit_mib=4096)})
    problem = found(profile, "memory_limit_cancels_growth")
    assert problem.is_error
    assert problem.field == "memory"
    assert "RTX 4090 has a fixed limit; then RTX 3060 cannot grow" in problem.message
    assert len(problem.alternatives) == 1


def test_that_isolation_is_not_offered_where_workers_would_be_unequal() -> None:
    profile = mirrored(memory={"GPU-4090": SplitMemory(split_mib=(1024, 1024))})
    assert found(profile, "memory_limit_cancels_growth").alternatives == ()


def test_that_isolation_is_for_training_only() -> None:
    profile = mirrored(memory={"GPU-4090": AllMemory()}, task="evaluate")
    assert found(profile, "memory_growth_differs").alternatives == ()


def test_that_isolation_takes_along_only_what_workers_can_use() -> None:
    strategy = StrategySettings(
        kind=StrategyKind.MODEL_PARALLEL, placement="auto", all_reduce=AllReduce.HIERARCHICAL_COPY
    )
    profile = mirrored(memory={"GPU-4090": AllMemory()}, strategy=strategy)
    (apart,) = found(profile, "memory_growth_differs").alternatives
    isolated = apply_fix(profile, apart).strategy
    assert (isolated.placement, isolated.all_reduce) == (None, AllReduce.AUTO)
    assert "strategy_key_unused" not in codes(apply_fix(profile, apart))


# The allocator


@pytest.mark.parametrize(
    "policy", [LimitedMemory(limit_mib=4096), SplitMemory(split_mib=(1024, 1024))]
)
def test_that_a_limit_with_cuda_malloc_async_is_refused(policy: MemoryPolicy) -> None:
    devices = DeviceSettings(allocator=Allocator.CUDA_MALLOC_ASYNC)
    profile = mirrored(devices=devices, memory={"default": policy})
    problem = found(profile, "limit_with_cuda_malloc_async")
    assert problem.is_error
    assert problem.field == "devices.allocator"
    assert "RTX 4090, RTX 3060" in problem.message


def test_that_cudas_allocator_is_asked_for_in_the_environment() -> None:
    devices = DeviceSettings(allocator=Allocator.CUDA_MALLOC_ASYNC)
    preparation = prepare(mirrored(devices=devices), TWO_UNEQUAL)
    assert preparation.is_startable
    assert preparation.plan is not None
    assert preparation.plan.environment["TF_GPU_ALLOCATOR"] == "cuda_malloc_async"


# Sizes


def test_that_the_cuda_context_counts_beside_a_limit() -> None:
    free_mib = 12_288 - 4_288
    fits = mirrored(
        "GPU-3060", memory={"GPU-3060": LimitedMemory(limit_mib=free_mib - CUDA_CONTEXT_MIB)}
    )
    sample = sample_with(gpu_3060=4_288)
    assert "memory_limit_above_free" not in codes(fits, sample=sample)
    over = mirrored(
        "GPU-3060", memory={"GPU-3060": LimitedMemory(limit_mib=free_mib - CUDA_CONTEXT_MIB + 1)}
    )
    problem = found(over, "memory_limit_above_free", sample=sample)
    assert problem.severity is Severity.WARNING
    assert "CUDA context" in problem.message
    assert problem.fix is not None
    assert problem.fix.label == f"Use {free_mib - CUDA_CONTEXT_MIB:,} MiB"


def test_that_a_limit_above_the_total_is_lowered_to_what_is_free() -> None:
    profile = mirrored("GPU-3060", memory={"GPU-3060": LimitedMemory(limit_mib=16_384)})
    problem = found(profile, "memory_limit_above_total", sample=sample_with(gpu_3060=2_288))
    assert problem.is_error
    assert problem.fix is not None
    policy = apply_fix(profile, problem.fix).memory["GPU-3060"]
    assert policy == LimitedMemory(limit_mib=10_000 - CUDA_CONTEXT_MIB)


def test_that_a_gpu_without_room_for_a_context_offers_no_lower_limit() -> None:
    profile = mirrored("GPU-3060", memory={"GPU-3060": LimitedMemory(limit_mib=1_024)})
    problem = found(profile, "memory_limit_above_free", sample=sample_with(gpu_3060=12_000))
    assert problem.fix is None


def test_that_a_gpu_that_others_fill_is_pointed_out_before_the_start() -> None:
    full = sample_with(gpu_4090=0, gpu_3060=12_280)
    problem = found(mirrored(), "gpu_nearly_full", sample=full)
    assert problem.severity is Severity.WARNING
    assert problem.message.startswith("8 of 12,288 MiB of RTX 3060 are free.")
    assert problem.fix is not None
    assert problem.fix.label == "Use RTX 4090"
    assert problem.alternatives == ()
    # A limit is kept to whatever is free, and warned of by itself.
    limited = mirrored(memory={"default": LimitedMemory(limit_mib=1_000)})
    assert "gpu_nearly_full" not in codes(limited, sample=full)


@pytest.mark.parametrize("rest_mib", [0, 100, 225, 226, 480])
def test_that_a_fuller_gpu_does_not_pass_for_one_with_more_room(rest_mib: int) -> None:
    full = sample_with(gpu_3060=12_288 - CUDA_CONTEXT_MIB - rest_mib)
    assert "gpu_nearly_full" in codes(mirrored("GPU-3060"), sample=full)


def test_that_cudas_allocator_leaves_nothing_to_others() -> None:
    devices = DeviceSettings(visible=("GPU-3060",), allocator=Allocator.CUDA_MALLOC_ASYNC)
    full = sample_with(gpu_3060=12_288 - CUDA_CONTEXT_MIB - 256)
    assert "gpu_nearly_full" not in codes(mirrored(devices=devices), sample=full)
    assert available(prepare(mirrored(devices=devices), TWO_UNEQUAL, Known(full))) == {
        "GPU-3060": 256
    }


def test_that_what_tensorflow_can_have_is_known_before_the_start() -> None:
    memory = {"GPU-4090": LimitedMemory(limit_mib=4_096, growth=True)}
    sample = sample_with(gpu_3060=2_288)
    now = available(prepare(mirrored(memory=memory), TWO_UNEQUAL, Known(sample)))
    assert now == {"GPU-4090": 4_096, "GPU-3060": 10_000 - CUDA_CONTEXT_MIB - 1_536}
    # Where nothing is known of now, of a GPU that nobody uses.
    unused = prepare(mirrored(memory=memory), TWO_UNEQUAL)
    assert available(unused)["GPU-3060"] == 12_288 - CUDA_CONTEXT_MIB - 1_536
    workers = StrategySettings(kind=StrategyKind.MULTI_WORKER)
    plan = prepare(mirrored(memory=memory, strategy=workers), TWO_UNEQUAL, Known(sample)).plan
    assert plan is not None
    (small,) = plan.processes[1].devices
    assert small.available_mib == now["GPU-3060"]
    # A run goes on as it was planned, whatever is free by then.
    later = prepare(mirrored(memory=memory, strategy=workers), TWO_UNEQUAL).plan
    assert plan != later
    assert plan.is_like(later)
    assert not plan.is_like(unused.plan)
    assert not plan.is_like(None)


def test_that_a_limit_beside_the_context_is_more_than_an_unused_gpu_has() -> None:
    profile = mirrored("GPU-3060", memory={"GPU-3060": LimitedMemory(limit_mib=12_000)})
    problem = found(profile, "memory_limit_above_free")
    assert problem.message == (
        "12,000 MiB of RTX 3060 are asked for and the CUDA context takes some 500 MiB besides, "
        "but 12,288 MiB are all that it has."
    )
    assert problem.fix is not None
    assert problem.fix.label == "Use 11,788 MiB"


def test_that_a_limit_gives_back_what_tensorflow_leaves_to_others() -> None:
    profile = mirrored("GPU-3060")
    # 2,100 MiB beside the context, of which TensorFlow would leave 1,536.
    assert "gpu_nearly_full" not in codes(profile, sample=sample_with(gpu_3060=9_688))
    problem = found(profile, "gpu_nearly_full", sample=sample_with(gpu_3060=11_488))
    assert problem.fix is not None
    assert problem.fix.label == "Grow up to 300 MiB"
    assert [each.label for each in problem.alternatives] == ["Use RTX 4090"]


def test_that_a_gpu_that_is_full_itself_is_not_offered_and_chosen_ones_come_first() -> None:
    both = sample_with(gpu_4090=24_564, gpu_3060=12_288)
    problems = prepare(mirrored("GPU-3060"), TWO_UNEQUAL, Known(both)).problems
    (problem,) = (each for each in problems if each.code == "gpu_nearly_full")
    assert problem.fix is None


@given(
    st.lists(st.integers(1, 50_000), min_size=2, max_size=6),
    st.integers(6, 100_000),
)
def test_that_a_scaled_split_keeps_its_parts_and_fits(parts: list[int], size_mib: int) -> None:
    scaled = scaled_to(SplitMemory(split_mib=tuple(parts)), size_mib)
    assert isinstance(scaled, SplitMemory)
    assert len(scaled.split_mib) == len(parts)
    # A part that would vanish keeps 1 MiB.
    assert sum(scaled.split_mib) <= size_mib + len(parts)


@pytest.mark.parametrize(
    ("preset", "total_mib", "free_mib", "policy"),
    [
        (MemoryPreset.EVERYTHING, 12_288, 9_000, AllMemory()),
        (
            MemoryPreset.SHARE_WITH_DESKTOP,
            12_288,
            9_000,
            LimitedMemory(limit_mib=9_000 - DESKTOP_MIB - CUDA_CONTEXT_MIB, growth=True),
        ),
        (
            MemoryPreset.SHARE_WITH_DESKTOP,
            12_288,
            None,
            LimitedMemory(limit_mib=12_288 - DESKTOP_MIB - CUDA_CONTEXT_MIB, growth=True),
        ),
        (
            MemoryPreset.LEAVE_ROOM_FOR_OTHERS,
            12_288,
            9_000,
            LimitedMemory(limit_mib=6_144 - CUDA_CONTEXT_MIB, growth=True),
        ),
        (
            MemoryPreset.LEAVE_ROOM_FOR_OTHERS,
            12_288,
            2_000,
            LimitedMemory(limit_mib=2_000 - CUDA_CONTEXT_MIB, growth=True),
        ),
        (MemoryPreset.SHARE_WITH_DESKTOP, 12_288, 700, GrowingMemory()),
        (MemoryPreset.SHARE_WITH_DESKTOP, 12_288, 1_551, GrowingMemory()),
        (MemoryPreset.SHARE_WITH_DESKTOP, None, None, GrowingMemory()),
    ],
)
def test_that_a_preset_is_a_policy_that_fits_what_is_free(
    preset: MemoryPreset, total_mib: int | None, free_mib: int | None, policy: MemoryPolicy
) -> None:
    assert preset_policy(preset, total_mib=total_mib, free_mib=free_mib) == policy


# GPUs in MIG mode


def test_that_no_gpu_in_mig_mode_is_among_those_that_nothing_named_means() -> None:
    profile = mirrored("MIG-2")
    assert "gpu_partitioned" not in codes(profile, IN_MIG_MODE)
    assert [gpu.key for gpu in IN_MIG_MODE.gpus] == ["MIG-1", "MIG-2", "GPU-3060"]


def test_that_a_gpu_in_mig_mode_is_refused_and_its_instances_offered() -> None:
    profile = mirrored("GPU-h100", "GPU-3060")
    problem = found(profile, "gpu_partitioned", IN_MIG_MODE)
    assert problem.is_error
    assert problem.fix is not None
    assert problem.fix.changes[0].value == ["GPU-3060", "MIG-1", "MIG-2"]


@pytest.mark.parametrize(
    ("visible", "left", "label"),
    [
        (("GPU-h100", "GPU-3060"), ["GPU-3060"], "Use the others"),
        (("GPU-h100",), ["cpu"], "Use the CPU"),
    ],
)
def test_that_a_gpu_in_mig_mode_without_instances_is_left_out(
    visible: tuple[str, ...], left: list[str], label: str
) -> None:
    inventory = DeviceInventory(driver="580.65", devices=(H100, RTX_3060, CPU))
    fix = found(mirrored(*visible), "gpu_partitioned", inventory).fix
    assert fix is not None
    assert (fix.label, fix.changes[0].value) == (label, left)


def test_that_a_mig_instance_shares_its_process_with_nobody() -> None:
    problem = found(mirrored("MIG-1", "MIG-2"), "mig_instance_not_alone", IN_MIG_MODE)
    assert problem.is_error
    assert problem.fix is not None
    assert "process of its own" in problem.fix.label
    (alone,) = problem.alternatives
    assert alone.changes[0].value == ["MIG-2"]
    evaluating = mirrored("MIG-1", "MIG-2", task="evaluate")
    only = found(evaluating, "mig_instance_not_alone", IN_MIG_MODE).fix
    assert only is not None
    assert only.changes[0].value == ["MIG-2"]


@pytest.mark.parametrize("kind", [StrategyKind.ONE_DEVICE, StrategyKind.MULTI_WORKER])
def test_that_a_mig_instance_alone_in_its_process_is_fine(kind: StrategyKind) -> None:
    profile = mirrored("MIG-1", "MIG-2", strategy=StrategySettings(kind=kind))
    assert "mig_instance_not_alone" not in codes(profile, IN_MIG_MODE)


def test_that_nccl_between_instances_of_one_gpu_is_refused() -> None:
    strategy = StrategySettings(kind=StrategyKind.MULTI_WORKER, all_reduce=AllReduce.NCCL)
    assert found(mirrored("MIG-1", "MIG-2", strategy=strategy), "nccl_with_mig", IN_MIG_MODE)
    apart = mirrored("MIG-1", "GPU-3060", strategy=strategy)
    assert "nccl_with_mig" not in codes(apart, IN_MIG_MODE)


def test_that_workers_with_split_gpus_do_not_sum_by_nccl() -> None:
    strategy = StrategySettings(kind=StrategyKind.MULTI_WORKER, all_reduce=AllReduce.NCCL)
    halves = SplitMemory(split_mib=(1024, 1024))
    profile = mirrored(strategy=strategy, memory={"default": halves})
    assert found(profile, "nccl_with_split").is_error


def test_that_split_parts_that_no_worker_uses_are_reported() -> None:
    strategy = StrategySettings(kind=StrategyKind.PARAMETER_SERVER)
    halves = SplitMemory(split_mib=(1024, 1024))
    problem = found(mirrored(strategy=strategy, memory={"GPU-4090": halves}), "split_parts_unused")
    assert problem.severity is Severity.WARNING
    assert "RTX 4090" in problem.message


# TensorFlow's build


def gpu_of(capability: tuple[int, int] | None, key: str = "GPU-x") -> PhysicalDevice:
    return RTX_4090.model_copy(update={"key": key, "compute_capability": capability, "name": key})


@pytest.mark.parametrize("capability", [(6, 0), (6, 1), (7, 5), (8, 6), (8, 9), None])
def test_that_a_gpu_that_the_build_has_machine_code_for_is_fine(
    capability: tuple[int, int] | None,
) -> None:
    inventory = DeviceInventory(devices=(gpu_of(capability), CPU))
    assert codes(Profile(), inventory, build=BUILD) == set()


@pytest.mark.parametrize("capability", [(9, 0), (10, 0), (12, 0)])
def test_that_a_gpu_newer_than_the_build_starts_slowly(capability: tuple[int, int]) -> None:
    inventory = DeviceInventory(devices=(gpu_of(capability), CPU))
    problem = found(Profile(), "kernels_compiled_at_start", inventory, build=BUILD)
    assert problem.severity is Severity.HINT


def test_that_a_gpu_older_than_the_build_is_left_out() -> None:
    inventory = DeviceInventory(devices=(gpu_of((3, 5), "GPU-old"), RTX_4090, CPU))
    problem = found(mirrored(), "gpu_not_in_tensorflow_build", inventory, build=BUILD)
    assert problem.is_error
    assert "GPU-old (compute capability 3.5): the build needs 6.0 at least" in problem.message
    assert problem.fix is not None
    assert problem.fix.changes[0].value == ["GPU-4090"]


def test_that_equal_gpus_are_reported_once() -> None:
    old = tuple(gpu_of((3, 7), key).model_copy(update={"name": "K80"}) for key in ("a", "b"))
    inventory = DeviceInventory(devices=(*old, RTX_4090, CPU))
    problem = found(mirrored(), "gpu_not_in_tensorflow_build", inventory, build=BUILD)
    assert problem.message.count("K80") == 1
    assert problem.fix is not None
    assert problem.fix.label == "Leave them out"


def test_that_the_cpu_is_offered_where_every_gpu_is_too_old() -> None:
    inventory = DeviceInventory(devices=(gpu_of((5, 2)), CPU))
    build = BUILD.model_copy(update={"compute_capabilities": ("sm_9x", "sm_90a")})
    problem = found(Profile(), "gpu_not_in_tensorflow_build", inventory, build=build)
    assert "the build needs 9.0 at least" in problem.message
    assert problem.fix is not None
    assert problem.fix.label == "Train on the CPU"


def test_that_a_build_whose_targets_cannot_be_read_is_said_to_need_others() -> None:
    inventory = DeviceInventory(devices=(gpu_of((5, 2)), CPU))
    build = BUILD.model_copy(update={"compute_capabilities": ("gfx90a",)})
    problem = found(Profile(), "gpu_not_in_tensorflow_build", inventory, build=build)
    assert "needs another one" in problem.message


def test_that_a_build_without_cuda_is_refused_on_a_gpu_and_fine_on_the_cpu() -> None:
    build = TensorFlowBuild(version="2.21.0")
    problem = found(mirrored(), "tensorflow_without_cuda", build=build)
    assert problem.is_error
    assert codes(Profile(devices=DeviceSettings(visible=("cpu",))), build=build) == set()


def test_that_a_build_that_does_not_say_its_targets_is_not_evaluated() -> None:
    build = BUILD.model_copy(update={"compute_capabilities": ()})
    inventory = DeviceInventory(devices=(gpu_of((3, 5)), CPU))
    assert codes(Profile(), inventory, build=build) == set()


# Profiles of other machines


def test_that_a_saved_profile_says_what_its_gpus_are() -> None:
    profile = mirrored("GPU-4090", memory={"GPU-3060": AllMemory(), "default": AllMemory()})
    first = described(profile, TWO_UNEQUAL)
    assert first.devices.described == {
        "GPU-4090": DeviceDescription(name="RTX 4090", memory_total_mib=24_564),
        "GPU-3060": DeviceDescription(name="RTX 3060", memory_total_mib=12_288),
    }
    elsewhere = described(first, DeviceInventory(devices=(CPU,)))
    assert elsewhere == first
    forgotten = first.model_copy(update={"memory": {}})
    assert set(described(forgotten, TWO_UNEQUAL).devices.described) == {"GPU-4090"}
    unknown = mirrored("GPU-elsewhere", "cpu")
    assert described(unknown, TWO_UNEQUAL) == unknown


def absent(policy: MemoryPolicy | None, description: DeviceDescription | None) -> Profile:
    devices = DeviceSettings(
        visible=("GPU-gone",), described={"GPU-gone": description} if description else {}
    )
    return Profile(devices=devices, memory={"GPU-gone": policy} if policy else {})


@pytest.mark.parametrize(
    ("policy", "description", "nearest"),
    [
        (None, DeviceDescription(name="RTX 3060", memory_total_mib=24_564), "GPU-3060"),
        (None, DeviceDescription(name="RTX 2080", memory_total_mib=11_264), "GPU-3060"),
        (None, DeviceDescription(name="RTX 3090", memory_total_mib=24_576), "GPU-4090"),
        (None, DeviceDescription(name="RTX 3090"), "GPU-4090"),
        (None, None, "GPU-4090"),
        (LimitedMemory(limit_mib=16_384), DeviceDescription(name="RTX 3060"), "GPU-4090"),
        (LimitedMemory(limit_mib=12_000), DeviceDescription(name="RTX 3060"), "GPU-4090"),
        (SplitMemory(split_mib=(1024, 1024)), None, "GPU-4090"),
    ],
)
def test_that_the_nearest_gpu_is_offered_for_one_of_another_machine(
    policy: MemoryPolicy | None, description: DeviceDescription | None, nearest: str
) -> None:
    problem = found(absent(policy, description), "device_not_found")
    assert problem.fix is not None
    assert problem.fix.changes[0].value == [nearest]
    if description is not None:
        assert f"{description.name} (GPU-gone)" in problem.message


def test_that_each_gpu_stands_in_for_one_only() -> None:
    names = ("GPU-a", "GPU-b", "GPU-c")
    described_as = DeviceDescription(name="RTX 3060", memory_total_mib=12_288)
    devices = DeviceSettings(visible=names, described=dict.fromkeys(names, described_as))
    fix = found(mirrored(devices=devices), "device_not_found").fix
    assert fix is not None
    assert fix.changes[0].value == ["GPU-3060", "GPU-4090"]


# Others on the chosen GPUs


def test_that_other_processes_on_the_chosen_gpus_are_listed_who_holds_most_first() -> None:
    small, secret = DeviceProcess(pid=1, memory_used_mib=100), DeviceProcess(pid=2)
    big = DeviceProcess(pid=3, name="python", memory_used_mib=900)
    sample = TelemetrySample(
        time_s=0.0,
        readings=(
            DeviceReading(key="GPU-4090", memory_used_mib=1_100, processes=(small, secret, big)),
            DeviceReading(key="GPU-3060"),
            DeviceReading(key="cpu", processes=(small,)),
        ),
    )
    (held,) = prepare(mirrored(), TWO_UNEQUAL, Known(sample)).other_processes
    assert (held.device_key, held.device_name, held.memory_mib) == ("GPU-4090", "RTX 4090", 1_100)
    assert held.processes == (big, small, secret)
    assert other_processes((CPU,), sample) == ()
    assert other_processes((RTX_4090,), None) == ()
    assert other_processes((H100,), sample) == ()
