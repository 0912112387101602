"""What a training takes of each memory, and which batches and shares fit."""

import pytest

from gpupanel.domain.data import DigitsData
from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.device_memory import DeviceMemory
from gpupanel.domain.memory import Allocator, LimitedMemory, SplitMemory
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.step_memory import MeasuredStep, MemoryPeak, StepMemory
from gpupanel.domain.strategy import AllReduce, StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.context import Known, PlanningContext, planning_context
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.memory_estimate import MOST_EXAMPLES, fitting_shares
from gpupanel.planning.prepare import Preparation, prepare
from tests.fakes.devices import CPU, CPU_ONLY, RTX_3060, RTX_4090, TWO_UNEQUAL, sample_with

MIB = 2**20
STEP = StepMemory(
    peaks=(MemoryPeak(fixed_bytes=100 * MIB, bytes_per_example=MIB),),
    example_bytes=0,
    weight_bytes=110 * MIB,
    trainable_bytes=100 * MIB,
)
"""Weights of 110 MiB, 100 of them learned, and 1 MiB for each example."""
BOTH = DeviceSettings(visible=(RTX_4090.key, RTX_3060.key))
GROWING = {"default": LimitedMemory(limit_mib=20_000, growth=True)}


def profile(kind: str = "mirrored", batch: int = 64, **parts: object) -> Profile:
    given = {
        "devices": BOTH,
        "strategy": StrategySettings(kind=StrategyKind(kind)),
        "training": TrainingSettings(global_batch_size=batch),
        "data": DigitsData(),
        **parts,
    }
    return Profile(**given)


def prepared(
    profile: Profile, inventory: DeviceInventory = TWO_UNEQUAL, step: StepMemory | None = STEP
) -> Preparation:
    return prepare(profile, inventory, Known(step=step))


def context(profile: Profile, step: StepMemory | None = STEP) -> PlanningContext:
    return planning_context(profile, TWO_UNEQUAL, Known(step=step))


def terms(memory: DeviceMemory) -> tuple[float, ...]:
    return (
        memory.weights_mib,
        memory.gradients_mib,
        memory.optimizer_mib,
        memory.activations_mib,
        memory.overhead_mib,
    )


def test_that_each_device_holds_weights_optimizer_state_and_its_share() -> None:
    strategy = StrategySettings(kind=StrategyKind.MIRRORED, shares=(160, 96))
    large, small = prepared(profile(batch=256, strategy=strategy)).memory
    assert (large.device, small.device) == (RTX_4090.key, RTX_3060.key)
    assert (large.examples, small.examples) == (160, 96)
    # Adam keeps two numbers for each weight. TensorFlow has neither the context nor what it leaves
    # to others on a GPU of compute capability 8.
    assert terms(large) == (110, 100, 200, 160, 500 + 1_536)
    # The sum over replicas comes after the activations, and takes 4 MiB more than these.
    assert terms(small) == (110, 104, 200, 96, 500 + 1_536)
    assert (large.room_mib, small.room_mib) == (24_564 - 2_036, 12_288 - 2_036)
    assert not large.is_limit


