"""On what batches are tried, and what follows for global batches."""

import pytest

from gpupanel.domain.batch_fit import BatchFit, DeviceBatch
from gpupanel.domain.batch_search import BatchTrial, SearchEnd
from gpupanel.domain.data import DigitsData
from gpupanel.domain.device import CPU_KEY, DeviceInventory
from gpupanel.domain.memory import Allocator, LimitedMemory, SplitMemory
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.step_memory import MeasuredStep, MemoryPeak, StepMemory
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.telemetry import DeviceReading, TelemetrySample
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.batch_fit import batch_fit, device_batch, measured_step
from gpupanel.planning.batch_targets import BatchTarget, batch_targets
from gpupanel.planning.context import Known, PlanningContext, planning_context
from tests.fakes.devices import CPU_ONLY, RTX_3060, RTX_4090, TWO_UNEQUAL, sample_with

MIB = 2**20
STEP = StepMemory(
    peaks=(MemoryPeak(fixed_bytes=100 * MIB, bytes_per_example=MIB),),
    example_bytes=0,
    weight_bytes=100 * MIB,
    trainable_bytes=100 * MIB,
)
BOTH = (RTX_4090.key, RTX_3060.key)
FREE = sample_with(gpu_4090=4_564, gpu_3060=2_288)
"""20,000 and 10,000 MiB."""


def context(
    kind: str = "mirrored",
    shares: str | tuple[int, ...] = "equal",
    batch: int = 64,
    step: StepMemory | None = STEP,
    sample: TelemetrySample | None = FREE,
    inventory: DeviceInventory = TWO_UNEQUAL,
    **parts: object,
) -> PlanningContext:
    given = {
        "devices": DeviceSettings(visible=BOTH),
        "strategy": StrategySettings(kind=StrategyKind(kind), shares=shares),
        "training": TrainingSettings(global_batch_size=batch),
        "data": DigitsData(),
        **parts,
    }
    return planning_context(Profile(**given), inventory, Known(sample, step=step))


def on_cpu(free_mib: int, **parts: object) -> PlanningContext:
    reading = DeviceReading(key=CPU_KEY, memory_free_mib=free_mib)
    sample = TelemetrySample(time_s=0.0, readings=(reading,))
    devices = parts.pop("devices", DeviceSettings(visible=(CPU_KEY,)))
    return context(sample=sample, inventory=CPU_ONLY, devices=devices, **parts)


def trials(*holds: tuple[int, float | None]) -> tuple[BatchTrial, ...]:
    return tuple(
        BatchTrial(
            examples=examples,
            fits=seconds is not None,
            step_seconds=seconds,
            examples_per_second=None if seconds is None else examples / seconds,
            peak_mib=None if seconds is None else 100.0 + 2 * examples,
        )
        for examples, seconds in holds
    )


def found(target: BatchTarget, *holds: tuple[int, float | None]) -> DeviceBatch:
    return device_batch(target, trials(*holds), SearchEnd.FOUND)


