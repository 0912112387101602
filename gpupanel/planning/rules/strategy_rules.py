"""What a strategy needs of devices, as problems with stable codes."""

from collections.abc import Iterator

from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.setting import settings_of
from gpupanel.domain.strategy import GANG_KINDS, StrategyKind, StrategySettings
from gpupanel.planning.context import PlanningContext

_CPU_REPLICAS = 2
_TOLD_ELSEWHERE = ("shares", "all_reduce", "devices_per_replica")
"""By ``share_rules``, ``all_reduce_rules`` and ``replica_rules``."""


def keys_unused(context: PlanningContext) -> Iterator[Problem]:
    """Keys of other strategies: nothing breaks, but they do nothing."""
    strategy = context.profile.strategy
    if context.layout is None:
        return
    for each in settings_of(StrategySettings):
        is_left_out = getattr(strategy, each.name) == each.default
        if not is_left_out and each.name not in _TOLD_ELSEWHERE and not each.applies_in(strategy):
            yield Problem(
                code="strategy_key_unused",
                severity=Severity.HINT,
                field=f"strategy.{each.name}",
                message=f"strategy.{each.name} has no effect with the strategy {strategy.kind}.",
                hint="Remove it, or choose a strategy that uses it.",
                fix=Fix(label="Remove it", changes=(_set_strategy(each.name, None),)),
            )


def devices_unused(context: PlanningContext) -> Iterator[Problem]:
    """More devices than the strategy ``one_device`` uses."""
    count = context.logical_device_count
    if context.profile.strategy.kind is StrategyKind.ONE_DEVICE and count > 1:
        yield Problem(
            code="devices_unused",
            severity=Severity.WARNING,
            field="strategy.kind",
            message=f"One device works; {count - 1} of the {count} chosen logical devices will "
            "idle.",
            hint="Use all of them with the mirrored strategy, or switch the others off.",
            fix=Fix(
                label="Use mirrored",
                changes=(_set_strategy("kind", StrategyKind.MIRRORED.value),),
            ),
        )


def single_logical_device(context: PlanningContext) -> Iterator[Problem]:
    """A strategy for several devices has one; layers placed by hand cannot go elsewhere then."""
    strategy = context.profile.strategy
    for_one_or_processes = (StrategyKind.ONE_DEVICE, *GANG_KINDS)
    if strategy.kind in for_one_or_processes or context.logical_device_count != 1:
        return
    parallel = strategy.kind is StrategyKind.MODEL_PARALLEL
    placement = strategy.placement
    places = 1 + max(placement.values(), default=0) if isinstance(placement, dict) else 0
    wanted = max(_CPU_REPLICAS, places)
    several = Fix.of(f"Make {wanted} logical devices of the CPU", "devices.cpu_replicas", wanted)
    one = Fix(
        label="Use one device",
        changes=(_set_strategy("kind", StrategyKind.ONE_DEVICE.value),),
    )
    yield Problem(
        code="single_replica",
        severity=Severity.HINT,
        field="strategy.kind",
        message="All layers are on the one device that there is: the same as one device."
        if parallel
        else f"The strategy {strategy.kind} has one replica only: the same as one device.",
        hint="Switch more devices on, or use one_device.",
        fix=one if context.gpus else several,
    )


def _set_strategy(key: str, value: object) -> Change:
    return Change(path=("strategy", key), value=value)
