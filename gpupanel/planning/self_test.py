"""What to test of the devices of a profile, in which order, and with how much memory."""

import hashlib
import json
from itertools import combinations
from typing import Final

from gpupanel.domain.device import CPU_KEY, DeviceKind
from gpupanel.domain.memory import (
    Allocator,
    LimitedMemory,
    MemoryPolicy,
    SplitMemory,
)
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.domain.self_test import (
    SelfTestCase,
    SelfTestKind,
    SelfTestPlace,
    SelfTestRequest,
)
from gpupanel.domain.strategy import AllReduce, StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.all_reduce import hierarchical_copy_is_right
from gpupanel.planning.context import Known, PlanningContext, planning_context
from gpupanel.planning.memory_room import free_mib, rest_mib

LEAST_ROOM_MIB: Final = 512
"""With less of a GPU nothing is tested on it."""
_LEAST_MARGIN_MIB: Final = 512
"""Of memory that is free now, what is never taken: a desktop, or another program, may want it."""
_MARGIN: Final = 0.1
"""And this part of it, where that is more."""
_OTHERS: Final = 0.75
"""Of the room, what memory is tested in; the rest is for the other cases of the process."""
_LEAST_OTHERS_MIB: Final = 240
"""But so much is for them, and for what is compared: TensorFlow waits ten seconds for memory that
is not there, and the case may not take longer."""
_CPU_MIB: Final = 64
"""Of the host's memory, which programs of all kinds test all the time."""
_MOST_CPU_STEPS: Final = 4
"""Logical CPU devices: all of them are the same processor."""
_MOST_CPU_PAIRS: Final = 6
"""Pairs of logical CPU devices: all of them are the same memory."""
_SECONDS: Final = {
    SelfTestKind.ALL_REDUCE: 12.0,
    SelfTestKind.STEP: 30.0,
    SelfTestKind.MEMORY: 12.0,
    SelfTestKind.TRANSFER: 8.0,
    SelfTestKind.PAIR_TRANSFER: 8.0,
}
"""After so long a case is taken to hang. What works is done in a tenth of it: 5 MiB are summed, 64
MiB copied; a step may have to be compiled."""


def self_test_request(context: PlanningContext) -> SelfTestRequest | None:
    """All cases of the devices that a profile's run would use; ``None``: it cannot be planned.

    The devices are those of the run, in one process, with no more of their memory than is free
    less a margin, and no more than their limits.
    """
    if context.plan is None:
        return None
    keys = tuple(dict.fromkeys(_used_keys(context.plan)))
    several = context.profile.strategy.kind is not StrategyKind.ONE_DEVICE
    alone = _in_one_process(context, keys, several=several)
    if alone is None or alone.plan is None:
        return None
    return SelfTestRequest(
        profile=context.profile, plan=alone.plan, cases=_cases(context, alone.plan)
    )


def devices_without_room(context: PlanningContext) -> tuple[str, ...]:
    """The names of the run's GPUs that have too little free memory to be tested in."""
    used = set() if context.plan is None else set(_used_keys(context.plan))
    gpus = (gpu for gpu in context.gpus if gpu.key in used)
    return tuple(gpu.name for gpu in gpus if _room_mib(context, gpu.key) < LEAST_ROOM_MIB)


def self_test_settings(profile: Profile) -> Profile:
    """The profile with only those settings that a self-test depends on."""
    training = {
        "mixed_precision": profile.training.mixed_precision,
        "jit_compile": profile.training.jit_compile,
    }
    strategy = {
        "kind": profile.strategy.kind,
        "all_reduce": profile.strategy.all_reduce,
        "peer_to_peer": profile.strategy.peer_to_peer,
        "workers": profile.strategy.workers,
    }
    return Profile(
        devices=profile.devices,
        memory=profile.memory,
        data=profile.data,
        model=profile.model,
        training=TrainingSettings.model_validate(training),
        strategy=StrategySettings.model_validate(strategy),
    )


def step_basis(profile: Profile) -> str:
    """A digest of what a step depends on."""
    depends_on = {
        "model": profile.model.model_dump(mode="json"),
        "data": profile.data.model_dump(mode="json"),
        "mixed_precision": profile.training.mixed_precision,
        "jit_compile": profile.training.jit_compile,
    }
    return hashlib.sha256(json.dumps(depends_on, sort_keys=True).encode()).hexdigest()


def _used_keys(plan: LaunchPlan) -> list[str]:
    if plan.places:
        return [place.device_key for place in plan.places]
    return [replica.device_key for replica in plan.replicas]


def _room_mib(context: PlanningContext, key: str) -> int:
    """What may be taken of a GPU: what is free, less a margin, and no more than its limit."""
    free = free_mib(context, key) or 0
    room = (rest_mib(context, key) or 0) - max(_LEAST_MARGIN_MIB, round(_MARGIN * free))
    policy = context.profile.memory_policy(key)
    return min(room, policy.limit_mib) if isinstance(policy, LimitedMemory) else room


