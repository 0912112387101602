"""Ways to use a GPU's memory that have a name: a click each."""

from enum import StrEnum
from typing import Final

from gpupanel.domain.memory import (
    CUDA_CONTEXT_MIB,
    AllMemory,
    GrowingMemory,
    LimitedMemory,
    MemoryPolicy,
)

DESKTOP_MIB: Final = 1024
"""What a desktop takes when somebody opens a browser and a second screen."""
LEAST_LIMIT_MIB: Final = 128
"""The least limit with which a model can usually be trained."""
OTHERS_FRACTION: Final = 0.5


class MemoryPreset(StrEnum):
    """What a person wants of one GPU."""

    SHARE_WITH_DESKTOP = "share_with_desktop"
    LEAVE_ROOM_FOR_OTHERS = "leave_room_for_others"
    EVERYTHING = "everything"


def preset_policy(
    preset: MemoryPreset, *, total_mib: int | None, free_mib: int | None
) -> MemoryPolicy:
    """The memory policy that a preset means on one GPU.

    To share with the desktop a run grows up to what is free now less :data:`DESKTOP_MIB`; to
    leave room for other processes up to half of the GPU; the CUDA context, which no limit counts,
    is taken off both. What TensorFlow keeps aside without a limit is not: a limit is given out
    whole. Growing without a limit where the memory of the GPU is not known, or has too little.

    Args:
        preset: What is wanted.
        total_mib: The GPU's memory.
        free_mib: What is free now; of all where it is not known.
    """
    if preset is MemoryPreset.EVERYTHING:
        return AllMemory()
    if total_mib is None:
        return GrowingMemory()
    room = total_mib if free_mib is None else min(free_mib, total_mib)
    if preset is MemoryPreset.SHARE_WITH_DESKTOP:
        limit = room - DESKTOP_MIB - CUDA_CONTEXT_MIB
    else:
        limit = min(int(total_mib * OTHERS_FRACTION), room) - CUDA_CONTEXT_MIB
    if limit < LEAST_LIMIT_MIB:
        return GrowingMemory()
    return LimitedMemory(limit_mib=limit, growth=True)
