"""What the choice of TensorFlow's GPU allocator rules out."""

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.memory import Allocator, LimitedMemory, SplitMemory
from gpupanel.domain.problem import Change, Fix, Problem
from gpupanel.domain.profile import Profile


def allocator_problems(profile: Profile, gpus: tuple[PhysicalDevice, ...]) -> list[Problem]:
    """A limit with ``cuda_malloc_async``.

    That allocator takes the limit for the size that its pool keeps, and goes beyond it (read in
    TensorFlow 2.21's ``gpu_process_state.cc`` and ``gpu_cudamallocasync_allocator.cc``).
    """
    if profile.devices.allocator is not Allocator.CUDA_MALLOC_ASYNC:
        return []
    bounded = [
        gpu
        for gpu in gpus
        if isinstance(profile.memory_policy(gpu.key), LimitedMemory | SplitMemory)
    ]
    if not bounded:
        return []
    names = ", ".join(gpu.name for gpu in bounded)
    return [
        Problem(
            code="limit_with_cuda_malloc_async",
            field="devices.allocator",
            message=f"CUDA's allocator keeps to no limit: {names} would give more than is set.",
            hint="Use TensorFlow's own allocator, or let these GPUs grow without a limit.",
            fix=Fix(
                label="Use TensorFlow's allocator",
                changes=(Change(path=("devices", "allocator"), value=Allocator.BFC.value),),
            ),
            alternatives=(
                Fix(
                    label="Let them grow without a limit",
                    changes=tuple(
                        Change(path=("memory", gpu.key), value={"policy": "growth"}) for gpu in gpus
                    ),
                ),
            ),
        )
    ]
