"""Examines everything and concludes."""

import os
import platform
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import metadata
from threading import Event
from typing import Final

from gpupanel.devices.doctor.environment import HostEnvironment, host_environment
from gpupanel.devices.doctor.examined import Examined
from gpupanel.devices.doctor.findings import findings, mending_command
from gpupanel.devices.doctor.report import DoctorReport, PackageVersion
from gpupanel.devices.doctor.spoiled_import import packages_of_elsewhere, what_spoils_import
from gpupanel.devices.doctor.visibility import visibilities
from gpupanel.devices.packages import tensorflow_package
from gpupanel.devices.probes.driver_probe import DriverFacts, ask_driver
from gpupanel.devices.probes.tensorflow_probe import ProbeAnswer, ask_tensorflow
from gpupanel.devices.shell_limits import shell_limits
from gpupanel.domain.inherited_variables import reported_variables
from gpupanel.domain.problem import Problem

_PACKAGES: Final = (
    "gpupanel",
    "keras",
    "numpy",
    "PySide6-Essentials",
    "pyqtgraph",
    "nvidia-ml-py",
    "psutil",
    "pydantic",
    "scikit-learn",
)


def examine(cancelled: Event | None = None) -> DoctorReport:
    """Examine driver, GPUs, TensorFlow and packages.

    Driver and TensorFlow are asked at the same time, by a child each with a time limit: it takes
    as long as a process needs to import TensorFlow, which is seconds. Call from a worker.

    Args:
        cancelled: Set, by any thread, when the report is not wanted any more; it comes at once
            then and says nothing.
    """
    return report_of(examine_machine(cancelled))


def examine_machine(
    cancelled: Event | None = None,
    *,
    probe: Callable[[Event | None], ProbeAnswer] | None = None,
    driver: Callable[[Event | None], DriverFacts] | None = None,
    host: Callable[[], HostEnvironment] = host_environment,
    spoils: Callable[[str, Event | None], Problem | None] = what_spoils_import,
    environment: Mapping[str, str] = os.environ,
    variables: Mapping[str, str] | None = None,
) -> Examined:
    """All that can be examined, before anything is concluded from it.

    Args:
        cancelled: As for :func:`examine`.
        probe: Asks TensorFlow; :func:`ask_tensorflow` when left out.
        driver: Asks the driver; :func:`ask_driver` when left out.
        host: Reads the kernel's files.
        spoils: Finds what keeps TensorFlow from being imported, where it cannot be.
        environment: What a trainer would inherit.
        variables: What a run would set besides.
    """
    ask_probe = probe or partial(_ask_tensorflow, variables)
    with ThreadPoolExecutor(1) as beside:
        asked = beside.submit(driver or _ask_driver, cancelled)
        answer = ask_probe(cancelled)
        driver_facts = asked.result()
    failure = answer.failure
    spoiled = None if failure is None else spoils(failure, cancelled)
    package = tensorflow_package()
    inherited = {**environment, **(variables or {})}
    return Examined(
        driver=driver_facts,
        host=host(),
        tensorflow=answer.facts,
        tensorflow_problem=answer.problem,
        tensorflow_log=answer.log,
        refusals=answer.refusals,
        tensorflow_package="tensorflow" if package is None else package[0],
        visible_devices=inherited.get("CUDA_VISIBLE_DEVICES"),
        least_multiprocessors=inherited.get("TF_MIN_GPU_MULTIPROCESSOR_COUNT"),
        spoiled=spoiled,
        environment_problems=(*packages_of_elsewhere(), *shell_limits()),
        shell_variables=reported_variables(environment),
    )


def _ask_tensorflow(variables: Mapping[str, str] | None, cancelled: Event | None) -> ProbeAnswer:
    return ask_tensorflow(cancelled=cancelled, variables=variables)


def _ask_driver(cancelled: Event | None) -> DriverFacts:
    return ask_driver(cancelled=cancelled)


def report_of(examined: Examined) -> DoctorReport:
    """What follows from what was examined."""
    seen = visibilities(examined)
    problems = findings(examined, seen)
    cuda = examined.driver.cuda_version
    return DoctorReport(
        python_version=platform.python_version(),
        python_path=sys.executable,
        system=platform.platform(),
        packages=_packages(examined.tensorflow_package),
        surroundings=examined.host,
        driver=examined.driver.version,
        driver_cuda_version=None if cuda is None else f"{cuda[0]}.{cuda[1]}",
        gpus=examined.driver.gpus,
        unresponsive=examined.driver.unresponsive,
        sights=seen,
        tensorflow=examined.tensorflow,
        problems=problems,
        command=mending_command(problems),
    )


def _packages(tensorflow: str) -> tuple[PackageVersion, ...]:
    """Versions of gpupanel's dependencies, then of NVIDIA's packages."""
    first, *others = _PACKAGES
    names = (first, tensorflow, *others)
    of_nvidia = {
        each.name: each.version
        for each in metadata.distributions()
        if each.name and each.name.startswith("nvidia-") and each.name not in _PACKAGES
    }
    return (
        *(PackageVersion(name=name, version=_version(name)) for name in names),
        *(PackageVersion(name=name, version=of_nvidia[name]) for name in sorted(of_nvidia)),
    )


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
