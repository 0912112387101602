"""Whether TensorFlow can use the chosen GPUs, as far as somebody asked it."""

from collections.abc import Iterator

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.gpu_support import GpuFault
from gpupanel.domain.problem import Fix, Problem, Severity
from gpupanel.planning.context import PlanningContext
from gpupanel.planning.device_fixes import on_the_cpu

DOCTOR_CODES = frozenset(
    {
        "gpu_not_usable",
        "gpu_support_unknown",
        "tensorflow_without_cuda",
        "gpu_not_in_tensorflow_build",
        "device_lost",
    }
)
"""Problems of which the doctor knows more: who shows one offers to open it."""


def support_unknown(context: PlanningContext) -> Iterator[Problem]:
    """GPUs of which TensorFlow did not get to answer."""
    why = None if context.support is None else context.support.unanswered
    if why is None or not context.gpus:
        return
    names = ", ".join(dict.fromkeys(gpu.name for gpu in context.gpus))
    yield Problem(
        code="gpu_support_unknown",
        severity=Severity.WARNING,
        field="devices.visible",
        message=f"Whether TensorFlow can use {names} is not known: {why.message}",
        hint=why.hint,
        command=why.command,
        detail=why.detail,
    )


def gpus_not_usable(context: PlanningContext) -> Iterator[Problem]:
    """Chosen GPUs that TensorFlow cannot use, but for those that its build rules out."""
    support = context.support
    if support is None or support.unanswered is not None:
        return
    for fault in support.faults:
        faulty = set(fault.keys) - context.refused_gpus
        concerned = [gpu for gpu in context.gpus if gpu.key in faulty]
        if concerned:
            yield _not_usable(context, concerned, fault)


def _not_usable(
    context: PlanningContext, concerned: list[PhysicalDevice], fault: GpuFault
) -> Problem:
    names = ", ".join(dict.fromkeys(gpu.name for gpu in concerned))
    first, *alternatives = _without(context, concerned)
    return Problem(
        code="gpu_not_usable",
        field="devices.visible",
        message=f"TensorFlow cannot use {names}: {fault.problem.message}",
        hint=fault.problem.hint,
        command=fault.problem.command,
        detail="\n".join(filter(None, (fault.problem.code, fault.problem.detail))),
        fix=first,
        alternatives=tuple(alternatives),
    )


def _without(context: PlanningContext, unusable: list[PhysicalDevice]) -> tuple[Fix, ...]:
    """What can be done about chosen GPUs that cannot be used: the others, or the CPU."""
    usable = [gpu.key for gpu in context.gpus if gpu not in unusable]
    label = "Train on the CPU" if context.trains else "Use the CPU"
    cpu = on_the_cpu(context.profile, tuple(gpu.key for gpu in context.gpus), label)
    if not usable:
        return (cpu,)
    who = unusable[0].name if len(unusable) == 1 else "them"
    return Fix.of(f"Leave {who} out", "devices.visible", usable), cpu
