"""Memory that grew in pieces is found by what TensorFlow and the driver count of it."""

from dataclasses import replace

import pytest

from gpupanel.domain.event_details import AllocatedMemory
from gpupanel.domain.memory import AllMemory, Allocator
from gpupanel.domain.telemetry import DeviceProcess
from gpupanel.planning.findings.context import FindingContext
from gpupanel.planning.fixes import apply_fix
from tests.fakes.devices import RTX_4090, TWO_UNEQUAL
from tests.unit.planning.findings.recorded import OWN_PID, found_in, on_gpu, plan_of, reading

CONTEXT_MIB = 1_024


def allocated(peak: int, key: str = RTX_4090.key) -> AllocatedMemory:
    return AllocatedMemory(device_key=key, in_use_mib=peak // 2, peak_mib=peak)


def growing(held: int | None, *memory: AllocatedMemory, growth: bool = True) -> FindingContext:
    """A training whose processes hold so much of the GPU."""
    own = DeviceProcess(pid=OWN_PID, name="python", memory_used_mib=held)
    another = DeviceProcess(pid=OWN_PID + 1, name=None, memory_used_mib=9_000)
    context = on_gpu(lambda _: reading(processes=(own, another)), allocated=memory)
    if growth:  # the default
        return context
    profile = context.profile.model_copy(update={"memory": {RTX_4090.key: AllMemory()}})
    return replace(context, profile=profile, plan=plan_of(profile, TWO_UNEQUAL))


def test_that_memory_that_grew_in_pieces_is_found() -> None:
    context = growing(12_000, allocated(4_000))
    finding = found_in(context)["growth_fragmentation"]
    assert "holds 12,000 MiB of RTX 4090" in finding.problem.message
    assert "4,000 MiB" in finding.problem.message
    assert finding.device_key == RTX_4090.key
    assert finding.problem.fix is not None
    changed = apply_fix(context.profile, finding.problem.fix)
    assert changed.devices.allocator is Allocator.CUDA_MALLOC_ASYNC


@pytest.mark.parametrize(
    ("held", "memory", "is_found"),
    [
        (2 * 4_000 + CONTEXT_MIB, (allocated(4_000),), False),
        (2 * 4_000 + CONTEXT_MIB + 1, (allocated(4_000),), True),
        # Two processes: each has a context of its own.
        (2 * 4_000 + CONTEXT_MIB + 1, (allocated(2_000), allocated(2_000)), False),
        (2 * 4_000 + 2 * CONTEXT_MIB + 1, (allocated(2_000), allocated(2_000)), True),
        (20_000, (), False),
        (20_000, (allocated(10, "GPU-other"),), False),
        (None, (allocated(10),), False),
    ],
)
def test_that_what_an_allocator_that_grows_always_holds_is_no_finding(
    held: int | None, memory: tuple[AllocatedMemory, ...], is_found: bool
) -> None:
    assert ("growth_fragmentation" in found_in(growing(held, *memory))) is is_found


def test_that_memory_that_does_not_grow_is_no_finding() -> None:
    context = growing(20_000, allocated(10), growth=False)
    assert "growth_fragmentation" not in found_in(context)


def test_that_cudas_allocator_is_left_alone() -> None:
    context = growing(20_000, allocated(10))
    devices = context.profile.devices.model_copy(update={"allocator": Allocator.CUDA_MALLOC_ASYNC})
    context = replace(context, profile=context.profile.model_copy(update={"devices": devices}))
    assert "growth_fragmentation" not in found_in(context)


def test_that_nothing_is_said_where_nothing_was_read() -> None:
    assert "growth_fragmentation" not in found_in(
        replace(growing(20_000, allocated(10)), samples=())
    )
