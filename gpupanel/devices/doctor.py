"""The doctor: can this machine train, on which devices, and what would have to be installed."""

import os
import platform
from collections.abc import Callable, Mapping
from importlib import metadata
from typing import Final

from gpupanel.devices.doctor_findings import Examined, findings
from gpupanel.devices.gpu_roster import GpuRoster
from gpupanel.devices.pci import nvidia_gpus_on_the_bus
from gpupanel.devices.tensorflow_probe import ProbeAnswer, ask_tensorflow
from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.tensorflow_facts import TensorFlowFacts
from gpupanel.domain.value import Value

_PACKAGES: Final = (
    "gpupanel",
    "tensorflow",
    "keras",
    "numpy",
    "PySide6-Essentials",
    "pyqtgraph",
    "nvidia-ml-py",
    "psutil",
    "pydantic",
    "scikit-learn",
)


class PackageVersion(Value):
    """A package of this Python; its version is ``None`` when it is not installed."""

    name: str
    version: str | None = None


class DoctorReport(Value):
    """What was found.

    Attributes:
        driver: Version of the NVIDIA driver; ``None`` where none answers.
        driver_cuda_version: The newest CUDA that the driver can run ("12.8").
        gpus: As NVML lists them.
        tensorflow: ``None`` when the process that looks at TensorFlow did not get to answer.
        problems: What is wrong and what mends it, and hints; the worst first.
    """

    python_version: str
    system: str
    packages: tuple[PackageVersion, ...]
    driver: str | None = None
    driver_cuda_version: str | None = None
    gpus: tuple[PhysicalDevice, ...] = ()
    tensorflow: TensorFlowFacts | None = None
    problems: tuple[Problem, ...] = ()

    @property
    def is_well(self) -> bool:
        """Whether every device that is there can train; a hint is no illness."""
        return all(problem.severity is Severity.HINT for problem in self.problems)

    def facts(self) -> tuple[tuple[str, str], ...]:
        """What was found as lines for people: a name and a value each, the most telling first."""
        facts = [("System", self.system), ("Python", self.python_version)]
        facts.append(("NVIDIA driver", self.driver or "none"))
        if self.driver_cuda_version is not None:
            facts.append(("CUDA of the driver, at most", self.driver_cuda_version))
        facts += [("GPU", _gpu_words(gpu)) for gpu in self.gpus]
        if self.tensorflow is not None and self.tensorflow.version is not None:
            facts += _tensorflow_words(self.tensorflow)
        facts += [(package.name, package.version or "not installed") for package in self.packages]
        return tuple(facts)


def examine(
    probe: Callable[[], ProbeAnswer] = ask_tensorflow,
    roster: GpuRoster | None = None,
    environment: Mapping[str, str] = os.environ,
) -> DoctorReport:
    """Look at driver, GPUs, TensorFlow and packages.

    Takes as long as a process needs to import TensorFlow: seconds. Call from a worker.

    Args:
        probe: Asks TensorFlow.
        roster: The GPUs; closed afterwards.
        environment: What a trainer would inherit.
    """
    roster = roster or GpuRoster()
    try:
        roster.look()
        gpus = tuple(gpu.device for gpu in roster.gpus)
        driver, cuda, problem = roster.driver, roster.cuda_version, roster.problem
    finally:
        roster.close()
    answer = probe()
    examined = Examined(
        driver=driver,
        driver_cuda_version=cuda,
        driver_problem=problem,
        gpus=gpus,
        gpus_on_the_bus=nvidia_gpus_on_the_bus(),
        tensorflow=answer.facts,
        tensorflow_problem=answer.problem,
        tensorflow_log=answer.log,
        visible_devices=environment.get("CUDA_VISIBLE_DEVICES"),
    )
    return DoctorReport(
        python_version=platform.python_version(),
        system=platform.platform(),
        packages=tuple(PackageVersion(name=name, version=_version(name)) for name in _PACKAGES),
        driver=driver,
        driver_cuda_version=None if cuda is None else f"{cuda[0]}.{cuda[1]}",
        gpus=gpus,
        tensorflow=answer.facts,
        problems=findings(examined),
    )


def _gpu_words(gpu: PhysicalDevice) -> str:
    capability = gpu.compute_capability
    known = "" if capability is None else f", compute capability {capability[0]}.{capability[1]}"
    return f"{gpu.name} ({gpu.key}){known}"


def _tensorflow_words(facts: TensorFlowFacts) -> list[tuple[str, str]]:
    build = "without CUDA"
    if facts.is_cuda_build:
        build = f"for CUDA {facts.cuda_version or '?'}, cuDNN {facts.cudnn_version or '?'}"
    seen = ", ".join(gpu.name for gpu in facts.gpus) or "none"
    libraries = [(library.soname, library.path or "not found") for library in facts.libraries]
    return [("TensorFlow's build", build), ("GPUs that TensorFlow sees", seen), *libraries]


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
