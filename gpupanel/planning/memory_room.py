"""What TensorFlow can have of each device's memory: what is free, and what of it may be taken.

Of a device whose readings are known what is free now counts, and what other processes hold does
not; of another one all of its memory, as if nobody used it.
"""

from gpupanel.domain.memory import CUDA_CONTEXT_MIB, available_mib
from gpupanel.planning.context import PlanningContext


def free_mib(context: PlanningContext, key: str) -> int | None:
    """What is free now, or all that there is where that is not known."""
    reading = None if context.known.sample is None else context.known.sample.reading(key)
    if reading is not None and reading.memory_free_mib is not None:
        return reading.memory_free_mib
    device = context.inventory.device(key)
    return None if device is None else device.memory_total_mib


def room_mib(context: PlanningContext, key: str) -> int | None:
    """What TensorFlow can have of a GPU under the profile's policy for it; ``None``: not known."""
    free, device = free_mib(context, key), context.inventory.device(key)
    if free is None or device is None:
        return None
    profile = context.profile
    allocator = profile.devices.allocator
    return available_mib(profile.memory_policy(key), allocator, free, device.compute_capability)


def rest_mib(context: PlanningContext, key: str) -> int | None:
    """What is left of a GPU beside the CUDA context, the most that limits together can be given."""
    free = free_mib(context, key)
    return None if free is None else max(0, free - CUDA_CONTEXT_MIB)
