"""What follows from what was examined: one function for each thing that can be wrong."""

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.tensorflow_facts import SharedLibrary, TensorFlowFacts

_PIP: Final = f"{sys.executable} -m pip install"
_INSTALL_CUDA: Final = f"{_PIP} 'gpupanel[cuda]'"
_SEVERITIES: Final = (Severity.ERROR, Severity.WARNING, Severity.HINT)


@dataclass(frozen=True, slots=True)
class Examined:
    """What was seen on this machine.

    Attributes:
        driver_problem: Why the driver does not answer although one is expected.
        gpus: As NVML lists them.
        gpus_on_the_bus: PCI bus ids of NVIDIA's GPUs, with a driver or without.
        tensorflow: ``None`` when TensorFlow did not get to answer; then there is a problem.
        visible_devices: ``CUDA_VISIBLE_DEVICES``; ``None`` when it is not set.
    """

    driver: str | None
    driver_cuda_version: tuple[int, int] | None
    driver_problem: Problem | None
    gpus: tuple[PhysicalDevice, ...]
    gpus_on_the_bus: tuple[str, ...]
    tensorflow: TensorFlowFacts | None
    tensorflow_problem: Problem | None
    tensorflow_log: str
    visible_devices: str | None


def findings(examined: Examined) -> tuple[Problem, ...]:
    """Everything worth telling, the worst first."""
    found = [problem for rule in _RULES for problem in rule(examined)]
    if examined.gpus and _sees_fewer_gpus(examined) and not any(_explains(p) for p in found):
        found.append(_unexplained(examined))
    return tuple(sorted(found, key=lambda problem: _SEVERITIES.index(problem.severity)))


def _driver(examined: Examined) -> Iterator[Problem]:
    if examined.driver_problem is not None:
        yield examined.driver_problem
    elif examined.driver is None and examined.gpus_on_the_bus:
        yield Problem(
            code="nvidia_driver_missing",
            severity=Severity.WARNING,
            message=f"There is an NVIDIA GPU ({', '.join(examined.gpus_on_the_bus)}), "
            "but no NVIDIA driver.",
            hint="Install the driver of your distribution (Ubuntu: sudo ubuntu-drivers install; "
            "Debian: sudo apt install nvidia-driver; Fedora with RPM Fusion: "
            "sudo dnf install akmod-nvidia), then restart the machine.",
        )
    elif examined.driver is None:
        yield Problem(
            code="no_nvidia_gpu",
            severity=Severity.HINT,
            message="There is no NVIDIA GPU with a driver on this machine: training uses the "
            "processor.",
            hint="Nothing is missing for that; choose the CPU as device.",
        )
    elif not examined.gpus:
        yield Problem(
            code="no_gpu_listed",
            severity=Severity.WARNING,
            message=f"The NVIDIA driver {examined.driver} answers, but lists no GPU.",
            hint="See whether a GPU is plugged in and given to this machine or container "
            "(nvidia-smi -L).",
        )


def _tensorflow(examined: Examined) -> Iterator[Problem]:
    if examined.tensorflow_problem is not None:
        yield examined.tensorflow_problem
    facts = examined.tensorflow
    if facts is None or not facts.import_error:
        return
    last_line = facts.import_error.strip().splitlines()[-1]
    missing = re.match(r"ModuleNotFoundError: No module named '([^']+)'", last_line)
    if missing is not None and missing[1] == "tensorflow":
        message, hint = "TensorFlow is not installed.", f"{_PIP} tensorflow"
    elif missing is not None:
        # A module's name need not be its package's; pip knows what TensorFlow needs.
        message = f"TensorFlow cannot be imported: the module {missing[1]} is not installed."
        hint = f"{_PIP} --upgrade tensorflow"
    else:
        message = f"TensorFlow cannot be imported: {last_line}"
        hint = f"Install it anew: {_PIP} --force-reinstall tensorflow"
    yield Problem(
        code="tensorflow_not_importable", message=message, hint=hint, detail=facts.import_error
    )


def _build_without_cuda(examined: Examined) -> Iterator[Problem]:
    facts = _working_tensorflow(examined)
    if facts is not None and examined.gpus and not facts.is_cuda_build:
        yield Problem(
            code="tensorflow_without_cuda",
            message=f"This TensorFlow {facts.version} was built without CUDA, so it cannot use "
            f"{_listed(examined)}.",
            hint=f"{_PIP} --force-reinstall 'gpupanel[cuda]'",
        )