def fit(context: PlanningContext, *holds: int, example_count: int | None = None) -> BatchFit:
    """What follows where so many fit, at 1,000 examples a second each."""
    targets = batch_targets(context)
    devices = [
        found(target, (each // 2, each / 2000), (each, each / 1000))
        for target, each in zip(targets, holds, strict=True)
    ]
    return batch_fit(context, targets, devices, example_count)


def test_that_each_gpu_is_tried_alone_with_what_is_free_less_a_margin() -> None:
    large, small = batch_targets(context())
    assert (large.device, small.device) == BOTH
    # Of the small one TensorFlow leaves more to others than the margin.
    assert (large.room_mib, small.room_mib) == (20_000 - 2_000 - 500, 10_000 - 1_536 - 500)
    assert (large.floor_mib, small.floor_mib) == (1_000, 500)
    assert large.memory_limit_bytes is None
    (device,) = small.plan.devices
    assert (device.key, device.logical_limits_mib) == (RTX_3060.key, (7_964,))
    assert small.plan.environment["CUDA_VISIBLE_DEVICES"] == RTX_3060.key
    assert small.plan.environment["TF_FORCE_GPU_ALLOW_GROWTH"] == "true"
    # 100 MiB of weights, as much of gradients, two numbers a weight of Adam.
    assert (large.first, small.first) == (17_100, 7_564)


def test_that_a_limit_holds_and_cuda_malloc_async_is_not_used() -> None:
    devices = DeviceSettings(visible=BOTH, allocator=Allocator.CUDA_MALLOC_ASYNC)
    memory = {RTX_4090.key: LimitedMemory(limit_mib=600)}
    large, small = batch_targets(context(devices=devices, memory=memory))
    # Of the GPU without a limit that allocator leaves nothing aside.
    assert (large.room_mib, small.room_mib) == (600, 8_500)
    assert large.logical_device == "/device:GPU:0"
    assert large.plan.environment["TF_GPU_ALLOCATOR"] == ""


def test_that_parts_of_a_gpu_are_tried_once_for_each_limit() -> None:
    devices = DeviceSettings(visible=(RTX_4090.key,))
    memory = {RTX_4090.key: SplitMemory(split_mib=(600, 600, 9_000))}
    equal, large = batch_targets(context(devices=devices, memory=memory))
    assert (equal.replicas, large.replicas) == ((0, 1), (2,))
    # Three parts share what is free.
    assert (equal.room_mib, large.room_mib) == (600, 17_500 // 3)


def test_that_replicas_of_the_host_share_what_is_free() -> None:
    devices = DeviceSettings(visible=(CPU_KEY,), cpu_replicas=2)
    (target,) = batch_targets(on_cpu(5_000, devices=devices))
    assert target.replicas == (0, 1)
    assert target.room_mib == (5_000 - 512 - 400) // 2
    assert target.memory_limit_bytes == target.room_mib * MIB
    assert [each.logical_device for each in target.plan.replicas] == ["/device:CPU:0"]
    (target,) = batch_targets(on_cpu(600))
    assert target.room_mib == 0
    assert target.first == 1


def test_that_without_an_estimate_it_begins_with_the_share() -> None:
    assert [each.first for each in batch_targets(context(step=None))] == [32, 32]


def test_that_what_was_measured_before_does_not_hide_the_estimate() -> None:
    measured = tuple(MeasuredStep(device=key, ratio=2.0) for key in BOTH)
    again = context(step=STEP.model_copy(update={"measured": measured}))
    assert [each.first for each in batch_targets(again)] == [17_100, 7_564]


@pytest.mark.parametrize("kind", ["model_parallel"])
def test_that_layers_on_several_devices_are_not_tried(kind: str) -> None:
    assert batch_targets(context(kind)) == ()


def test_that_equal_shares_are_bounded_by_the_smallest_device() -> None:
    both = fit(context(), 1_000, 400)
    assert both.largest_batch == 800
    assert both.shares == (400, 400)
    assert (both.uneven_batch, both.uneven_shares) == (1_400, (1_000, 400))
    # 1,000 examples a second on each, of batches within what was tried on both.
    assert {each.examples_per_second for each in both.speeds} <= {2_000.0}


def test_that_given_shares_keep_their_proportions() -> None:
    both = fit(context(shares=(48, 16)), 1_000, 400)
    assert both.largest_batch == 1_333
    assert both.shares == (1_000, 333)
    assert both.uneven_shares == (1_000, 400)


def test_that_a_batch_is_not_larger_than_the_data_set() -> None:
    both = fit(context(), 1_000, 400, example_count=500)
    assert (both.largest_batch, both.uneven_batch) == (500, None)
    both = fit(context(), 1_000, 400, example_count=1_000)
    assert (both.largest_batch, both.uneven_batch) == (800, 1_000)
    assert both.uneven_shares == (714, 286)


def test_that_one_device_takes_all() -> None:
    one = fit(context("one_device"), 300)
    assert (one.largest_batch, one.shares, one.uneven_batch) == (300, (300,), None)
    assert [each.global_batch_size for each in one.speeds] == [150, 300]


def test_that_workers_of_a_parameter_server_take_whole_batches() -> None:
    both = fit(context("parameter_server"), 1_000, 400)
    assert (both.largest_batch, both.shares, both.uneven_batch) == (400, (400, 400), None)
    # None waits for another: each has 1,000 examples a second.
    both = fit(context("parameter_server"), 400, 400)
    assert {each.examples_per_second for each in both.speeds} == {2_000.0}


def test_that_an_idle_replica_bounds_nothing() -> None:
    assert fit(context(shares=(64, 0)), 1_000, 2).largest_batch == 1_000


def test_that_the_largest_batch_need_not_be_the_fastest() -> None:
    at = context("one_device")
    (target,) = batch_targets(at)
    slow = found(target, (100, 0.1), (200, 0.15), (400, 0.8), (800, None))
    one = batch_fit(at, (target,), (slow,))
    assert (one.largest_batch, one.fastest_batch, slow.fastest) == (400, 200, 200)


def test_that_no_speed_is_said_far_from_what_was_tried() -> None:
    at = context()
    large, small = batch_targets(at)
    tried = (found(large, (100, 0.1), (200, 0.2)), found(small, (10, 0.1), (20, 0.2)))
    apart = batch_fit(at, (large, small), tried)
    assert (apart.largest_batch, apart.speeds, apart.fastest_batch) == (40, (), None)


def test_that_nothing_follows_where_a_device_was_not_tried() -> None:
    at = context()
    large, small = batch_targets(at)
    failed = device_batch(small, (), SearchEnd.FAILED)
    some = found(large, (8, 0.1))
    assert batch_fit(at, (large, small), (some, failed)).largest_batch is None
    assert batch_fit(at, (large, small), (some,)).largest_batch is None
    nothing = device_batch(small, trials((1, None)), SearchEnd.NOTHING_FITS)
    assert batch_fit(at, (large, small), (some, nothing)).largest_batch == 0
    assert batch_fit(context("model_parallel"), (), ()) == BatchFit()


def test_that_what_was_held_stands_beside_what_was_estimated() -> None:
    (target,) = batch_targets(context("one_device"))
    tried = found(target, (100, 0.1), (200, 0.2), (300, None))
    assert (tried.largest, tried.peak_mib, tried.estimated_mib) == (200, 500.0, 300.0)
    assert tried.ratio == 1.667
    # Of 500 MiB 100 are gradients; 200 were estimated for what are 400.
    measured = measured_step(target, tried)
    assert measured == MeasuredStep(device=RTX_4090.key, ratio=2.0)


def test_that_too_little_or_too_strange_is_not_remembered() -> None:
    (target,) = batch_targets(context("one_device"))
    assert measured_step(target, found(target, (1, None))) is None
    assert measured_step(target, found(target, (10, 0.1))) is None  # of 120 MiB
    (strange,) = batch_targets(context("one_device"))
    tried = found(strange, (200, 0.1)).model_copy(update={"peak_mib": 9_000.0})
    assert measured_step(strange, tried) is None
    assert measured_step(strange, tried.model_copy(update={"peak_mib": None})) is None
    (unknown,) = batch_targets(context("one_device", step=None))
    assert found(unknown, (10, 0.1)).ratio is None
    assert measured_step(unknown, found(unknown, (10, 0.1))) is None
