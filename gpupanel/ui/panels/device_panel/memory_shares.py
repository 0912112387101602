"""From what a device reports and a memory policy to what its memory bar shows."""

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.memory import CUDA_CONTEXT_MIB, LimitedMemory, MemoryPolicy, SplitMemory
from gpupanel.domain.telemetry import DeviceReading
from gpupanel.ui.widgets.memory_use import MemoryUse


def memory_use(
    device: PhysicalDevice,
    reading: DeviceReading | None,
    own_processes: frozenset[int],
    policy: MemoryPolicy | None,
) -> MemoryUse:
    """Whose memory is whose on one device.

    Args:
        device: The device.
        reading: What it reported, ``None`` before the first sample.
        own_processes: Process ids of the run shown.
        policy: Decides where the lines stand; ``None`` for none.
    """
    limits = limits_mib(policy)
    context = CUDA_CONTEXT_MIB if limits else 0
    if reading is None or reading.memory_used_mib is None:
        return MemoryUse(total_mib=device.memory_total_mib, limits_mib=limits, context_mib=context)
    ours = sum(
        process.memory_used_mib or 0
        for process in reading.processes
        if process.pid in own_processes
    )
    ours = min(ours, reading.memory_used_mib)
    return MemoryUse(
        total_mib=reading.memory_total_mib or device.memory_total_mib,
        other_processes_mib=reading.memory_used_mib - ours,
        ours_mib=ours,
        reserved_mib=reading.memory_reserved_mib or 0,
        limits_mib=limits,
        context_mib=context,
    )


def room_mib(reading: DeviceReading | None, use: MemoryUse) -> int | None:
    """What a run can have of a device now, what this run holds already included.

    ``None`` when it is not known.
    """
    if reading is None or reading.memory_used_mib is None:
        return None
    if reading.memory_free_mib is not None:
        return reading.memory_free_mib + use.ours_mib
    return use.free_mib + use.ours_mib


def limits_mib(policy: MemoryPolicy | None) -> tuple[int, ...]:
    """The most that each logical device may take; empty where nothing bounds it."""
    if isinstance(policy, LimitedMemory):
        return (policy.limit_mib,)
    return policy.split_mib if isinstance(policy, SplitMemory) else ()


def with_limits(policy: MemoryPolicy, limits: tuple[int, ...]) -> MemoryPolicy:
    """The same policy with other limits, as many as it has."""
    if isinstance(policy, LimitedMemory):
        return policy.model_copy(update={"limit_mib": limits[0]})
    if isinstance(policy, SplitMemory):
        return policy.model_copy(update={"split_mib": limits})
    return policy