def _policy(context: PlanningContext, key: str) -> MemoryPolicy:
    policy, room = context.profile.memory_policy(key), _room_mib(context, key)
    if isinstance(policy, SplitMemory):
        wanted = sum(policy.split_mib)
        parts = policy.split_mib
        if wanted > room:
            parts = tuple(max(1, each * room // wanted) for each in parts)
        return SplitMemory(split_mib=parts, growth=True)
    return LimitedMemory(limit_mib=room, growth=True)


def _in_one_process(
    context: PlanningContext, keys: tuple[str, ...], *, several: bool
) -> PlanningContext | None:
    """The same devices under a strategy of one process."""
    profile = context.profile
    gpus = tuple(key for key in keys if key != CPU_KEY)
    if any(_room_mib(context, key) < LEAST_ROOM_MIB for key in gpus):
        return None
    replicas = profile.devices.cpu_replicas
    if context.plan is not None and context.plan.processes and not gpus:
        replicas = max(2, len(context.plan.replicas))
    # CUDA's own allocator would keep to no limit.
    devices = profile.devices.model_copy(
        update={"visible": keys, "cpu_replicas": replicas, "allocator": Allocator.BFC}
    )
    strategy = StrategySettings(
        kind=StrategyKind.MIRRORED if several else StrategyKind.ONE_DEVICE,
        peer_to_peer=profile.strategy.peer_to_peer,
    )
    batch = {"global_batch_size": 1_024, "accumulation_steps": 1}
    changes = {
        "task": "train",
        "devices": devices,
        "memory": {key: _policy(context, key) for key in gpus},
        "strategy": strategy,
        "training": profile.training.model_copy(update=batch),
    }
    alone = profile.model_copy(update=changes)
    known = Known(context.known.sample, support=context.known.support)
    return planning_context(alone, context.inventory, known)


def _cases(context: PlanningContext, plan: LaunchPlan) -> tuple[SelfTestCase, ...]:
    """What matters most comes first: there is a minute for all of it."""
    places = _places(plan)
    whole = tuple(place for place in places if not place.part or place.device_key == CPU_KEY)
    physical = tuple(place for place in places if not place.part)
    peers = context.profile.strategy.peer_to_peer
    cases: list[SelfTestCase] = []

    def add(kind: SelfTestKind, where: tuple[SelfTestPlace, ...], **more: object) -> None:
        given = {"kind": kind, "places": where, "seconds": _SECONDS[kind], **more}
        cases.append(SelfTestCase.model_validate(given))

    def add_sums(where: tuple[SelfTestPlace, ...]) -> None:
        for way in _ways(context, plan, len(where)):
            by_nccl = plan_uses_nccl(plan) and way in (AllReduce.AUTO, AllReduce.NCCL)
            more = {"all_reduce": way, "peer_to_peer": peers or not by_nccl}
            add(SelfTestKind.ALL_REDUCE, where, **more)

    if len(places) > 1:
        add_sums(places)
    basis = step_basis(context.profile)
    for place in whole[: max(len(physical), _MOST_CPU_STEPS)]:
        add(SelfTestKind.STEP, (place,), basis=basis)
    for place in physical:
        add(SelfTestKind.MEMORY, (place,), amount_mib=_memory_mib(plan, place))
    for place in physical:
        add(SelfTestKind.TRANSFER, (place,))
    pairs = tuple(combinations(places, 2))
    if all(place.device_key == CPU_KEY for place in places):
        pairs = pairs[:_MOST_CPU_PAIRS]
    for pair in pairs:
        if pair != places:
            add_sums(pair)
    for pair in pairs:
        add(SelfTestKind.PAIR_TRANSFER, pair)
    return tuple(cases)


def _places(plan: LaunchPlan) -> tuple[SelfTestPlace, ...]:
    parts: dict[str, int] = {}
    places = []
    for replica in plan.replicas:
        key = replica.device_key
        part = parts[key] = parts.get(key, -1) + 1
        place = SelfTestPlace(device_key=key, part=part, logical_device=replica.logical_device)
        places.append(place)
    return tuple(places)


def plan_uses_nccl(plan: LaunchPlan) -> bool:
    """Whether each replica of a plan has a GPU of its own, which NCCL wants."""
    kinds = {device.key: device.kind for device in plan.devices}
    owners = [replica.device_key for replica in plan.replicas]
    on_gpus = all(kinds[owner] is DeviceKind.GPU for owner in owners)
    return on_gpus and len(set(owners)) == len(owners)


def _ways(context: PlanningContext, plan: LaunchPlan, place_count: int) -> tuple[AllReduce, ...]:
    """How can be summed over so many, what the run would use first."""
    ways = [AllReduce.AUTO]
    if plan_uses_nccl(plan):
        # Chosen automatically it is NCCL, too.
        support = context.known.support
        is_known_to_lack = support is not None and support.without_nccl is not None
        ways = [] if is_known_to_lack else [AllReduce.AUTO, AllReduce.NCCL]
    if hierarchical_copy_is_right(place_count):
        ways.append(AllReduce.HIERARCHICAL_COPY)
    ways.append(AllReduce.REDUCTION_TO_ONE_DEVICE)
    chosen = AllReduce.AUTO if context.plan is None else context.plan.all_reduce
    return tuple(sorted(ways, key=lambda way: way is not chosen))


def _memory_mib(plan: LaunchPlan, place: SelfTestPlace) -> int:
    if place.device_key == CPU_KEY:
        return _CPU_MIB
    # Each GPU that is tested has a limit, see _policy.
    device = next(each for each in plan.devices if each.key == place.device_key)
    limit = device.logical_limits_mib[place.part] or 0
    return max(0, min(round(_OTHERS * limit), limit - _LEAST_OTHERS_MIB))