def _libraries(examined: Examined) -> Iterator[Problem]:
    facts = _working_tensorflow(examined)
    if facts is None or not examined.gpus:
        return
    # It does without one or the other; what counts is whether it sees the GPUs.
    severity = Severity.ERROR if _sees_fewer_gpus(examined) else Severity.HINT
    missing = [library for library in facts.libraries if not library.was_found]
    of_driver = [library for library in missing if not library.package]
    of_cuda = [library for library in missing if library.package]
    if of_driver:
        hint = "Install the CUDA part of the NVIDIA driver (Debian: sudo apt install libcuda1)."
        yield _missing("driver_libraries_missing", severity, of_driver, hint)
    if of_cuda:
        yield _missing("cuda_libraries_missing", severity, of_cuda, _INSTALL_CUDA)


def _missing(code: str, severity: Severity, libraries: list[SharedLibrary], hint: str) -> Problem:
    names = ", ".join(library.soname for library in libraries)
    return Problem(
        code=code,
        severity=severity,
        message=f"TensorFlow does not find {names}, needed to use GPUs.",
        hint=hint,
        detail="\n".join(library.error for library in libraries),
    )


def _driver_too_old(examined: Examined) -> Iterator[Problem]:
    facts = _working_tensorflow(examined)
    if facts is None or facts.cuda_version is None or examined.driver_cuda_version is None:
        return
    # Within one major version of CUDA newer programs run on older drivers.
    if examined.driver_cuda_version[0] < int(facts.cuda_version.split(".")[0]):
        runs = ".".join(str(part) for part in examined.driver_cuda_version)
        yield Problem(
            code="nvidia_driver_too_old",
            message=f"TensorFlow {facts.version} needs CUDA {facts.cuda_version}, but the driver "
            f"{examined.driver} runs CUDA {runs} at most.",
            hint="Install a newer NVIDIA driver and restart the machine.",
        )


def _old_gpus(examined: Examined) -> Iterator[Problem]:
    facts = _working_tensorflow(examined)
    oldest = None if facts is None else _oldest(facts.compute_capabilities)
    for gpu in examined.gpus:
        capability = gpu.compute_capability
        if facts is None or oldest is None or capability is None or capability >= oldest:
            continue
        yield Problem(
            code="gpu_too_old_for_tensorflow",
            severity=Severity.WARNING,
            message=f"{gpu.name} has compute capability {capability[0]}.{capability[1]}; this "
            f"TensorFlow was built for {oldest[0]}.{oldest[1]} and newer.",
            hint="Train on another device, or with an older TensorFlow.",
        )


def _hidden_gpus(examined: Examined) -> Iterator[Problem]:
    if examined.visible_devices is None or not examined.gpus or not _sees_fewer_gpus(examined):
        return
    yield Problem(
        code="gpus_hidden_by_environment",
        severity=Severity.WARNING,
        message=f'CUDA_VISIBLE_DEVICES is "{examined.visible_devices}" in this environment and '
        "hides GPUs from TensorFlow.",
        hint="Unset it (unset CUDA_VISIBLE_DEVICES); gpupanel sets it for each run itself.",
    )


_RULES: Final[tuple[Callable[[Examined], Iterator[Problem]], ...]] = (
    _driver,
    _tensorflow,
    _build_without_cuda,
    _libraries,
    _driver_too_old,
    _old_gpus,
    _hidden_gpus,
)


def _unexplained(examined: Examined) -> Problem:
    facts = examined.tensorflow
    seen = 0 if facts is None else len(facts.gpus)
    return Problem(
        code="gpus_not_seen_by_tensorflow",
        message=f"The driver lists {_listed(examined)}, but TensorFlow sees "
        f"{seen or 'none'} of them.",
        hint="Read the detail, which is what TensorFlow wrote; often a restart of the machine "
        "after a driver update is missing.",
        detail=examined.tensorflow_log,
    )


def _explains(problem: Problem) -> bool:
    """Whether it says why TensorFlow does not see a GPU that the driver lists."""
    return problem.severity is not Severity.HINT


def _working_tensorflow(examined: Examined) -> TensorFlowFacts | None:
    facts = examined.tensorflow
    return None if facts is None or facts.version is None else facts


def _sees_fewer_gpus(examined: Examined) -> bool:
    facts = _working_tensorflow(examined)
    return facts is not None and len(facts.gpus) < len(examined.gpus)


def _listed(examined: Examined) -> str:
    return ", ".join(gpu.name for gpu in examined.gpus)


def _oldest(compute_capabilities: tuple[str, ...]) -> tuple[int, int] | None:
    """The least of ``sm_60``, ``compute_90``, ...: the last digit is the minor version."""
    numbers = [re.fullmatch(r"(?:sm|compute)_(\d+)(\d)a?", name) for name in compute_capabilities]
    return min(((int(found[1]), int(found[2])) for found in numbers if found), default=None)
