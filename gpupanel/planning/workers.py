"""How many processes a run has, and which of the chosen devices each of them gets."""

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.memory import logical_device_count
from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind

_CPU_WORKERS = 2


def worker_count(profile: Profile, devices: tuple[PhysicalDevice, ...]) -> int:
    """Worker processes: as many as the profile says, else one a GPU, else two on the CPU."""
    if profile.strategy.workers is not None:
        return profile.strategy.workers
    gpus = sum(device.is_gpu for device in devices)
    return gpus or max(_CPU_WORKERS, profile.devices.cpu_replicas)


def parameter_server_count(profile: Profile) -> int:
    """Parameter-server processes."""
    return profile.strategy.parameter_servers or 1


def device_groups(
    profile: Profile, devices: tuple[PhysicalDevice, ...]
) -> tuple[tuple[PhysicalDevice, ...], ...]:
    """The devices that each worker sees: equally many GPUs, or the CPU for each.

    Where they cannot be divided so, the groups are as even as they can be, and
    :func:`worker_problems` tells.
    """
    count = worker_count(profile, devices)
    gpus = tuple(device for device in devices if device.is_gpu)
    if not gpus:
        return (devices,) * count
    count = min(count, len(gpus))
    each = 1 if profile.strategy.kind is StrategyKind.PARAMETER_SERVER else len(gpus) // count
    return tuple(gpus[each * index : each * (index + 1)] for index in range(count))


def worker_problems(profile: Profile, devices: tuple[PhysicalDevice, ...]) -> list[Problem]:
    """What keeps the chosen devices from being divided among the workers."""
    gpus = [device for device in devices if device.is_gpu]
    workers = worker_count(profile, devices)
    if gpus and workers > len(gpus):
        return [_too_many(workers, len(gpus))]
    if profile.strategy.kind is StrategyKind.PARAMETER_SERVER:
        unused = [_gpus_unused(workers, len(gpus))] if len(gpus) > workers else []
        return [*unused, *_parts_unused(profile, gpus[:workers])]
    problems = [_single_worker(len(gpus))] if workers == 1 else []
    if not gpus:
        return problems
    if len(gpus) % workers:
        return [*problems, _uneven(workers, len(gpus))]
    sizes = {
        sum(logical_device_count(profile.memory_policy(device.key)) for device in group)
        for group in device_groups(profile, devices)
    }
    return problems if len(sizes) == 1 else [*problems, _split_unevenly(gpus)]


def _use_workers(count: int) -> Fix:
    return Fix(
        label=f"Use {count} worker" + ("s" if count > 1 else ""),
        changes=(Change(path=("strategy", "workers"), value=count),),
    )


def _too_many(workers: int, gpus: int) -> Problem:
    return Problem(
        code="more_workers_than_gpus",
        field="strategy.workers",
        message=f"{workers} workers cannot share {gpus} chosen GPU"
        f"{'s' if gpus > 1 else ''}: each needs one of its own.",
        hint="Use fewer workers, or switch more GPUs on.",
        fix=_use_workers(gpus),
    )


def _gpus_unused(workers: int, gpus: int) -> Problem:
    return Problem(
        code="devices_unused",
        severity=Severity.WARNING,
        field="strategy.workers",
        message=f"{workers} workers train on one GPU each; {gpus - workers} of the {gpus} chosen "
        "GPUs will idle.",
        hint="Use a worker for each GPU, or switch the others off.",
        fix=_use_workers(gpus),
    )


def _parts_unused(profile: Profile, gpus: list[PhysicalDevice]) -> list[Problem]:
    """A worker of a parameter-server run trains on the first logical device that it has."""
    split = [gpu for gpu in gpus if logical_device_count(profile.memory_policy(gpu.key)) > 1]
    if not split:
        return []
    return [
        Problem(
            code="split_parts_unused",
            severity=Severity.WARNING,
            field="memory",
            message=f"Each worker trains on one logical device: of the split "
            f"{', '.join(gpu.name for gpu in split)} only the first part works.",
            hint="Let them grow undivided, or choose a strategy that uses every part.",
            fix=Fix(
                label="Let every chosen GPU grow",
                changes=tuple(
                    Change(path=("memory", gpu.key), value={"policy": "growth"}) for gpu in gpus
                ),
            ),
        )
    ]


def _single_worker(gpus: int) -> Problem:
    kind = StrategyKind.MIRRORED if gpus > 1 else StrategyKind.ONE_DEVICE
    return Problem(
        code="single_worker",
        severity=Severity.HINT,
        field="strategy.workers",
        message=f"One worker alone is the same as {kind}, which needs no other process.",
        hint=f"Use more workers, or the strategy {kind}.",
        fix=Fix(
            label="Use mirrored" if gpus > 1 else "Use one device",
            changes=(Change(path=("strategy", "kind"), value=kind.value),),
        ),
    )


def _uneven(workers: int, gpus: int) -> Problem:
    return Problem(
        code="workers_do_not_divide_gpus",
        field="strategy.workers",
        message=f"{gpus} GPUs cannot be divided among {workers} workers: TensorFlow wants equally "
        "many in each.",
        hint="Use one worker for each GPU, or switch a GPU off.",
        fix=_use_workers(gpus),
    )


def _split_unevenly(gpus: list[PhysicalDevice]) -> Problem:
    return Problem(
        code="workers_have_unequal_devices",
        field="memory",
        message="The workers would have different numbers of logical devices, because "
        f"{', '.join(gpu.name for gpu in gpus)} are not split alike; TensorFlow wants equally "
        "many.",
        hint="Split every GPU into the same number, or none.",
        fix=Fix(
            label="Split none",
            changes=tuple(
                Change(path=("memory", gpu.key), value={"policy": "growth"}) for gpu in gpus
            ),
        ),
    )
