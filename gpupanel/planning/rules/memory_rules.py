"""Which memory policies mean anything on the chosen devices."""

from collections.abc import Iterator

from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.memory import (
    DEFAULT_MEMORY_KEY,
    Allocator,
    LimitedMemory,
    SplitMemory,
)
from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.planning.context import PlanningContext


def policy_of_cpu(context: PlanningContext) -> Iterator[Problem]:
    """A memory policy of the CPU."""
    if CPU_KEY in context.profile.memory:
        yield Problem(
            code="memory_policy_of_cpu",
            field=f"memory.{CPU_KEY}",
            message="TensorFlow cannot limit or grow the memory of the CPU.",
            hint="Remove this table; memory policies are for GPUs.",
            fix=Fix(label="Remove it", changes=(Change(path=("memory", CPU_KEY)),)),
        )


def policy_without_gpus(context: PlanningContext) -> Iterator[Problem]:
    """A limit or a split for every GPU, where there is none: the run would not be what it says."""
    if context.gpus or not context.devices:
        return
    policy = context.profile.memory.get(DEFAULT_MEMORY_KEY)
    if isinstance(policy, LimitedMemory):
        what, fix = "limit the memory of", None
    elif isinstance(policy, SplitMemory) and context.profile.devices.cpu_replicas == 1:
        what, parts = "split", len(policy.split_mib)
        fix = Fix.of(f"Make {parts} logical devices of the CPU", "devices.cpu_replicas", parts)
    else:
        return
    yield Problem(
        code="memory_policy_without_gpus",
        severity=Severity.WARNING,
        field=f"memory.{DEFAULT_MEMORY_KEY}",
        message=f"This profile means to {what} GPUs, and this run uses the CPU, whose "
        "memory TensorFlow neither limits nor splits.",
        hint="Logical devices of the CPU can stand in for the parts of a split GPU."
        if fix
        else "Choose a GPU, or let it run without a limit.",
        fix=fix,
    )


def limit_with_cuda_malloc_async(context: PlanningContext) -> Iterator[Problem]:
    """A limit with ``cuda_malloc_async``.

    That allocator takes the limit for the size that its pool keeps, and goes beyond it (read in
    TensorFlow 2.21's ``gpu_process_state.cc`` and ``gpu_cudamallocasync_allocator.cc``).
    """
    bounded = [
        gpu.name
        for gpu in context.gpus
        if isinstance(context.profile.memory_policy(gpu.key), LimitedMemory | SplitMemory)
    ]
    if context.profile.devices.allocator is not Allocator.CUDA_MALLOC_ASYNC or not bounded:
        return
    yield Problem(
        code="limit_with_cuda_malloc_async",
        field="devices.allocator",
        message=f"CUDA's allocator keeps to no limit: {', '.join(bounded)} would give more than "
        "is set.",
        hint="Use TensorFlow's own allocator, or let these GPUs grow without a limit.",
        fix=Fix.of("Use TensorFlow's allocator", "devices.allocator", Allocator.BFC.value),
        alternatives=(
            Fix(
                label="Let them grow without a limit",
                changes=tuple(
                    Change(path=("memory", gpu.key), value={"policy": "growth"})
                    for gpu in context.gpus
                ),
            ),
        ),
    )


def policy_of_absent_device(context: PlanningContext) -> Iterator[Problem]:
    """Memory policies of GPUs that this machine has not."""
    present = {DEFAULT_MEMORY_KEY, CPU_KEY, *(device.key for device in context.inventory.devices)}
    for key in context.profile.memory:
        if key not in present:
            yield Problem(
                code="memory_policy_of_absent_device",
                severity=Severity.HINT,
                field=f"memory.{key}",
                message=f"The memory policy of {key} is not used: that GPU is not in this machine.",
                hint="Leave it for the machine it was made on, or remove it.",
                fix=Fix(label="Remove it", changes=(Change(path=("memory", key)),)),
            )
