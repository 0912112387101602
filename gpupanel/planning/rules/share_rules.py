"""What keeps the shares of the global batch from fitting the replicas."""

from collections import Counter
from collections.abc import Iterator

from gpupanel.domain.number_text import count
from gpupanel.domain.plan import replica_name
from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.strategy import StrategyKind
from gpupanel.planning.context import PlanningContext
from gpupanel.planning.shares import equal_shares, planned_batch_size, proportional_shares

_WHY_UNUSED = {
    StrategyKind.ONE_DEVICE: "on one device, which takes the whole batch",
    StrategyKind.PARAMETER_SERVER: "with parameter servers, whose workers take whole batches by "
    "turns",
    StrategyKind.MODEL_PARALLEL: "where layers are placed on devices and each batch passes all "
    "of them",
}


def shares_unused(context: PlanningContext) -> Iterator[Problem]:
    """Shares for a strategy that divides no batch."""
    strategy = context.profile.strategy
    if context.layout is None or strategy.divides_batches or strategy.shares == "equal":
        return
    yield Problem(
        code="shares_unused",
        severity=Severity.HINT,
        field="strategy.shares",
        message=f"Shares have no effect {_WHY_UNUSED[strategy.kind]}.",
        hint='Set them to "equal".',
        fix=Fix(label="Set to equal", changes=(_set_shares("equal"),)),
    )


def batch_smaller_than_replicas(context: PlanningContext) -> Iterator[Problem]:
    """Equal or measured shares of a batch that has not an example for each replica."""
    replica_count = _sharing_replicas(context)
    batch = planned_batch_size(context.profile, replica_count)
    if batch >= replica_count or not isinstance(context.profile.strategy.shares, str):
        return
    then = f"{replica_count - batch} of them will only wait"
    if context.profile.strategy.kind is StrategyKind.MULTI_WORKER:
        # ``divide_batch`` of ``trainer/steps/order.py``.
        then = (
            "a worker cannot leave a step out, so every worker computes the whole batch, and "
            "nothing is gained"
        )
    path = ("training", "global_batch_size")
    if not context.trains:
        path = ("inference", "batch_size")
    yield Problem(
        code="batch_smaller_than_replicas",
        severity=Severity.WARNING,
        field=".".join(path),
        message=f"A global batch of {batch:,} gives {replica_count} replicas too little: {then}.",
        hint=f"Use a global batch of at least {replica_count}, or fewer replicas.",
        fix=Fix(
            label=f"Use a batch of {replica_count}",
            changes=(Change(path=path, value=replica_count), _set_shares("equal")),
        ),
    )


def shares_do_not_fit(context: PlanningContext) -> Iterator[Problem]:
    """Shares that are not as many as replicas, or do not sum to the global batch."""
    replica_count = _sharing_replicas(context)
    batch = planned_batch_size(context.profile, replica_count)
    shares = context.profile.strategy.shares
    if isinstance(shares, str) or not replica_count:
        return
    if len(shares) != replica_count:
        message = f"{len(shares)} shares are given for {replica_count} replicas."
        better = _of_split_devices(context, shares, batch) or equal_shares(batch, replica_count)
    elif sum(shares) != batch:
        message = f"The shares sum to {sum(shares):,}, the global batch size is {batch:,}."
        better = proportional_shares(batch, shares)
    else:
        return
    yield Problem(
        code="shares_do_not_fit",
        field="strategy.shares",
        message=message,
        hint=f"Give {replica_count} numbers that sum to {batch:,}.",
        fix=Fix(
            label=f"Use {' + '.join(map(count, better))}",
            changes=(_set_shares(list(better)),),
        ),
    )


def replica_without_share(context: PlanningContext) -> Iterator[Problem]:
    """Replicas that were given no example."""
    strategy, plan = context.profile.strategy, context.plan
    if plan is None or isinstance(strategy.shares, str) or not strategy.divides_batches:
        return
    names = {device.key_on_node: device.name for device in context.devices}
    idle = [
        replica_name(each.index, names.get(each.device_key, each.device_key))
        for each in plan.replicas
        if each.share == 0
    ]
    if not idle:
        return
    then, hint = " and will only wait", "Give it examples, or switch its device off."
    if strategy.kind is StrategyKind.MULTI_WORKER:
        then = ": a worker cannot leave a step out, so it still takes at least one example of each"
        hint = "Give it examples, or use fewer workers."
    yield Problem(
        code="replica_without_share",
        severity=Severity.WARNING,
        field="strategy.shares",
        message=f"{idle[0]}{_others(len(idle) - 1)} a share of 0{then}.",
        hint=hint,
    )


def _others(count: int) -> str:
    return f" and {count} more have" if count else " has"


def _sharing_replicas(context: PlanningContext) -> int:
    """How many replicas divide the batch; 0 without devices, and where none is divided.

    Also where devices cannot be divided into replicas, which ``replica_rules`` reports.
    """
    strategy, count = context.profile.strategy, context.logical_device_count
    if context.layout is None or not strategy.divides_batches:
        return 0
    if context.layout.places and count % (strategy.devices_per_replica or 1):
        return 0
    return len(context.layout.spots)


def _of_split_devices(
    context: PlanningContext, shares: tuple[int, ...], batch: int
) -> tuple[int, ...] | None:
    """Shares in which each device keeps its part of the batch, divided over its replicas.

    As of devices of which some were split after the shares were given. ``None`` where they are not
    one for each device.
    """
    assert context.layout is not None  # replicas were counted
    counts = Counter(place.device_key for _, place in context.layout.spots)
    if len(shares) != len(counts):
        return None
    parts = zip(shares, counts.values(), strict=True)
    return proportional_shares(
        batch, [share / count for share, count in parts for _ in range(count)]
    )


def _set_shares(value: object) -> Change:
    return Change(path=("strategy", "shares"), value=value)
