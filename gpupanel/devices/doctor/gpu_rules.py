"""What keeps single GPUs from being used, each reason once."""

from collections.abc import Callable, Iterator
from typing import Final

from gpupanel.devices.doctor.examined import Examined
from gpupanel.devices.doctor.visibility import (
    GpuVisibility,
    Kernels,
    Unseen,
    asked_multiprocessors,
)
from gpupanel.devices.packages import install
from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.problem import Problem, Severity
from gpupanel.planning.tensorflow_build import oldest_capability

Visibility = tuple[PhysicalDevice, GpuVisibility]


def unseen_gpus(
    examined: Examined, sights: tuple[GpuVisibility, ...], *, is_explained: bool
) -> Iterator[Problem]:
    """Why TensorFlow does not see GPUs that the driver lists.

    Args:
        examined: The machine.
        sights: How TensorFlow stands to each GPU.
        is_explained: Whether something that concerns all GPUs was found to be wrong: then what
            has no reason of its own needs no word.
    """
    by_key = {gpu.key: gpu for gpu in examined.driver.gpus}
    for reason, rule in _RULES.items():
        unseen = [(by_key[each.key], each) for each in sights if each.why_not is reason]
        if unseen and not (is_explained and reason is Unseen.UNKNOWN):
            yield from rule(examined, unseen)


def kernels(examined: Examined, sights: tuple[GpuVisibility, ...]) -> Iterator[Problem]:
    """GPUs that TensorFlow has no kernels for, or only after compiling them."""
    build = examined.cuda_build
    by_key = {gpu.key: gpu for gpu in examined.driver.gpus}
    if build is None:
        return
    without = [by_key[each.key] for each in sights if each.kernels is Kernels.NONE]
    oldest = oldest_capability(build)
    for gpu in without:
        capability = gpu.compute_capability
        if oldest is not None and capability is not None and capability < oldest:
            yield Problem(
                code="gpu_too_old_for_tensorflow",
                severity=Severity.WARNING,
                message=f"{gpu.name} has compute capability {_dotted(capability)}; this "
                f"TensorFlow was built for {_dotted(oldest)} and newer.",
                hint="Train on another device, or with a TensorFlow that is built for it.",
            )
        else:
            yield Problem(
                code="gpu_too_new_for_tensorflow",
                severity=Severity.WARNING,
                message=f"This TensorFlow {build.version} has no kernels for {gpu.name} (compute "
                f"capability {_dotted(capability)}).",
                hint="Install a newer TensorFlow.",
                command=install("tensorflow[and-cuda]", upgrade=True),
            )
    compiled = [by_key[each.key] for each in sights if each.kernels is Kernels.COMPILED_AT_START]
    if compiled:
        yield Problem(
            code="kernels_compiled_at_start",
            severity=Severity.HINT,
            message=f"This TensorFlow {build.version} has no machine code for {_names(compiled)}: "
            "the driver compiles its kernels when they are first used.",
            hint="The first start may take up to half an hour; the next ones use what was "
            "compiled.",
        )


def _partitioned(examined: Examined, unseen: list[Visibility]) -> Iterator[Problem]:
    with_instances = {gpu.parent_key for gpu in examined.gpus}
    for gpu, _ in unseen:
        if gpu.key not in with_instances:
            yield Problem(
                code="gpu_partitioned_without_instances",
                severity=Severity.WARNING,
                message=f"{gpu.name} is in MIG mode and has no instances, so nothing can use it.",
                hint="Switch MIG mode off as below, or make instances (sudo nvidia-smi mig -cgi).",
                command=f"sudo nvidia-smi -i {gpu.pci_bus_id or gpu.key} -mig 0",
            )


def _hidden(examined: Examined, unseen: list[Visibility]) -> Iterator[Problem]:
    # Where some are left that may be what people have agreed on, and nothing to be mended.
    leaves_some = len(unseen) < len(examined.gpus)
    yield Problem(
        code="gpus_hidden_by_environment",
        severity=Severity.HINT if leaves_some else Severity.WARNING,
        message=f'CUDA_VISIBLE_DEVICES is "{examined.visible_devices}" in this environment and '
        f"hides {_names([gpu for gpu, _ in unseen])} from TensorFlow.",
        hint="A run whose profile names no device keeps to it, too; what a profile names is used "
        "nevertheless. Unset it where it is not meant.",
        command="unset CUDA_VISIBLE_DEVICES",
    )


