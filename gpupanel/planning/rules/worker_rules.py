"""What keeps the chosen devices from being divided among the workers."""

from collections.abc import Iterator

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.memory import logical_device_count
from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.strategy import GANG_KINDS, StrategyKind
from gpupanel.planning.context import PlanningContext
from gpupanel.planning.layout import worker_count


def more_workers_than_gpus(context: PlanningContext) -> Iterator[Problem]:
    """Workers without a GPU of their own."""
    if _lacks_gpus(context):
        yield _too_many(_workers(context), len(context.gpus))


def unused_by_workers(context: PlanningContext) -> Iterator[Problem]:
    """GPUs, or parts of them, that no worker of a parameter-server run trains on.

    Each trains on the first logical device that it has.
    """
    if not _divides(context, StrategyKind.PARAMETER_SERVER):
        return
    gpus, workers = context.gpus, _workers(context)
    if len(gpus) > workers:
        yield _gpus_unused(workers, len(gpus))
    used = gpus[:workers]
    split = [
        gpu for gpu in used if logical_device_count(context.profile.memory_policy(gpu.key)) > 1
    ]
    if split:
        yield _parts_unused(split, used)


def single_worker(context: PlanningContext) -> Iterator[Problem]:
    """One worker alone: nothing to work with."""
    if _divides(context, StrategyKind.MULTI_WORKER) and _workers(context) == 1:
        yield _single_worker(len(context.gpus))


def unequal_workers(context: PlanningContext) -> Iterator[Problem]:
    """Workers that would have different numbers of GPUs, or of logical devices."""
    gpus = context.gpus
    if not _divides(context, StrategyKind.MULTI_WORKER) or not gpus:
        return
    if len(gpus) % _workers(context):
        yield _uneven(_workers(context), len(gpus))
        return
    sizes = {
        sum(logical_device_count(context.profile.memory_policy(gpu.key)) for gpu in group)
        for group in context.gpu_groups
    }
    if len(sizes) > 1:
        yield _split_unevenly(gpus)


def _workers(context: PlanningContext) -> int:
    return worker_count(context.profile, context.devices)


def _lacks_gpus(context: PlanningContext) -> bool:
    in_gang = context.profile.strategy.kind in GANG_KINDS
    return in_gang and 0 < len(context.gpus) < _workers(context)


def _divides(context: PlanningContext, kind: StrategyKind) -> bool:
    """Whether that strategy divides devices among workers, of which there are not too many."""
    is_chosen = bool(context.devices) and context.profile.strategy.kind is kind
    return is_chosen and not _lacks_gpus(context)


def _use_workers(count: int) -> Fix:
    return Fix.of(f"Use {count} worker" + ("s" if count > 1 else ""), "strategy.workers", count)


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


def _parts_unused(split: list[PhysicalDevice], gpus: tuple[PhysicalDevice, ...]) -> Problem:
    return Problem(
        code="split_parts_unused",
        severity=Severity.WARNING,
        field="memory",
        message=f"Each worker trains on one logical device: of the split "
        f"{', '.join(gpu.name for gpu in split)} only the first part works.",
        hint="Let them grow without a split, or choose a strategy that uses every part.",
        fix=_let_grow("Let every chosen GPU grow", gpus),
    )


def _single_worker(gpus: int) -> Problem:
    kind = StrategyKind.MIRRORED if gpus > 1 else StrategyKind.ONE_DEVICE
    return Problem(
        code="single_worker",
        severity=Severity.HINT,
        field="strategy.workers",
        message=f"One worker alone is the same as {kind}, which needs no other process.",
        hint=f"Use more workers, or the strategy {kind}.",
        fix=Fix.of("Use mirrored" if gpus > 1 else "Use one device", "strategy.kind", kind.value),
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


def _split_unevenly(gpus: tuple[PhysicalDevice, ...]) -> Problem:
    return Problem(
        code="workers_have_unequal_devices",
        field="memory",
        message="The workers would have different numbers of logical devices, because "
        f"{', '.join(gpu.name for gpu in gpus)} are not split alike; TensorFlow wants equally "
        "many.",
        hint="Split every GPU into the same number, or none.",
        fix=_let_grow("Split none", gpus),
    )


def _let_grow(label: str, gpus: tuple[PhysicalDevice, ...]) -> Fix:
    changes = tuple(Change(path=("memory", gpu.key), value={"policy": "growth"}) for gpu in gpus)
    return Fix(label=label, changes=changes)
