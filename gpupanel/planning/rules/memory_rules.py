"""Whether memory policies mean anything on the chosen devices, and whether that much is there."""

from collections.abc import Iterator

from gpupanel.domain.device import CPU_KEY, PhysicalDevice
from gpupanel.domain.memory import (
    CUDA_CONTEXT_MIB,
    DEFAULT_MEMORY_KEY,
    Allocator,
    LimitedMemory,
    SplitMemory,
    allowed_mib,
    available_mib,
)
from gpupanel.domain.number_text import mebibytes
from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.planning.context import PlanningContext
from gpupanel.planning.visible_gpus import default_gpus

_LEAST_MIB = 256
"""With less hardly any model can be trained; and of so little TensorFlow leaves nothing aside, so
that a fuller GPU would seem to have more."""
_CONTEXT = f"the CUDA context takes some {CUDA_CONTEXT_MIB} MiB besides"


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
        message=f"This profile is set to {what} GPUs, but this run uses the CPU, whose memory "
        "TensorFlow neither limits nor splits.",
        hint="Logical devices of the CPU can replace the parts of a split GPU."
        if fix
        else "Choose a GPU, or run without a limit.",
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
        message=f"CUDA's allocator enforces no limit: {', '.join(bounded)} would give more than "
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


def limit_above_memory(context: PlanningContext) -> Iterator[Problem]:
    """A limit, or the parts of a split, that do not fit a chosen GPU."""
    for gpu in context.gpus:
        policy = context.profile.memory_policy(gpu.key)
        if not isinstance(policy, LimitedMemory | SplitMemory):
            continue
        wanted = allowed_mib(policy)
        total, free = gpu.memory_total_mib, _free_mib(gpu, context.known.sample)
        if total is not None and wanted > total:
            yield _above_total(gpu, policy, total, free)
        elif free is not None and wanted + CUDA_CONTEXT_MIB > free:
            yield _above_free(gpu, policy, free, "are free now")
        elif total is not None and wanted + CUDA_CONTEXT_MIB > total:
            yield _above_free(gpu, policy, total, "are all that it has")


def gpu_nearly_full(context: PlanningContext) -> Iterator[Problem]:
    """A chosen GPU without a limit of which next to nothing can be had now."""
    for gpu in context.gpus:
        if isinstance(context.profile.memory_policy(gpu.key), LimitedMemory | SplitMemory):
            continue
        free = _free_mib(gpu, context.known.sample)
        if free is None or _available_mib(context, gpu, free) >= _LEAST_MIB:
            continue
        total = "" if gpu.memory_total_mib is None else f" of {gpu.memory_total_mib:,}"
        fixes = tuple(_ways_past(context, gpu, free - CUDA_CONTEXT_MIB))
        yield Problem(
            code="gpu_nearly_full",
            severity=Severity.WARNING,
            field="devices.visible",
            message=f"{free:,}{total} MiB of {gpu.name} are free. Beside the CUDA context, and "
            "what TensorFlow leaves to others where no limit is set, that is too little to train "
            "with.",
            hint="End what holds the rest, or choose other devices.",
            fix=fixes[0] if fixes else None,
            alternatives=fixes[1:],
        )


def _available_mib(context: PlanningContext, gpu: PhysicalDevice, free_mib: int) -> int:
    policy, allocator = context.profile.memory_policy(gpu.key), context.profile.devices.allocator
    return available_mib(policy, allocator, free_mib, gpu.compute_capability)


def _ways_past(context: PlanningContext, full: PhysicalDevice, rest_mib: int) -> Iterator[Fix]:
    if rest_mib >= _LEAST_MIB:
        # Within a limit TensorFlow leaves nothing aside.
        limit = LimitedMemory(limit_mib=rest_mib, growth=True).model_dump(mode="json")
        changes = (Change(path=("memory", full.key), value=limit),)
        yield Fix(label=f"Grow up to {mebibytes(rest_mib)}", changes=changes)
    others = [
        each.key
        for each in default_gpus(context.inventory)
        if each.key != full.key
        and each.node == full.node
        and (
            (free := _free_mib(each, context.known.sample)) is None
            or _available_mib(context, each, free) >= _LEAST_MIB
        )
    ]
    chosen = [key for key in others if key in {each.key for each in context.gpus}] or others[:1]
    if chosen:
        names = ", ".join(context.inventory.name_of(key) for key in chosen)
        yield Fix.of(f"Use {names}", "devices.visible", chosen)


def _above_total(
    gpu: PhysicalDevice, policy: LimitedMemory | SplitMemory, total_mib: int, free_mib: int | None
) -> Problem:
    return Problem(
        code="memory_limit_above_total",
        field=_field(gpu, policy),
        message=f"{mebibytes(allowed_mib(policy))} of {gpu.name} are asked for, which has "
        f"{mebibytes(total_mib)}.",
        hint=f"Lower the limit; {_CONTEXT}.",
        fix=_fitting(gpu, policy, total_mib if free_mib is None else min(free_mib, total_mib)),
    )


def _above_free(
    gpu: PhysicalDevice, policy: LimitedMemory | SplitMemory, free_mib: int, there: str
) -> Problem:
    """More than there is beside the context: TensorFlow takes what it gets, in several pieces."""
    wanted = allowed_mib(policy)
    besides = "" if wanted > free_mib else f" and {_CONTEXT}"
    return Problem(
        code="memory_limit_above_free",
        severity=Severity.WARNING,
        field=_field(gpu, policy),
        message=f"{mebibytes(wanted)} of {gpu.name} are asked for{besides}, but "
        f"{mebibytes(free_mib)} {there}.",
        hint="Lower the limit, or end what holds the rest.",
        fix=_fitting(gpu, policy, free_mib),
    )


def _field(gpu: PhysicalDevice, policy: LimitedMemory | SplitMemory) -> str:
    key = "limit_mib" if isinstance(policy, LimitedMemory) else "split_mib"
    return f"memory.{gpu.key}.{key}"


def scaled_to(policy: LimitedMemory | SplitMemory, size_mib: int) -> LimitedMemory | SplitMemory:
    """The same policy taking at most ``size_mib``, which must be enough for 1 MiB a part.

    The parts of a split keep their proportions.
    """
    if isinstance(policy, LimitedMemory):
        return policy.model_copy(update={"limit_mib": size_mib})
    whole = sum(policy.split_mib)
    parts = tuple(max(1, part * size_mib // whole) for part in policy.split_mib)
    return policy.model_copy(update={"split_mib": parts})


def _fitting(gpu: PhysicalDevice, policy: LimitedMemory | SplitMemory, free_mib: int) -> Fix | None:
    """What fits beside the CUDA context; none where not even the context does."""
    room = free_mib - CUDA_CONTEXT_MIB
    parts = len(policy.split_mib) if isinstance(policy, SplitMemory) else 1
    if room < parts:
        return None
    value = scaled_to(policy, room)
    return Fix(
        label=f"Use {mebibytes(allowed_mib(value))}",
        changes=(Change(path=("memory", gpu.key), value=value.model_dump(mode="json")),),
    )


def _free_mib(gpu: PhysicalDevice, sample: TelemetrySample | None) -> int | None:
    # Not total minus used: the driver keeps some hundred MiB for itself, which are neither.
    reading = sample.reading(gpu.key) if sample is not None else None
    return None if reading is None else reading.memory_free_mib
