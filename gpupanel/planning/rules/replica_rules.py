"""What replicas of several devices need, as problems with stable codes."""

from collections.abc import Iterator

from gpupanel.domain.problem import Change, Fix, Problem
from gpupanel.domain.strategy import StrategyKind
from gpupanel.planning.context import PlanningContext


def devices_left_over(context: PlanningContext) -> Iterator[Problem]:
    """Devices that cannot be divided into replicas of so many."""
    strategy, count = context.profile.strategy, context.logical_device_count
    each = strategy.devices_per_replica
    if strategy.kind is not StrategyKind.MODEL_PARALLEL or each in (None, 1) or not count:
        return
    if each > count or count % each:
        divisors = [number for number in range(2, count) if count % number == 0]
        near = min(divisors, key=lambda number: abs(number - each), default=None)
        wanted = "all devices in one replica" if near is None else f"{near} devices per replica"
        yield Problem(
            code="devices_left_over",
            field="strategy.devices_per_replica",
            message=f"{count} logical device{'s' if count > 1 else ''} cannot be divided into "
            f"replicas of {each}.",
            hint="Choose a number that divides them, or switch devices on or off.",
            fix=Fix(label=f"Use {wanted}", changes=(_devices(near),)),
        )


def replica_of_one_device(context: PlanningContext) -> Iterator[Problem]:
    """Layers that are to be divided over one device."""
    strategy = context.profile.strategy
    if strategy.kind is StrategyKind.MODEL_PARALLEL and strategy.devices_per_replica == 1:
        mirrored = Change(path=("strategy", "kind"), value=StrategyKind.MIRRORED.value)
        unplaced = Change(path=("strategy", "placement"), value=None)
        yield Problem(
            code="replica_of_one_device",
            field="strategy.devices_per_replica",
            message="A replica with one device has all layers on it: nothing is divided.",
            hint="Use mirrored, or more devices for each replica.",
            fix=Fix(label="Use mirrored", changes=(mirrored, unplaced, _devices(None))),
            alternatives=(Fix(label="Use one replica", changes=(_devices(None),)),),
        )


def replica_not_divided(context: PlanningContext) -> Iterator[Problem]:
    """Replicas of several devices with a strategy that keeps each model whole."""
    strategy = context.profile.strategy
    each = strategy.devices_per_replica
    if strategy.kind is StrategyKind.MODEL_PARALLEL or each in (None, 1):
        return
    parallel = Change(path=("strategy", "kind"), value=StrategyKind.MODEL_PARALLEL.value)
    yield Problem(
        code="replica_not_divided",
        field="strategy.devices_per_replica",
        message=f"Replicas of {each} devices are wanted, and the strategy {strategy.kind} keeps "
        "the model whole on each device.",
        hint="Divide the model by layers (model_parallel), or remove devices_per_replica.",
        fix=Fix(label="Divide it by layers", changes=(parallel,)),
        alternatives=(Fix(label="Use one device for each", changes=(_devices(None),)),),
    )


def _devices(value: int | None) -> Change:
    return Change(path=("strategy", "devices_per_replica"), value=value)
