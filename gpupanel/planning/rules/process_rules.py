"""How many processes and replicas one machine takes."""

from collections.abc import Iterator

from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.number_text import gibibytes
from gpupanel.domain.problem import Fix, Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import GANG_KINDS, StrategyKind
from gpupanel.planning.context import PlanningContext

PROCESS_MIB = 220
"""What a process holds for itself alone once TensorFlow 2.21 is imported, without a model: as
measured (``uss``). The libraries, some 350 MiB, are shared by all."""
TRAINING_PROCESS_MIB = 400
"""The same of one that trains a small model in a gang."""
PROCESSES_A_CORE = 4
"""More of them on a core only wait for each other, and importing TensorFlow takes each of them
some seconds of a core."""


def too_many_processes(context: PlanningContext) -> Iterator[Problem]:
    """More processes than memory or cores allow."""
    plan, profile = context.plan, context.profile
    if plan is None:
        return
    host = context.inventory.device(CPU_KEY)
    total = None if host is None else host.memory_total_mib
    cores = None if host is None else host.core_count
    reading = None if context.known.sample is None else context.known.sample.reading(CPU_KEY)
    free = None if reading is None else reading.memory_free_mib
    count = len(plan.processes)
    on_the_cpu = sum(replica.device_key == CPU_KEY for replica in plan.replicas)
    if total is not None and count * PROCESS_MIB > total:
        yield _above_memory(profile, count, total)
    elif free is not None and count * TRAINING_PROCESS_MIB > free:
        yield _above_free_memory(count, free)
    elif cores is not None and on_the_cpu > cores * PROCESSES_A_CORE:
        yield _above_cores(profile, on_the_cpu, cores)


def _above_memory(profile: Profile, count: int, total_mib: int) -> Problem:
    return Problem(
        code="processes_above_memory",
        field="strategy.workers",
        message=f"{count:,} processes take {_gib(count * PROCESS_MIB)} for TensorFlow alone, and "
        f"this machine has {_gib(total_mib)}.",
        hint="Use fewer workers.",
        fix=_fewer(profile, count, total_mib // TRAINING_PROCESS_MIB),
    )


def _above_free_memory(count: int, free_mib: int) -> Problem:
    return Problem(
        code="processes_above_free_memory",
        severity=Severity.WARNING,
        field="strategy.workers",
        message=f"{count:,} processes take some {_gib(count * TRAINING_PROCESS_MIB)}, and "
        f"{_gib(free_mib)} of this machine's memory are free now.",
        hint="Use fewer workers, or end what holds the rest.",
    )


def _above_cores(profile: Profile, count: int, cores: int) -> Problem:
    in_gang = profile.strategy.kind in GANG_KINDS
    what = "workers" if in_gang else "replicas"
    return Problem(
        code="replicas_above_cores",
        severity=Severity.WARNING,
        field="strategy.workers" if in_gang else "devices.cpu_replicas",
        message=f"{count:,} {what} share the {cores} logical processors of this machine: starting "
        "takes very long, and they only wait for each other.",
        hint=f"Use {cores} of them at most.",
    )


def _fewer(profile: Profile, count: int, most: int) -> Fix | None:
    """The most workers that fit into memory beside the other processes."""
    workers = profile.strategy.workers
    if workers is None:
        return None
    left = most - (count - workers)
    least = 1 if profile.strategy.kind is StrategyKind.PARAMETER_SERVER else 2
    if left < least:
        return None
    return Fix.of(f"Use {left} workers", "strategy.workers", left)


def _gib(size_mib: int) -> str:
    return f"{gibibytes(size_mib)} GiB"
