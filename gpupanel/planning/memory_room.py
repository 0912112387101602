"""What TensorFlow can have of each device's memory: what is free, and what of it may be taken.

Of a device whose readings are known what is free now counts, and what other processes hold does
not; of another one all of its memory, as if nobody used it.
"""

from gpupanel.domain.memory import CUDA_CONTEXT_MIB
from gpupanel.planning import device_room
from gpupanel.planning.context import PlanningContext


def free_mib(context: PlanningContext, key: str) -> int | None:
    """What is free now, or all that there is where that is not known."""
    return device_room.free_mib(context.inventory, context.known.sample, key)


def room_mib(context: PlanningContext, key: str) -> int | None:
    """What TensorFlow can have of a GPU under the profile's policy for it; ``None``: not known."""
    return device_room.room_mib(context.profile, context.inventory, context.known.sample, key)


def rest_mib(context: PlanningContext, key: str) -> int | None:
    """What is left of a GPU beside the CUDA context, the most that limits together can be given."""
    free = free_mib(context, key)
    return None if free is None else max(0, free - CUDA_CONTEXT_MIB)
