"""What a training takes of each device's memory, and the largest batch that fits."""

from collections.abc import Callable
from functools import partial

from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.device_memory import DeviceMemory
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.strategy import StrategyKind
from gpupanel.planning.context import PlanningContext
from gpupanel.planning.data_on_gpu import data_on_gpu_bytes
from gpupanel.planning.memory_room import free_mib, rest_mib
from gpupanel.planning.plan_memory import limits_of, overhead_mib, plan_memory

_BYTES_PER_MIB = 2**20
_MOST_REPLICAS = 128
"""Of more no batch and no shares are looked for: each change of a session would take long."""
MOST_EXAMPLES = 2**20
"""The largest global batch that is offered."""


def memory_estimate(context: PlanningContext) -> tuple[DeviceMemory, ...]:
    """What the plan takes of each memory; empty where that is not known.

    Layers that are placed on several devices are estimated where each of them is known.
    """
    estimator = plan_memory(context)
    return () if estimator is None else estimator.memories(estimator.shares)


def largest_batch(context: PlanningContext) -> int | None:
    """The largest global batch that fits, divided as the plan divides it; ``None``: not known.

    0 where not even one example fits; the number of all examples, where these fit.
    """
    estimator = plan_memory(context)
    if estimator is None or not estimator.knows_room:
        return None
    if len(estimator.shares) > _MOST_REPLICAS:
        return None
    most = MOST_EXAMPLES
    if context.known.preview is not None and context.known.preview.trained_count:
        most = min(most, context.known.preview.trained_count)
    return greatest(most, estimator.fits_with_batch)


def fitting_shares(context: PlanningContext) -> tuple[int, ...] | None:
    """Shares of the same batch that fit, as near to the plan's as can be; ``None``: there are none.

    What a device has no room for goes to those that have, in proportion to their room.
    """
    estimator = plan_memory(context)
    if estimator is None or not 1 < len(estimator.plan.replicas) <= _MOST_REPLICAS:
        return None
    plan = estimator.plan
    if plan.places or plan.strategy is StrategyKind.PARAMETER_SERVER:
        return None
    most = [
        greatest(plan.global_batch_size, partial(estimator.fits_alone, place))
        for place in range(len(plan.replicas))
    ]
    shares = [min(pair) for pair in zip(plan.shares, most, strict=True)]
    room = [limit - share for limit, share in zip(most, shares, strict=True)]
    missing = plan.global_batch_size - sum(shares)
    if not 0 < missing <= sum(room):
        return None
    more = [missing * each // sum(room) for each in room]
    rest = missing - sum(more)
    for place in sorted(range(len(room)), key=lambda place: more[place] - room[place]):
        given = min(rest, room[place] - more[place])
        more[place] += given
        rest -= given
    shares = [share + each for share, each in zip(shares, more, strict=True)]
    return tuple(shares) if estimator.fits(shares) else None


def replica_memory(context: PlanningContext, share: int) -> DeviceMemory | None:
    """What the first replica takes with so many examples of a step; ``None``: not known."""
    estimator = plan_memory(context)
    if estimator is None:
        return None
    others = len(estimator.plan.replicas) - 1
    return estimator.memories((share, *[0] * others))[-1]


def room_of_places(context: PlanningContext, plan: LaunchPlan) -> tuple[int | None, ...]:
    """What TensorFlow may take, in MiB, where layers are placed; ``None``: not known of one."""
    limits, rooms = limits_of(plan), list[int | None]()
    for place in plan.places:
        limit, free = limits.get((0, place.logical_device)), free_mib(context, place.device_key)
        if limit is None and free is not None:
            limit = max(0, free - overhead_mib(context, plan, place.device_key))
        elif limit is not None and (rest := rest_mib(context, place.device_key)) is not None:
            limit = min(limit, rest)
        rooms.append(limit)
    return tuple(rooms)


def data_on_gpu_mib(context: PlanningContext, number: int) -> int:
    """What all sets take, in MiB, of the GPU of that replica; 0: they are not copied to it."""
    estimator = plan_memory(context)
    keeps = estimator is not None and estimator.keeps_data(number)
    return -(-data_on_gpu_bytes(context) // _BYTES_PER_MIB) if keeps else 0


def with_data_placed(context: PlanningContext) -> LaunchPlan | None:
    """The plan, which says of each replica whether its examples stay on the host."""
    plan, estimator = context.plan, plan_memory(context)
    if plan is None or estimator is None or not data_on_gpu_bytes(context):
        return plan
    replicas = tuple(
        each.model_copy(update={"data_on_host": not estimator.keeps_data(number)})
        if each.device_key != CPU_KEY
        else each
        for number, each in enumerate(plan.replicas)
    )
    return plan.model_copy(update={"replicas": replicas})


def greatest(most: int, fits: Callable[[int], bool]) -> int:
    """The greatest number up to that which fits, where all smaller ones do; 0: none."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