def _too_few_multiprocessors(examined: Examined, unseen: list[Visibility]) -> Iterator[Problem]:
    setting = examined.least_multiprocessors
    fewest = min(_count(visibility) for _, visibility in unseen)
    if setting is not None:
        others = f"TF_MIN_GPU_MULTIPROCESSOR_COUNT is {setting} in this environment: unset it."
        command = "unset TF_MIN_GPU_MULTIPROCESSOR_COUNT"
    else:
        others = (
            "TensorFlow takes such a GPU alone, without a larger one beside it, or after the "
            "command below."
        )
        command = f"export TF_MIN_GPU_MULTIPROCESSOR_COUNT={fewest}"
    yield Problem(
        code="gpu_with_too_few_multiprocessors",
        # A plan asks for one multiprocessor, see planning/device_layout.py.
        severity=Severity.HINT,
        message=f"TensorFlow ignores {_names([gpu for gpu, _ in unseen])}: {fewest} "
        f"multiprocessors are fewer than the {_least(examined, unseen)} that it asks for.",
        hint=f"Runs of gpupanel take what was chosen nevertheless. For other programs: {others}",
        command=command,
        detail=_words(unseen),
    )


def _too_old(examined: Examined, unseen: list[Visibility]) -> Iterator[Problem]:
    # Those older than the build are listed with its compute capabilities.
    for gpu, visibility in unseen:
        if visibility.kernels is not Kernels.NONE:
            yield Problem(
                code="gpu_too_old_for_tensorflow",
                severity=Severity.WARNING,
                message=f"TensorFlow ignores {gpu.name}: its compute capability "
                f"{_dotted(gpu.compute_capability)} is too low for it.",
                hint="Train on another device, or with a TensorFlow that is built for it.",
                detail=_words([(gpu, visibility)]),
            )


def _refused(examined: Examined, unseen: list[Visibility]) -> Iterator[Problem]:
    yield Problem(
        code="gpu_refused_by_tensorflow",
        message=f"TensorFlow ignores {_names([gpu for gpu, _ in unseen])}.",
        hint="Read the detail, which is what TensorFlow wrote; restarting the machine often helps.",
        detail=_words(unseen),
    )


def _another_instance(examined: Examined, unseen: list[Visibility]) -> Iterator[Problem]:
    yield Problem(
        code="one_mig_instance_a_process",
        severity=Severity.HINT,
        message=f"CUDA shows a process one MIG instance, so {_names([gpu for gpu, _ in unseen])} "
        "cannot be seen beside it.",
        hint="Nothing is wrong: choose the instance that a run is to use.",
    )


def _unknown(examined: Examined, unseen: list[Visibility]) -> Iterator[Problem]:
    facts = examined.working_tensorflow
    seen = 0 if facts is None else len(facts.gpus)
    listed = f"{seen} of them" if seen else "none of them" if len(unseen) > 1 else "it not"
    yield Problem(
        code="gpus_not_seen_by_tensorflow",
        message=f"The driver lists {examined.gpu_names}, but TensorFlow sees {listed}.",
        hint="Read the detail, which is what TensorFlow wrote; often the machine was not "
        "restarted after a driver update.",
        detail=examined.tensorflow_log,
    )


_RULES: Final[dict[Unseen, Callable[[Examined, list[Visibility]], Iterator[Problem]]]] = {
    Unseen.PARTITIONED: _partitioned,
    Unseen.HIDDEN: _hidden,
    Unseen.TOO_FEW_MULTIPROCESSORS: _too_few_multiprocessors,
    Unseen.TOO_OLD: _too_old,
    Unseen.REFUSED: _refused,
    Unseen.ANOTHER_INSTANCE: _another_instance,
    Unseen.UNKNOWN: _unknown,
}


def _count(visibility: GpuVisibility) -> int:
    reported = None if visibility.refusal is None else visibility.refusal.multiprocessors
    return reported or visibility.multiprocessor_count or 0


def _least(examined: Examined, unseen: list[Visibility]) -> int:
    """What TensorFlow says that it asks for, or what it must have reckoned."""
    for _, visibility in unseen:
        if visibility.refusal is not None and visibility.refusal.least_multiprocessors is not None:
            return visibility.refusal.least_multiprocessors
    return asked_multiprocessors(examined)


def _words(unseen: list[Visibility]) -> str:
    return "\n".join(each.refusal.words for _, each in unseen if each.refusal is not None)


def _names(gpus: list[PhysicalDevice]) -> str:
    return ", ".join(gpu.name for gpu in gpus)


def _dotted(capability: tuple[int, int] | None) -> str:
    return "unknown" if capability is None else f"{capability[0]}.{capability[1]}"
