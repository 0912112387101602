"""How much of a device's memory TensorFlow may take, per device.

The rules of what may be combined stand in ``planning``; these are the choices themselves.
"""

from typing import Annotated, Literal

from pydantic import Field

from gpupanel.domain.choice import ChoiceEnum
from gpupanel.domain.setting import setting
from gpupanel.domain.value import MOST_PLACES, Mib, Value

DEFAULT_MEMORY_KEY = "default"
"""The key under ``[memory]`` that holds for each device without one of its own."""
CUDA_CONTEXT_MIB = 500
"""The CUDA context of one process on one GPU, with kernels and libraries: 300 to 500 MiB as seen
with TensorFlow 2.x. No memory limit counts it."""
_LEAST_CONTEXT_MIB = 250
"""It may be smaller, with fewer kernels loaded: then more is free, of which more may be kept."""

_FEW_MIB = 2_048
_KEPT_OF_FEW_MIB = 225
_KEPT_MIB = {5: 500, 6: 500, 7: 1_050, 8: 1_536}
_KEPT_BY_NEWER_MIB = 1_800


def kept_aside_mib(free_mib: int, capability: tuple[int, int] | None) -> int:
    """What TensorFlow leaves of a GPU's memory to others where no limit says how much it may take.

    As ``MinSystemMemory`` and ``SingleVirtualDeviceMemoryLimit`` of TensorFlow 2.21 have it
    (tensorflow/core/common_runtime/gpu/gpu_device.cc). So a GPU with 2.5 GiB free may give less
    than one with 1.9, and of one with next to nothing free, nothing is left aside.

    Args:
        free_mib: What is free when the process has its CUDA context.
        capability: Compute capability; ``None``: unknown, and taken for the newest.
    """
    if free_mib < _FEW_MIB:
        return _KEPT_OF_FEW_MIB if free_mib > _KEPT_OF_FEW_MIB else 0
    major = capability[0] if capability else None
    return _KEPT_BY_NEWER_MIB if major is None else _KEPT_MIB.get(major, _KEPT_BY_NEWER_MIB)


class Allocator(ChoiceEnum):
    """Who hands out GPU memory inside TensorFlow."""

    BFC = (
        "bfc",
        "TensorFlow's own",
        "The default. Keeps allocated memory until the process ends, and enforces limits.",
    )
    CUDA_MALLOC_ASYNC = (
        "cuda_malloc_async",
        "CUDA's (cuda_malloc_async)",
        "Releases unused memory and fragments it less, but enforces no limit.",
    )


class AllMemory(Value):
    """Take nearly all memory at start: TensorFlow's own default."""

    policy: Literal["all"] = "all"


class GrowingMemory(Value):
    """Start small and take more when it is needed (``set_memory_growth``)."""

    policy: Literal["growth"] = "growth"


class LimitedMemory(Value):
    """Take at most ``limit_mib``; all of it at start, or growing up to it.

    The limit does not count the CUDA context, some 300 to 500 MiB more.
    """

    policy: Literal["limit"] = "limit"
    limit_mib: Mib = setting(
        "Limit",
        "The most GPU memory that TensorFlow may take on this device. The CUDA context, some 300 "
        "to 500 MiB, comes on top.",
        unit="MiB",
        examples=[4096],
    )
    growth: bool = setting(
        "Grow up to the limit",
        "Start small and take more when it is needed, instead of all of the limit at the start.",
        default=False,
    )


class SplitMemory(Value):
    """Make several logical devices of one GPU, with these limits; all at start, or growing."""

    policy: Literal["split"] = "split"
    split_mib: tuple[Mib, ...] = setting(
        "Split",
        "The memory of each logical device that is made of this GPU. They share its processors, so "
        "this is for trying out several replicas.",
        unit="MiB",
        min_length=2,
        max_length=MOST_PLACES,
        examples=[[2048, 2048]],
    )
    growth: bool = setting(
        "Grow up to the split",
        "Each logical device starts small and takes more when it is needed, instead of all of its "
        "memory at the start.",
        default=False,
    )


MemoryPolicy = Annotated[
    AllMemory | GrowingMemory | LimitedMemory | SplitMemory, Field(discriminator="policy")
]


def logical_device_count(policy: MemoryPolicy) -> int:
    """How many logical devices TensorFlow makes of one GPU under that policy."""
    return len(policy.split_mib) if isinstance(policy, SplitMemory) else 1


def allowed_mib(policy: LimitedMemory | SplitMemory) -> int:
    """What TensorFlow may take of the GPU under that policy, the CUDA context not counted."""
    return policy.limit_mib if isinstance(policy, LimitedMemory) else sum(policy.split_mib)


def gives_out_whole(total_mib: int, policy: LimitedMemory | SplitMemory) -> bool:
    """Whether an unused GPU with that memory can give out the limits beside a CUDA context."""
    return allowed_mib(policy) + CUDA_CONTEXT_MIB <= total_mib


def available_mib(
    policy: MemoryPolicy,
    allocator: Allocator,
    free_mib: int,
    capability: tuple[int, int] | None,
) -> int:
    """The most that TensorFlow can have of a GPU under that policy, the CUDA context not counted.

    A limit, and the parts of a split together, are given out whole as far as that much is free;
    without one something is kept aside (:func:`kept_aside_mib`), and where it depends on the size
    of the context how much that is, the most of it counts. CUDA's own allocator does neither
    (gpu_cudamallocasync_allocator.cc): it gives out whatever is free.

    Args:
        policy: How much it may take.
        allocator: Who hands it out.
        free_mib: What is free before the process has its CUDA context.
        capability: Compute capability; ``None``: unknown.
    """
    rest = max(0, free_mib - CUDA_CONTEXT_MIB)
    if allocator is Allocator.CUDA_MALLOC_ASYNC:
        return rest
    if isinstance(policy, LimitedMemory | SplitMemory):
        return min(rest, allowed_mib(policy))
    most = max(0, free_mib - _LEAST_CONTEXT_MIB)
    steps = (step for step in (_KEPT_OF_FEW_MIB + 1, _FEW_MIB) if rest < step <= most)
    return min(each - kept_aside_mib(each, capability) for each in (rest, *steps))