def test_that_the_examples_of_a_step_and_of_the_next_one_are_there() -> None:
    step = STEP.model_copy(update={"example_bytes": MIB // 4})
    (memory,) = prepared(profile("one_device", devices=DeviceSettings()), step=step).memory
    assert memory.activations_mib == 64 + 2 * 64 / 4


def test_that_accumulation_takes_fewer_examples_at_a_time_and_a_sum_of_gradients() -> None:
    training = TrainingSettings(
        global_batch_size=64, accumulation_steps=4, optimizer=Optimizer.SGD, momentum=0.0
    )
    (memory,) = prepared(profile("one_device", training=training)).memory
    assert memory.examples == 16
    assert terms(memory) == (110, 200, 0, 16, 500 + 1_536)


def test_that_a_free_memory_that_is_known_is_the_room() -> None:
    sample = sample_with(gpu_4090=4_564, gpu_3060=288)
    found = prepare(profile(), TWO_UNEQUAL, Known(sample, step=STEP)).memory
    assert [memory.room_mib for memory in found] == [20_000 - 2_036, 12_000 - 2_036]


def test_that_nothing_is_left_to_others_within_a_limit() -> None:
    limits = {key: LimitedMemory(limit_mib=9_000) for key in (RTX_4090.key, RTX_3060.key)}
    found = prepared(profile(memory=limits)).memory
    assert [(memory.overhead_mib, memory.is_limit) for memory in found] == [(500, True)] * 2


def test_that_cudas_allocator_leaves_nothing_to_others_either() -> None:
    devices = DeviceSettings(visible=(RTX_3060.key,), allocator=Allocator.CUDA_MALLOC_ASYNC)
    (memory,) = prepared(profile("one_device", devices=devices)).memory
    assert (memory.overhead_mib, memory.room_mib) == (500, 12_288 - 500)


def test_that_a_limit_gives_no_more_than_is_free() -> None:
    limits = {RTX_3060.key: LimitedMemory(limit_mib=9_000, growth=True)}
    used = sample_with(gpu_3060=8_288)
    memory = prepare(profile(memory=limits), TWO_UNEQUAL, Known(used, step=STEP)).memory[1]
    assert (memory.room_mib, memory.is_limit) == (12_288 - 8_288 - 500, False)
    split = {RTX_3060.key: SplitMemory(split_mib=(3_000, 3_000))}
    devices = DeviceSettings(visible=(RTX_3060.key,))
    given = prepare(
        profile(devices=devices, memory=split), TWO_UNEQUAL, Known(used, step=STEP)
    ).memory
    assert [(part.room_mib, part.is_limit) for part in given] == [(3_000, True), (500, False)]
    # One process has one context, however many parts there are.
    assert [part.overhead_mib for part in given] == [500, 0]


def test_that_parts_of_a_device_have_limits_of_their_own() -> None:
    memory = {RTX_4090.key: SplitMemory(split_mib=(700, 300))}
    found = prepared(profile(devices=DeviceSettings(visible=(RTX_4090.key,)), memory=memory)).memory
    assert [(each.logical_device, each.room_mib, each.is_limit) for each in found] == [
        ("/device:GPU:0", 700, True),
        ("/device:GPU:1", 300, True),
    ]
    assert [each.fits for each in found] == [True, False]


def test_that_replicas_of_the_cpu_share_the_memory_of_the_host() -> None:
    devices = DeviceSettings(visible=("cpu",), cpu_replicas=2)
    (memory,) = prepared(profile(devices=devices, batch=400), CPU_ONLY).memory
    assert (memory.device, memory.examples, memory.room_mib) == ("cpu", 400, 24_576 - 400)
    assert terms(memory) == (220, 200, 400, 400, 400)


def test_that_each_worker_is_a_process_with_its_share() -> None:
    found = prepared(profile("multi_worker", batch=400)).memory
    assert [(each.device, each.examples) for each in found] == [
        (RTX_4090.key, 200),
        (RTX_3060.key, 200),
    ]
    limits = {RTX_4090.key: LimitedMemory(limit_mib=700, growth=True)}
    found = prepared(profile("multi_worker", batch=400, memory=limits)).memory
    assert [(each.logical_device, each.is_limit) for each in found] == [
        ("/device:GPU:0", True),
        ("", False),
    ]


def test_that_an_idle_device_of_one_process_holds_nothing() -> None:
    strategy = StrategySettings(kind=StrategyKind.MIRRORED, shares=(64, 0))
    (memory,) = prepared(profile(strategy=strategy)).memory
    assert memory.device == RTX_4090.key


@pytest.mark.parametrize("kind", ["central_storage", "parameter_server"])
def test_that_the_host_keeps_what_is_not_on_the_devices(kind: str) -> None:
    host, *others = prepared(profile(kind, batch=128)).memory
    assert host.device == "cpu"
    assert terms(host)[:4] == (110, 100, 200, 0)
    assert {each.device for each in others} == {RTX_4090.key, RTX_3060.key}
    assert {each.optimizer_mib for each in others} == {0}
    assert {each.weights_mib for each in others} == {110}


def test_that_nothing_is_estimated_where_nothing_is_known() -> None:
    unknown = prepared(profile(), step=None)
    assert (unknown.memory, unknown.largest_batch) == ((), None)
    placed = prepared(profile("model_parallel"))
    assert (placed.memory, placed.largest_batch) == ((), None)
    assert prepared(profile(task="evaluate")).memory == ()
    assert prepared(profile(), DeviceInventory(devices=())).memory == ()
    assert fitting_shares(context(profile(), None)) is None
    silent = [each.model_copy(update={"memory_total_mib": None}) for each in (RTX_4090, RTX_3060)]
    found = prepared(profile(), DeviceInventory(devices=(*silent, CPU)))
    assert [memory.room_mib for memory in found.memory] == [None, None]
    assert found.largest_batch is None


def test_that_the_largest_batch_is_divided_as_the_plan_is() -> None:
    limits = {"default": LimitedMemory(limit_mib=1_000, growth=True)}
    # 410 MiB beside activations, which may be 1.15 times what is estimated: 590 / 1.15 examples.
    assert prepared(profile(memory=limits)).largest_batch == 2 * 513
    strategy = StrategySettings(kind=StrategyKind.MIRRORED, shares=(48, 16))
    assert prepared(profile(memory=limits, strategy=strategy)).largest_batch == 684
    assert prepared(profile()).largest_batch in range(17_000, 22_000)
    tiny = STEP.model_copy(update={"peaks": (MemoryPeak(fixed_bytes=9, bytes_per_example=9),)})
    assert prepared(profile(), step=tiny).largest_batch == MOST_EXAMPLES
    none = {"default": LimitedMemory(limit_mib=300, growth=True)}
    assert prepared(profile(memory=none)).largest_batch == 0


def test_that_no_more_examples_are_offered_than_there_are() -> None:
    preview = DataPreview(example_count=1_500, feature_shape=(8, 8), trained_count=1_200)
    assert prepare(profile(), TWO_UNEQUAL, Known(preview=preview, step=STEP)).largest_batch == 1_200


def test_that_nothing_is_looked_for_among_hundreds_of_replicas() -> None:
    devices = DeviceSettings(visible=("cpu",), cpu_replicas=200)
    found = prepared(profile(devices=devices, batch=400), CPU_ONLY)
    assert found.memory[0].examples == 400
    assert not found.memory[0].fits
    assert found.largest_batch is None
    (problem,) = (each for each in found.problems if each.code == "estimate_above_memory")
    assert problem.fix is None


def problem_of(profile: Profile) -> Problem:
    (problem,) = (
        each for each in prepared(profile).problems if each.code == "estimate_above_memory"
    )
    return problem


def test_that_too_many_examples_are_reported_with_shares_and_a_batch_that_fit() -> None:
    limits = {
        RTX_4090.key: LimitedMemory(limit_mib=4_000, growth=True),
        RTX_3060.key: LimitedMemory(limit_mib=1_000, growth=True),
    }
    chosen = profile(memory=limits, batch=2_000)
    problem = problem_of(chosen)
    assert problem.severity is Severity.WARNING
    assert "1,000 examples at a time" in problem.message
    assert "1.4 GiB of RTX 3060, and its limit is 1,000 MiB" in problem.message
    assert problem.fix is not None
    assert problem.fix.label == "Use shares 1,487 + 513"
    (smaller,) = problem.alternatives
    assert smaller.label == "Use a global batch of 1,026"
    for fix in (problem.fix, smaller):
        better = prepared(apply_fix(chosen, fix))
        assert [each.code for each in better.problems] == []


def test_that_given_shares_keep_their_proportions_in_a_smaller_batch() -> None:
    limits = {"default": LimitedMemory(limit_mib=1_000, growth=True)}
    strategy = StrategySettings(kind=StrategyKind.MIRRORED, shares=(1_500, 500))
    chosen = profile(memory=limits, batch=2_000, strategy=strategy)
    problem = problem_of(chosen)
    assert problem.fix is not None
    assert problem.alternatives == ()
    better = apply_fix(chosen, problem.fix)
    assert (better.training.global_batch_size, better.strategy.shares) == (684, (513, 171))
    assert prepared(better).problems == ()


def test_that_nothing_is_offered_where_nothing_fits() -> None:
    limits = {RTX_4090.key: LimitedMemory(limit_mib=100, growth=True)}
    chosen = profile("one_device", devices=DeviceSettings(visible=(RTX_4090.key,)), memory=limits)
    assert problem_of(chosen).fix is None
    sample = sample_with(gpu_4090=24_000)
    found = prepare(profile("one_device", batch=1), TWO_UNEQUAL, Known(sample, step=STEP))
    (problem,) = (each for each in found.problems if each.code == "estimate_above_memory")
    assert "With 1 example at a time" in problem.message
    assert "what can be had there is 1 MiB" in problem.message


def test_that_whole_batches_are_not_shared_out() -> None:
    assert fitting_shares(context(profile("parameter_server"))) is None
    assert fitting_shares(context(profile("one_device"))) is None
    assert fitting_shares(context(profile())) is None  # they fit as they are


def test_that_what_was_measured_on_a_device_corrects_its_activations() -> None:
    measured = MeasuredStep(device=RTX_4090.key, ratio=1.5)
    step = STEP.model_copy(update={"measured": (measured,)})
    large, small = prepared(profile(batch=400), step=step).memory
    assert (large.activations_mib, small.activations_mib) == (300, 200)
    assert (large.is_measured, small.is_measured) == (True, False)
    # XLA makes another step of it.
    training = TrainingSettings(global_batch_size=400, jit_compile=True)
    large, _ = prepared(profile(training=training), step=step).memory
    assert (large.activations_mib, large.is_measured) == (200, False)


def test_that_a_measured_estimate_needs_less_margin() -> None:
    plain = DeviceMemory(
        device="cpu",
        examples=1,
        weights_mib=0,
        gradients_mib=0,
        optimizer_mib=0,
        activations_mib=100,
        overhead_mib=0,
        room_mib=110,
    )
    assert not plain.fits
    assert plain.model_copy(update={"is_measured": True}).fits


@pytest.mark.parametrize(
    ("settings", "copies"),
    [
        ({"optimizer": "sgd"}, 0),
        ({"optimizer": "sgd", "momentum": 0.9}, 1),
        ({"optimizer": "adam"}, 0),
        ({"optimizer": "adam", "beta_1": 1 - 1e-6}, 2),
        ({"optimizer": "adamw", "clip_norm": 1.0}, 2),
        ({"optimizer": "rmsprop"}, 1),
        ({"optimizer": "lion", "ema": 0.99}, 3),
    ],
)
def test_that_an_update_holds_more_for_a_moment(settings: dict[str, object], copies: int) -> None:
    """Of two layers of 1,024, 4.3 MiB, SGD held 7 more, and Adam 8: 17.9 was said, 27 needed."""
    training = TrainingSettings(global_batch_size=64, **settings)
    step = STEP.model_copy(
        update={
            "peaks": (MemoryPeak(fixed_bytes=100 * MIB, bytes_per_example=0),),
            "example_bytes": 0,
            "largest_weight_bytes": 60 * MIB,
        }
    )
    alone = DeviceSettings(visible=(RTX_3060.key,))
    (memory,) = prepared(profile("one_device", devices=alone, training=training), step=step).memory
    assert memory.update_mib == 2 * 60 + copies * 100
    both = prepared(profile(training=training), step=step).memory
    # The sum over replicas, of 100 MiB, comes before.
    assert [each.update_mib for each in both] == [max(0, 60 + copies * 100 - 100)] * 2
    packed = StrategySettings(kind=StrategyKind.MIRRORED, all_reduce=AllReduce.HIERARCHICAL_COPY)
    both = prepared(profile(training=training, strategy=packed), step=step).memory
    assert [each.update_mib for each in both] == [max(160, copies * 100 - 40)] * 2
    central = prepared(profile("central_storage", training=training), step=step).memory
    assert {each.update_mib for each in central} == {0.0}
    kept = memory.counted_mib - memory.update_mib
    assert memory.room_mib is not None
    is_full = memory.model_copy(update={"room_mib": round(kept) + 60})
    assert not is_full.fits
    twice = training.model_copy(update={"accumulation_steps": 2})
    (memory,) = prepared(profile("one_device", devices=alone, training=twice), step=step).memory
    assert memory.update_mib == 2 * 60 + max(0, copies - 1) * 100
