"""What a step holds, and what a training takes of a memory."""

from gpupanel.domain.device_memory import DeviceMemory
from gpupanel.domain.step_memory import MemoryPeak, StepMemory


def test_that_the_greatest_of_the_moments_counts() -> None:
    step = StepMemory(
        peaks=(
            MemoryPeak(fixed_bytes=100, bytes_per_example=1),
            MemoryPeak(fixed_bytes=20, bytes_per_example=11),
        ),
        example_bytes=4,
        weight_bytes=90,
        trainable_bytes=80,
    )
    assert [step.held_bytes(count) for count in (0, 7, 8, 9)] == [100, 107, 108, 119]


def taken(room_mib: int | None, *, is_limit: bool = False) -> DeviceMemory:
    return DeviceMemory(
        device="GPU-4090",
        examples=8,
        weights_mib=10.0,
        gradients_mib=10.0,
        optimizer_mib=20.0,
        activations_mib=100.0,
        overhead_mib=500.0,
        room_mib=room_mib,
        is_limit=is_limit,
    )


def test_that_the_overhead_goes_of_the_device_and_not_of_the_room() -> None:
    for is_limit in (False, True):
        memory = taken(140, is_limit=is_limit)
        assert (memory.total_mib, memory.counted_mib) == (640.0, 140.0)


def test_that_what_is_estimated_may_be_too_small() -> None:
    assert [taken(room).fits for room in (None, 155, 154, 140)] == [True, True, False, False]
    assert taken(155, is_limit=True).fits
