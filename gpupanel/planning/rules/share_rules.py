"""How the global batch is divided over replicas, and what keeps shares from fitting."""

from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import SHARING_KINDS, StrategyKind
from gpupanel.planning.batches import planned_batch_size
from gpupanel.planning.shares import equal_shares, proportional_shares


def shares_of(profile: Profile, replica_count: int) -> tuple[int, ...] | None:
    """The share of each replica; ``None`` while those of the profile do not fit.

    Balanced shares begin as equal ones: they are measured when the run starts.
    """
    batch, shares = planned_batch_size(profile), profile.strategy.shares
    if profile.strategy.kind not in SHARING_KINDS:
        # Workers of a parameter server take whole batches by turns.
        return (batch,) * replica_count
    if isinstance(shares, str):
        return equal_shares(batch, replica_count)
    return shares if len(shares) == replica_count and sum(shares) == batch else None


def share_problems(profile: Profile, replica_count: int) -> list[Problem]:
    """Every problem of the shares over so many replicas."""
    batch, shares = planned_batch_size(profile), profile.strategy.shares
    if profile.strategy.kind not in SHARING_KINDS:
        return [] if shares == "equal" else [_unused(profile)]
    if isinstance(shares, str):
        return [_batch_too_small(profile, replica_count)] if batch < replica_count else []
    if len(shares) != replica_count:
        message = f"{len(shares)} shares are given for {replica_count} replicas."
        better = equal_shares(batch, replica_count)
    elif sum(shares) != batch:
        message = f"The shares sum to {sum(shares)}, the global batch size is {batch}."
        better = proportional_shares(batch, shares)
    else:
        return _idle_replicas(profile, shares)
    return [
        Problem(
            code="shares_do_not_fit",
            field="strategy.shares",
            message=message,
            hint=f"Give {replica_count} numbers that sum to {batch}.",
            fix=Fix(
                label=f"Use {' + '.join(map(str, better))}",
                changes=(_set_shares(list(better)),),
            ),
        )
    ]


def _set_shares(value: object) -> Change:
    return Change(path=("strategy", "shares"), value=value)


def _unused(profile: Profile) -> Problem:
    why = {
        StrategyKind.ONE_DEVICE: "on one device, which takes the whole batch",
        StrategyKind.PARAMETER_SERVER: "with parameter servers, whose workers take whole batches "
        "by turns",
        StrategyKind.MODEL_PARALLEL: "where layers are placed on devices: each batch passes all "
        "of them",
    }
    return Problem(
        code="shares_unused",
        severity=Severity.HINT,
        field="strategy.shares",
        message=f"Shares mean nothing {why[profile.strategy.kind]}.",
        hint='Set them to "equal".',
        fix=Fix(label="Set to equal", changes=(_set_shares("equal"),)),
    )


def _batch_too_small(profile: Profile, replica_count: int) -> Problem:
    batch = planned_batch_size(profile)
    then = f"{replica_count - batch} of them will only wait"
    if profile.strategy.kind is StrategyKind.MULTI_WORKER:
        # ``divide_batch`` of ``trainer/loop/order.py``.
        then = (
            "a worker cannot leave a step out, so every worker computes the whole batch, and "
            "nothing is gained"
        )
    path = ("training", "global_batch_size")
    if profile.task != "train":
        path = ("inference", "batch_size")
    return Problem(
        code="batch_smaller_than_replicas",
        severity=Severity.WARNING,
        field=".".join(path),
        message=f"A global batch of {batch} gives {replica_count} replicas too little: {then}.",
        hint=f"Use a global batch of at least {replica_count}, or fewer replicas.",
        fix=Fix(
            label=f"Use a batch of {replica_count}",
            changes=(Change(path=path, value=replica_count), _set_shares("equal")),
        ),
    )


def _idle_replicas(profile: Profile, shares: tuple[int, ...]) -> list[Problem]:
    idle = [str(index) for index, share in enumerate(shares) if share == 0]
    if not idle:
        return []
    then, hint = " and will only wait", "Give it examples, or switch its device off."
    if profile.strategy.kind is StrategyKind.MULTI_WORKER:
        then = ": a worker cannot leave a step out, so it still takes at least one example of each"
        hint = "Give it examples, or use fewer workers."
    return [
        Problem(
            code="replica_without_share",
            severity=Severity.WARNING,
            field="strategy.shares",
            message=f"Replica {', '.join(idle)} has a share of 0{then}.",
            hint=hint,
        )
    ]
