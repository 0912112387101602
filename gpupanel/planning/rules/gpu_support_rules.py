"""Whether TensorFlow can use the chosen GPUs, as far as somebody asked it."""

from collections.abc import Iterable

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.gpu_support import GpuFault, GpuSupport
from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.planning.on_the_cpu import on_the_cpu

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


def gpu_support_problems(
    profile: Profile,
    devices: tuple[PhysicalDevice, ...],
    support: GpuSupport | None,
    told: frozenset[str] = frozenset(),
) -> list[Problem]:
    """Chosen GPUs that TensorFlow cannot use.

    Args:
        profile: What the person chose.
        devices: The chosen ones.
        support: What TensorFlow answered; ``None`` while nobody asked it.
        told: The keys of GPUs of which another rule tells that they cannot be used.
    """
    gpus = tuple(device for device in devices if device.is_gpu)
    if support is None or not gpus:
        return []
    if support.unanswered is not None:
        return [_unknown(gpus, support.unanswered)]
    problems = []
    for fault in support.faults:
        concerned = [gpu for gpu in gpus if gpu.key in fault.keys and gpu.key not in told]
        if concerned:
            problems.append(_not_usable(profile, gpus, concerned, fault))
    return problems


def without_gpus(
    profile: Profile, gpus: tuple[PhysicalDevice, ...], unusable: Iterable[PhysicalDevice]
) -> tuple[Fix, ...]:
    """What can be done about chosen GPUs that cannot be used: the others, or the CPU."""
    keys = [gpu.key for gpu in unusable]
    others = [gpu for gpu in gpus if gpu.key not in keys]
    label = "Train on the CPU" if profile.task == "train" else "Use the CPU"
    cpu = on_the_cpu(profile, tuple(gpu.key for gpu in gpus), label)
    if not others:
        return (cpu,)
    names = {gpu.key: gpu.name for gpu in gpus}
    leave = Fix(
        label=f"Leave {names[keys[0]] if len(keys) == 1 else 'them'} out",
        changes=(Change(path=("devices", "visible"), value=[gpu.key for gpu in others]),),
    )
    return leave, cpu


def _not_usable(
    profile: Profile,
    gpus: tuple[PhysicalDevice, ...],
    concerned: list[PhysicalDevice],
    fault: GpuFault,
) -> Problem:
    names = ", ".join(dict.fromkeys(gpu.name for gpu in concerned))
    first, *others = without_gpus(profile, gpus, concerned)
    return Problem(
        code="gpu_not_usable",
        field="devices.visible",
        message=f"TensorFlow cannot use {names}: {fault.problem.message}",
        hint=fault.problem.hint,
        command=fault.problem.command,
        detail="\n".join(filter(None, (fault.problem.code, fault.problem.detail))),
        fix=first,
        alternatives=tuple(others),
    )


def _unknown(gpus: tuple[PhysicalDevice, ...], why: Problem) -> Problem:
    names = ", ".join(dict.fromkeys(gpu.name for gpu in gpus))
    return Problem(
        code="gpu_support_unknown",
        severity=Severity.WARNING,
        field="devices.visible",
        message=f"Whether TensorFlow can use {names} is not known: {why.message}",
        hint=why.hint,
        command=why.command,
        detail=why.detail,
    )
