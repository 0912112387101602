"""What a strategy needs of devices and batch, as problems with stable codes."""

from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import AllReduce, StrategyKind
from gpupanel.planning.shares import equal_shares, proportional_shares

TRAINABLE_KINDS = (StrategyKind.ONE_DEVICE, StrategyKind.MIRRORED)
"""The strategies that this version trains with."""


def strategy_problems(profile: Profile, logical_count: int, *, on_gpus: bool) -> list[Problem]:
    """Every problem of the strategy on so many logical devices."""
    if profile.strategy.kind not in TRAINABLE_KINDS:
        return [_kind_not_available(profile)]
    if profile.strategy.kind is StrategyKind.ONE_DEVICE:
        return _devices_unused(profile, logical_count)
    return [
        *_single_replica(logical_count),
        *_share_problems(profile, logical_count),
        *_nccl_without_gpus(profile, on_gpus=on_gpus),
    ]


def shares_of(profile: Profile, replica_count: int) -> tuple[int, ...] | None:
    """The share of each replica; ``None`` while those of the profile do not fit."""
    batch, shares = profile.training.global_batch_size, profile.strategy.shares
    if profile.strategy.kind is StrategyKind.ONE_DEVICE:
        return (batch,)
    if shares == "equal":
        return equal_shares(batch, replica_count)
    if isinstance(shares, str) or len(shares) != replica_count or sum(shares) != batch:
        return None
    return shares


def _set_strategy(key: str, value: object) -> Change:
    return Change(path=("strategy", key), value=value)


def _kind_not_available(profile: Profile) -> Problem:
    return Problem(
        code="strategy_not_available",
        field="strategy.kind",
        message=f"This version cannot train with the strategy {profile.strategy.kind}.",
        hint="Use mirrored for several devices, one_device for one.",
        fix=Fix(
            label="Use mirrored",
            changes=(_set_strategy("kind", StrategyKind.MIRRORED.value),),
        ),
    )


def _devices_unused(profile: Profile, logical_count: int) -> list[Problem]:
    shares = profile.strategy.shares
    problems = []
    if logical_count > 1:
        problems.append(
            Problem(
                code="devices_unused",
                severity=Severity.WARNING,
                field="strategy.kind",
                message=f"One device trains; {logical_count - 1} of the {logical_count} chosen "
                "logical devices will idle.",
                hint="Train on all of them with the mirrored strategy, or switch the others off.",
                fix=Fix(
                    label="Use mirrored",
                    changes=(_set_strategy("kind", StrategyKind.MIRRORED.value),),
                ),
            )
        )
    if not isinstance(shares, str):
        problems.append(
            Problem(
                code="shares_unused",
                severity=Severity.HINT,
                field="strategy.shares",
                message="Shares mean nothing on one device: it takes the whole batch.",
                hint='Set them to "equal".',
                fix=Fix(label="Set to equal", changes=(_set_strategy("shares", "equal"),)),
            )
        )
    return problems


def _single_replica(logical_count: int) -> list[Problem]:
    if logical_count != 1:
        return []
    return [
        Problem(
            code="single_replica",
            severity=Severity.HINT,
            field="strategy.kind",
            message="The mirrored strategy has one replica only: the same as one device.",
            hint="Switch more devices on, or use one_device.",
        )
    ]


def _share_problems(profile: Profile, replica_count: int) -> list[Problem]:
    batch, shares = profile.training.global_batch_size, profile.strategy.shares
    if shares == "balanced":
        return [_balanced_not_available()]
    if isinstance(shares, str):
        return [_batch_too_small(batch, replica_count)] if batch < replica_count else []
    if len(shares) != replica_count:
        message = f"{len(shares)} shares are given for {replica_count} replicas."
        better = equal_shares(batch, replica_count)
    elif sum(shares) != batch:
        message = f"The shares sum to {sum(shares)}, the global batch size is {batch}."
        better = proportional_shares(batch, shares)
    else:
        return _idle_replicas(shares)
    return [
        Problem(
            code="shares_do_not_fit",
            field="strategy.shares",
            message=message,
            hint=f"Give {replica_count} numbers that sum to {batch}.",
            fix=Fix(
                label=f"Use {' + '.join(map(str, better))}",
                changes=(_set_strategy("shares", list(better)),),
            ),
        )
    ]


def _balanced_not_available() -> Problem:
    return Problem(
        code="shares_not_available",
        field="strategy.shares",
        message="This version does not measure balanced shares.",
        hint="Use equal shares, or give each replica its number of examples.",
        fix=Fix(label="Use equal shares", changes=(_set_strategy("shares", "equal"),)),
    )


def _batch_too_small(batch: int, replica_count: int) -> Problem:
    return Problem(
        code="batch_smaller_than_replicas",
        field="training.global_batch_size",
        message=f"A global batch of {batch} cannot be divided among {replica_count} replicas: "
        "some would have nothing to do.",
        hint=f"Use a global batch of at least {replica_count}, or fewer replicas.",
        fix=Fix(
            label=f"Use a batch of {replica_count}",
            changes=(
                Change(path=("training", "global_batch_size"), value=replica_count),
                _set_strategy("shares", "equal"),
            ),
        ),
    )


def _idle_replicas(shares: tuple[int, ...]) -> list[Problem]:
    idle = [str(index) for index, share in enumerate(shares) if share == 0]
    if not idle:
        return []
    return [
        Problem(
            code="replica_without_share",
            severity=Severity.WARNING,
            field="strategy.shares",
            message=f"Replica {', '.join(idle)} has a share of 0 and will only wait.",
            hint="Give it examples, or switch its device off.",
        )
    ]


def _nccl_without_gpus(profile: Profile, *, on_gpus: bool) -> list[Problem]:
    if on_gpus or profile.strategy.all_reduce is not AllReduce.NCCL:
        return []
    return [
        Problem(
            code="nccl_without_gpus",
            field="strategy.all_reduce",
            message="NCCL sums over NVIDIA GPUs only, and this run uses the CPU.",
            hint="Let the strategy choose.",
            fix=Fix(
                label="Choose automatically",
                changes=(_set_strategy("all_reduce", AllReduce.AUTO.value),),
            ),
        )
    ]
