"""What a strategy needs of devices, as problems with stable codes."""

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import GANG_KINDS, SHARING_KINDS, StrategyKind
from gpupanel.planning.layout import Layout
from gpupanel.planning.rules.share_rules import share_problems
from gpupanel.planning.workers import worker_problems

_CPU_REPLICAS = 2


def strategy_problems(
    profile: Profile, devices: tuple[PhysicalDevice, ...], layout: Layout, logical_count: int
) -> list[Problem]:
    """Every problem of the strategy.

    Args:
        profile: What the person chose.
        devices: The chosen ones.
        layout: What the strategy makes of them.
        logical_count: Logical devices of all that are chosen.
    """
    kind = profile.strategy.kind
    on_gpus = any(device.is_gpu for device in devices)
    problems = share_problems(profile, len(layout.spots))
    problems += _keys_unused(profile)
    if kind is StrategyKind.ONE_DEVICE:
        return [*problems, *_devices_unused(logical_count)]
    if kind in GANG_KINDS:
        return [*problems, *worker_problems(profile, devices)]
    if logical_count == 1:
        problems.append(_single_logical_device(profile, on_gpus=on_gpus))
    return problems


def _set_strategy(key: str, value: object) -> Change:
    return Change(path=("strategy", key), value=value)


def _devices_unused(logical_count: int) -> list[Problem]:
    if logical_count == 1:
        return []
    return [
        Problem(
            code="devices_unused",
            severity=Severity.WARNING,
            field="strategy.kind",
            message=f"One device works; {logical_count - 1} of the {logical_count} chosen "
            "logical devices will idle.",
            hint="Work on all of them with the mirrored strategy, or switch the others off.",
            fix=Fix(
                label="Use mirrored",
                changes=(_set_strategy("kind", StrategyKind.MIRRORED.value),),
            ),
        )
    ]


def _single_logical_device(profile: Profile, *, on_gpus: bool) -> Problem:
    """A strategy for several devices has one; layers placed by hand cannot go elsewhere then."""
    parallel = profile.strategy.kind is StrategyKind.MODEL_PARALLEL
    placement = profile.strategy.placement
    places = 1 + max(placement.values(), default=0) if isinstance(placement, dict) else 0
    wanted = max(_CPU_REPLICAS, places)
    several = Fix(
        label=f"Make {wanted} logical devices of the CPU",
        changes=(Change(path=("devices", "cpu_replicas"), value=wanted),),
    )
    one = Fix(
        label="Use one device",
        changes=(_set_strategy("kind", StrategyKind.ONE_DEVICE.value),),
    )
    return Problem(
        code="single_replica",
        severity=Severity.HINT,
        field="strategy.kind",
        message="All layers are on the one device that there is: the same as one device."
        if parallel
        else f"The strategy {profile.strategy.kind} has one replica only: the same as one device.",
        hint="Switch more devices on, or use one_device.",
        fix=one if on_gpus else several,
    )


def _keys_unused(profile: Profile) -> list[Problem]:
    """Keys of other strategies: nothing breaks, but they do nothing."""
    strategy = profile.strategy
    unused = [
        key
        for key, kinds in (
            ("workers", GANG_KINDS),
            ("parameter_servers", (StrategyKind.PARAMETER_SERVER,)),
            ("placement", (StrategyKind.MODEL_PARALLEL,)),
        )
        if getattr(strategy, key) is not None and strategy.kind not in kinds
    ]
    return [
        Problem(
            code="strategy_key_unused",
            severity=Severity.HINT,
            field=f"strategy.{key}",
            message=f"{key} means nothing to the strategy {strategy.kind}.",
            hint="Remove it, or choose a strategy that uses it.",
            fix=Fix(label="Remove it", changes=(_set_strategy(key, None),)),
        )
        for key in unused
    ]


def is_balanced(profile: Profile, replica_count: int) -> bool:
    """Whether shares are measured; one replica takes everything in any case."""
    shares, kind = profile.strategy.shares, profile.strategy.kind
    return shares == "balanced" and kind in SHARING_KINDS and replica_count > 1
