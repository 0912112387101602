"""Others that use the device of a training."""

from collections.abc import Iterator
from typing import Final

from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.finding import Finding
from gpupanel.domain.telemetry import DeviceProcess, DeviceReading
from gpupanel.planning.findings.context import FindingContext, hint

_BUSY_PERCENT: Final = 10.0
"""Mean of NVML's utilization of a process: a desktop that is watched stays below."""
_LARGE_FRACTION: Final = 0.1
"""Of a GPU's memory, where the driver does not say how much a process computes: a desktop takes
a few hundred MiB, a training a good part of all."""
_OTHERS_FRACTION: Final = 0.2
"""Fraction of all processors' time that others have to use before it is reported."""
_FREE_FRACTION: Final = 0.1
"""Idle fraction of all processors' time: with more, others take nothing away."""


def other_process_on_gpu(context: FindingContext) -> Iterator[Finding]:
    """Another process that computes on a GPU of the run, or holds much of its memory.

    Silent where the run's own processes are not in the driver's list: in another pid namespace the
    numbers there mean nothing here.
    """
    for gpu in context.gpus:
        readings = context.readings(gpu.key)
        if not readings or not _knows_own(context, readings[-1][1]):
            continue
        others = [each for each in readings[-1][1].processes if each.pid not in context.own_pids]
        found = [(_use(each, readings), each) for each in others if each.name is not None]
        busy = [(use, each) for use, each in found if _matters(use, each, readings[-1][1])]
        if not busy:
            continue
        use, process = max(busy, key=lambda each: (each[0] or 0.0, each[1].memory_used_mib or 0))
        yield Finding(
            problem=hint(
                "other_process_on_gpu",
                f"{_named(process)} uses {context.name(gpu.key)}, too: {_what(use, process)}.",
                "Let it end first, or train on another device: kernels of several processes take "
                "turns.",
            ),
            since_s=_seen_since(process, readings),
            cost_fraction=None if use is None else min(1.0, use / 100.0),
            device_key=gpu.key,
        )


def other_process_on_cpu(context: FindingContext) -> Iterator[Finding]:
    """Other programs that leave a training on the processor too little of it."""
    if not context.is_on_cpu or not context.has_settled or len(context.hosts) < 2:
        return
    recent = context.hosts[-2:]
    if any(each.others_fraction is None or each.free_fraction is None for each in recent):
        return
    if any((each.free_fraction or 0.0) > _FREE_FRACTION for each in recent):
        return
    taken = min(each.others_fraction or 0.0 for each in recent)
    if taken < _OTHERS_FRACTION:
        return
    busiest = recent[-1].busiest
    who = ""
    if busiest is not None:
        part = busiest.fraction * 100
        who = f"; the busiest of them, {busiest.name} (process {busiest.pid}), takes {part:.0f} %"
    busy = [(each.others_fraction or 0.0) >= _OTHERS_FRACTION for each in context.hosts]
    # What an observation has is of the time since the one before it.
    begun = context.hosts[max(0, busy.index(True) - 1)]
    yield Finding(
        problem=hint(
            "other_process_on_cpu",
            f"Other programs take {taken * 100:.0f} % of {context.name(CPU_KEY)}{who}.",
            "Let them end first, or let them start with nice: the training takes what is left.",
        ),
        since_s=begun.time_s,
        cost_fraction=min(1.0, taken),
        device_key=CPU_KEY,
    )


def _knows_own(context: FindingContext, reading: DeviceReading) -> bool:
    return any(each.pid in context.own_pids for each in reading.processes)


def _of(process: DeviceProcess, reading: DeviceReading) -> DeviceProcess | None:
    return next((each for each in reading.processes if each.pid == process.pid), None)


def _use(process: DeviceProcess, readings: tuple[tuple[float, DeviceReading], ...]) -> float | None:
    """The process's mean utilization in percent; ``None``: the driver does not report it."""
    found = [_of(process, reading) for _, reading in readings]
    known = [each.utilization_percent for each in found if each is not None]
    if all(each is None for each in known):
        return None
    # Where it is not in a sample it used nothing then.
    return sum(each or 0.0 for each in known) / len(readings)


def _matters(use: float | None, process: DeviceProcess, reading: DeviceReading) -> bool:
    if use is not None:
        return use >= _BUSY_PERCENT
    held, total = process.memory_used_mib, reading.memory_total_mib
    return held is not None and total is not None and held >= _LARGE_FRACTION * total


def _named(process: DeviceProcess) -> str:
    whose = "" if process.is_mine or process.user is None else f" of {process.user}"
    return f"{process.name} (process {process.pid}){whose}"


def _what(use: float | None, process: DeviceProcess) -> str:
    parts = []
    if use is not None:
        parts.append(f"{use:.0f} % of the time")
    if process.memory_used_mib is not None:
        parts.append(f"{process.memory_used_mib:,} MiB of its memory")
    return ", ".join(parts)


def _seen_since(process: DeviceProcess, readings: tuple[tuple[float, DeviceReading], ...]) -> float:
    return next(time_s for time_s, each in readings if _of(process, each) is not None)
