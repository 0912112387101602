"""Whether the memory that is asked of a GPU is there, and free now."""

from collections.abc import Iterator

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.memory import CUDA_CONTEXT_MIB, LimitedMemory, SplitMemory
from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.planning.context import PlanningContext

_CONTEXT = f"the CUDA context takes some {CUDA_CONTEXT_MIB} MiB besides"


def limit_above_memory(context: PlanningContext) -> Iterator[Problem]:
    """A limit, or the parts of a split, that do not fit a chosen GPU."""
    for gpu in context.gpus:
        policy = context.profile.memory_policy(gpu.key)
        if not isinstance(policy, LimitedMemory | SplitMemory):
            continue
        wanted = wanted_mib(policy)
        total, free = gpu.memory_total_mib, _free_mib(gpu, context.sample)
        if total is not None and wanted > total:
            yield _above_total(gpu, policy, total, free)
        elif free is not None and wanted + CUDA_CONTEXT_MIB > free:
            yield _above_free(gpu, policy, free)


def _above_total(
    gpu: PhysicalDevice, policy: LimitedMemory | SplitMemory, total_mib: int, free_mib: int | None
) -> Problem:
    return Problem(
        code="memory_limit_above_total",
        field=_field(gpu, policy),
        message=f"{wanted_mib(policy)} MiB of {gpu.name} are asked for, which has {total_mib} MiB.",
        hint=f"Lower the limit; {_CONTEXT}.",
        fix=_fitting(gpu, policy, total_mib if free_mib is None else min(free_mib, total_mib)),
    )


def _above_free(gpu: PhysicalDevice, policy: LimitedMemory | SplitMemory, free_mib: int) -> Problem:
    wanted = wanted_mib(policy)
    besides = "" if wanted > free_mib else f" and {_CONTEXT}"
    return Problem(
        code="memory_limit_above_free",
        severity=Severity.WARNING,
        field=_field(gpu, policy),
        message=f"{wanted} MiB of {gpu.name} are asked for{besides}, but {free_mib} MiB are free "
        "now.",
        hint="Lower the limit, or end what holds the rest.",
        fix=_fitting(gpu, policy, free_mib),
    )


def _field(gpu: PhysicalDevice, policy: LimitedMemory | SplitMemory) -> str:
    key = "limit_mib" if isinstance(policy, LimitedMemory) else "split_mib"
    return f"memory.{gpu.key}.{key}"


def wanted_mib(policy: LimitedMemory | SplitMemory) -> int:
    """What TensorFlow may take of the GPU under that policy, the CUDA context not counted."""
    return policy.limit_mib if isinstance(policy, LimitedMemory) else sum(policy.split_mib)


def scaled_to(policy: LimitedMemory | SplitMemory, size_mib: int) -> LimitedMemory | SplitMemory:
    """The same policy taking at most ``size_mib``, which must be enough for 1 MiB a part.

    The parts of a split keep their proportions.
    """
    if isinstance(policy, LimitedMemory):
        return policy.model_copy(update={"limit_mib": size_mib})
    whole = sum(policy.split_mib)
    parts = tuple(max(1, part * size_mib // whole) for part in policy.split_mib)
    return SplitMemory(split_mib=parts)


def _fitting(gpu: PhysicalDevice, policy: LimitedMemory | SplitMemory, free_mib: int) -> Fix | None:
    """What fits beside the CUDA context; none where not even the context does."""
    room = free_mib - CUDA_CONTEXT_MIB
    parts = len(policy.split_mib) if isinstance(policy, SplitMemory) else 1
    if room < parts:
        return None
    value = scaled_to(policy, room)
    return Fix(
        label=f"Use {wanted_mib(value)} MiB",
        changes=(Change(path=("memory", gpu.key), value=value.model_dump(mode="json")),),
    )


def _free_mib(gpu: PhysicalDevice, sample: TelemetrySample | None) -> int | None:
    # Not total minus used: the driver keeps some hundred MiB for itself, which are neither.
    reading = sample.reading(gpu.key) if sample is not None else None
    return None if reading is None else reading.memory_free_mib
