"""Whether TensorFlow can use GPUs, asked as a run would; the doctor's rules read the answer.

The doctor examines the environment that it was started in, where a person may have hidden GPUs. A
run sets what decides that itself, so TensorFlow is asked here with a run's variables.
"""

import os
from collections.abc import Callable, Mapping
from threading import Event
from typing import Final

from gpupanel.devices.doctor.examination import examine_machine
from gpupanel.devices.doctor.examined import Examined
from gpupanel.devices.doctor.findings import findings, mending_command
from gpupanel.devices.doctor.support_memory import recall_support, remember_support, support_basis
from gpupanel.devices.doctor.tensorflow_rules import nccl_missing
from gpupanel.devices.doctor.visibility import GpuVisibility, Kernels, Unseen, visibilities
from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.gpu_support import GpuFault, GpuSupport
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.planning.device_layout import environment as run_environment

Examine = Callable[[Mapping[str, str], Event | None], Examined]

_NOT_NEEDED: Final = "optional_cuda_libraries_missing"
_DRIVER_TOO_OLD: Final = "nvidia_driver_too_old"
_TOO_OLD_TO_COMPILE: Final = "nvidia_driver_too_old_to_compile"
_NO_ANSWER: Final = frozenset(
    {
        "tensorflow_probe_cancelled",
        "tensorflow_probe_not_started",
        "tensorflow_import_timed_out",
        "tensorflow_probe_failed",
    }
)
"""Nothing follows from these for a run: the machine was busy, or nobody waited."""


def gpu_support(
    gpus: tuple[PhysicalDevice, ...],
    driver: str | None,
    cancelled: Event | None = None,
    examine: Examine | None = None,
) -> GpuSupport:
    """Which of these GPUs TensorFlow can use.

    At once when all of them could be used before and nothing has changed since; else as long as a
    process needs to import TensorFlow. What could not be used is asked again: what mends it may
    be nothing that can be noticed here.

    Args:
        gpus: Those that answer, in the order of the inventory.
        driver: The driver's version.
        cancelled: Set, by any thread, when the answer is not wanted any more.
        examine: Examines driver and TensorFlow with a run's variables.
    """
    basis = support_basis(gpus, driver)
    known = recall_support(basis)
    if known is not None and not known.faults:
        return known
    asked = asked_gpus(gpus)
    variables = run_environment(Profile(), asked)
    support = support_of(asked, (examine or _examine)(variables, cancelled))
    if support.unanswered is None:
        remember_support(basis, support)
    return support


def remembered_support(gpus: tuple[PhysicalDevice, ...], driver: str | None) -> GpuSupport | None:
    """What TensorFlow answered about these GPUs before; ``None`` where that is not known."""
    return recall_support(support_basis(gpus, driver))


def asked_gpus(gpus: tuple[PhysicalDevice, ...]) -> tuple[PhysicalDevice, ...]:
    """The GPUs that one process can see together: whole GPUs, or one MIG instance."""
    whole = tuple(gpu for gpu in gpus if not gpu.is_mig_instance and not gpu.is_partitioned)
    return whole or tuple(gpu for gpu in gpus if gpu.is_mig_instance)[:1]


def support_of(asked: tuple[PhysicalDevice, ...], examined: Examined) -> GpuSupport:
    """What follows for each GPU from what was examined with a run's variables."""
    problem, facts = examined.tensorflow_problem, examined.working_tensorflow
    build = None if facts is None else facts.build
    if problem is not None and problem.code in _NO_ANSWER:
        return GpuSupport(build=build, unanswered=problem)
    # Another process may have been given other GPUs since the caller listed these.
    examined = examined.about(asked)
    alike: dict[tuple[bool, Unseen | None, Kernels | None], list[GpuVisibility]] = {}
    for visibility in visibilities(examined):
        alike.setdefault(
            (bool(visibility.is_seen), visibility.why_not, visibility.kernels), []
        ).append(visibility)
    faults = []
    for group in alike.values():
        why = _why_unusable(examined, tuple(group))
        if why:
            keys = tuple(visibility.key for visibility in group)
            faults.append(GpuFault(keys=keys, problem=_as_one(why)))
    return GpuSupport(build=build, faults=tuple(faults), without_nccl=nccl_missing(examined))


def _examine(variables: Mapping[str, str], cancelled: Event | None) -> Examined:
    return examine_machine(cancelled, variables=variables, environment={**os.environ})


def _why_unusable(examined: Examined, alike: tuple[GpuVisibility, ...]) -> tuple[Problem, ...]:
    """What keeps a run from using GPUs, the gravest first; nothing where it can use them.

    Args:
        examined: With the variables of a run.
        alike: How TensorFlow stands to each of them, which is the same for all.
    """
    found = tuple(
        problem
        for problem in findings(examined, alike)
        if problem.severity is not Severity.HINT and problem.code != _NOT_NEEDED
    )
    if not alike[0].is_seen:
        return found or (_NOT_SEEN,)
    # TensorFlow lists a GPU before it needs anything of a newer driver.
    compiles = alike[0].kernels is Kernels.COMPILED_AT_START
    codes = (_DRIVER_TOO_OLD, *([_TOO_OLD_TO_COMPILE] if compiles else []))
    return tuple(problem for problem in found if problem.code in codes)


_NOT_SEEN: Final = Problem(
    code="gpus_not_seen_by_tensorflow",
    message="TensorFlow does not see it.",
    hint="Open the doctor, which shows what driver and TensorFlow report.",
)


def _as_one(why: tuple[Problem, ...]) -> Problem:
    """Several findings as one problem: the first is shown, all of them stand in its detail."""
    first, *others = why
    if not others:
        return first
    return Problem(
        code=first.code,
        message=first.message,
        hint=f"{len(why)} problems found: the doctor shows how to fix each."
        + (" The command fixes those that a command can fix." if mending_command(why) else ""),
        command=mending_command(why),
        detail="\n\n".join(
            "\n".join(filter(None, (each.message, each.hint, each.command, each.detail)))
            for each in why
        ),
    )
