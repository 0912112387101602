"""Whether TensorFlow, as it was built, can use the chosen GPUs: as far as it was asked."""

from collections.abc import Iterable, Iterator

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.device_names import gathered, make
from gpupanel.domain.gpu_support import GpuFault
from gpupanel.domain.problem import Fix, Problem, Severity
from gpupanel.domain.telemetry import ComputeMode
from gpupanel.domain.tensorflow_facts import TensorFlowBuild
from gpupanel.planning.chosen_devices import keys_in_mode, lost_keys
from gpupanel.planning.context import PlanningContext
from gpupanel.planning.device_fixes import on_other_gpus_here, on_the_cpu
from gpupanel.planning.tensorflow_build import (
    oldest_capability,
    refused_by_build,
    without_machine_code,
)

DOCTOR_CODES = frozenset(
    {
        "gpu_not_usable",
        "gpu_support_unknown",
        "tensorflow_without_cuda",
        "gpu_not_in_tensorflow_build",
        "device_lost",
        "device_not_answering",
    }
)
"""Problems of which the doctor knows more: who shows one offers to open it."""


def support_unknown(context: PlanningContext) -> Iterator[Problem]:
    """GPUs of which TensorFlow did not get to answer."""
    why = None if context.known.support is None else context.known.support.unanswered
    if why is None or not context.gpus:
        return
    names = _gathered(context, context.gpus)
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
    support = context.known.support
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
    names = _gathered(context, concerned)
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
    """What can be done about chosen GPUs that cannot be used: the others, or the CPU.

    Where none of the chosen ones can be used: other GPUs of this machine that can.
    """
    usable = [gpu.key for gpu in context.gpus if gpu not in unusable]
    cpu = _use_cpu(context)
    if usable:
        who = unusable[0].name if len(unusable) == 1 else "them"
        return Fix.of(f"Leave {who} out", "devices.visible", usable), cpu
    chosen = tuple(gpu.key for gpu in context.gpus)
    other = on_other_gpus_here(context.profile, context.inventory, chosen, _usable(context))
    return (cpu,) if other is None else (other, cpu)


def _usable(context: PlanningContext) -> frozenset[str]:
    """The GPUs of this machine of which nothing is known that keeps TensorFlow from them."""
    gpus, support = context.inventory.gpus, context.known.support
    faulty = () if support is None else (key for fault in support.faults for key in fault.keys)
    return (
        frozenset(gpu.key for gpu in gpus)
        - refused_by_build(gpus, context.build)
        - frozenset(faulty)
        - lost_keys(context.known.sample)
        - keys_in_mode(context.known.sample, ComputeMode.PROHIBITED)
    )


def build_without_cuda(context: PlanningContext) -> Iterator[Problem]:
    """GPUs, where TensorFlow was built for the CPU only."""
    support, build, gpus = context.known.support, context.build, context.gpus
    if support is None or build is None or build.is_cuda_build or not gpus:
        return
    fault = support.fault_of(gpus[0].key)
    yield Problem(
        code="tensorflow_without_cuda",
        field="devices.visible",
        message=f"TensorFlow {build.version} was built without CUDA and cannot use "
        f"{make(gpus[0].name)}.",
        hint="Install the build with CUDA (pip install 'gpupanel[cuda]', on Windows inside WSL), "
        "or train on the CPU.",
        command="" if fault is None else fault.problem.command,
        fix=_use_cpu(context),
    )


def kernels_compiled_at_start(context: PlanningContext) -> Iterator[Problem]:
    """GPUs that this build can use only after compiling its kernels anew."""
    build = context.build
    if build is None or not build.is_cuda_build:
        return
    without = without_machine_code(context.gpus, build)
    slow = [gpu for gpu in without if gpu.key not in context.refused_gpus]
    if slow:
        yield Problem(
            code="kernels_compiled_at_start",
            severity=Severity.HINT,
            field="devices.visible",
            message=f"TensorFlow {build.version} has no machine code for {_names(slow)}: the "
            "driver compiles its kernels when they are first used.",
            hint="The first start may take up to half an hour; the next ones use what was compiled "
            "(CUDA_CACHE_MAXSIZE must be large enough for it).",
        )


def gpus_not_in_build(context: PlanningContext) -> Iterator[Problem]:
    """GPUs that this build has no kernels for, and that it cannot compile any for."""
    build = context.build
    if build is None or not build.is_cuda_build or not context.refused_gpus:
        return
    unusable = [gpu for gpu in context.gpus if gpu.key in context.refused_gpus]
    first, *alternatives = _without(context, unusable)
    yield Problem(
        code="gpu_not_in_tensorflow_build",
        field="devices.visible",
        message=f"TensorFlow {build.version} was not built for {_names(unusable)}: the build "
        f"needs {_needs(build)}.",
        hint="Switch it off, or install a TensorFlow that was built for it.",
        fix=first,
        alternatives=tuple(alternatives),
    )


def _gathered(context: PlanningContext, gpus: Iterable[PhysicalDevice]) -> str:
    present = [gpu.name for gpu in context.inventory.gpus]
    return ", ".join(gathered([gpu.name for gpu in gpus], present))


def _names(gpus: list[PhysicalDevice]) -> str:
    """Each name once, with what the GPU can compute."""
    names = []
    for gpu in gpus:
        major, minor = gpu.compute_capability or (0, 0)
        names.append(f"{make(gpu.name)} (compute capability {major}.{minor})")
    return ", ".join(dict.fromkeys(names))


def _needs(build: TensorFlowBuild) -> str:
    oldest = oldest_capability(build)
    return "another one" if oldest is None else f"{oldest[0]}.{oldest[1]} at least"


def _use_cpu(context: PlanningContext) -> Fix:
    return on_the_cpu(context.profile, tuple(gpu.key for gpu in context.gpus))
