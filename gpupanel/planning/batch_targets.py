"""On which devices batches are tried for a profile, with how much memory, and where to begin."""

from dataclasses import dataclass

from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.memory import Allocator, LimitedMemory
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.strategy import StrategySettings
from gpupanel.planning.context import Known, PlanningContext, planning_context
from gpupanel.planning.memory_estimate import (
    MOST_EXAMPLES,
    data_on_gpu_mib,
    greatest,
    replica_memory,
)
from gpupanel.planning.memory_room import free_mib, rest_mib, room_mib
from gpupanel.planning.plan_memory import limits_of, overhead_mib

_BYTES_PER_MIB = 2**20
_LEAST_MARGIN_MIB = 512
"""MiB of free memory that are left to the desktop and other programs."""
_MARGIN = 0.1
"""The fraction of free memory that is left to others, if that is more."""
LEAST_ROOM_MIB = 64
"""The least free memory with which batches are tried."""


@dataclass(frozen=True, slots=True)
class BatchTarget:
    """One memory that batches are tried in, on behalf of all replicas that have such.

    Attributes:
        device: The key of the physical device.
        logical_device: TensorFlow's name of the logical device; empty: all of the physical one.
        replicas: Their places in the plan.
        room_mib: What one of them may take while it is tried; below
            :data:`LEAST_ROOM_MIB` nothing is.
        floor_mib: When less of the device is free, somebody else needs it: trying ends.
        context: The profile with one replica alone on that device.
        plan: The plan of that one replica, which takes no more of the memory than the room.
        first: How many examples are estimated to fit; the plan's share where that is not known.
    """

    device: str
    logical_device: str
    replicas: tuple[int, ...]
    room_mib: int
    floor_mib: int
    context: PlanningContext
    plan: LaunchPlan
    first: int

    @property
    def memory_limit_bytes(self) -> int | None:
        """What its process may take of the host's memory; ``None``: the plan limits a GPU's."""
        return self.room_mib * _BYTES_PER_MIB if self.device == CPU_KEY else None


def batch_targets(context: PlanningContext) -> tuple[BatchTarget, ...]:
    """Each memory of the plan once; empty where there is no plan, or layers are placed apart."""
    plan = context.plan
    if plan is None or plan.places or not context.trains:
        return ()
    limits = limits_of(plan)
    groups: dict[tuple[str, int | None], list[int]] = {}
    for number, each in enumerate(plan.replicas):
        limit = limits.get((each.process, each.logical_device))
        groups.setdefault((each.device_key, limit), []).append(number)
    there = [each.device_key for each in plan.replicas]
    targets = []
    for (key, limit), replicas in groups.items():
        free = free_mib(context, key) or 0
        margin = max(_LEAST_MARGIN_MIB, round(_MARGIN * free))
        if key == CPU_KEY:
            room = free - overhead_mib(context, plan, key) - margin
        else:
            room = (rest_mib(context, key) or 0) - margin
            if limit is None:
                # What TensorFlow leaves to others is as good for them as a margin.
                room = min(room, room_mib(context, key) or 0)
        room //= there.count(key)
        room = room if limit is None else min(room, limit)
        room = max(0, room - data_on_gpu_mib(context, replicas[0]))
        logical = "" if limit is None else plan.replicas[replicas[0]].logical_device
        alone = _alone(context, key, max(1, room))
        assert alone.plan is not None  # one replica takes whatever a batch holds
        first = _first(alone, room, plan.shares[replicas[0]])
        targets.append(
            BatchTarget(key, logical, tuple(replicas), room, margin // 2, alone, alone.plan, first)
        )
    return tuple(targets)


def _alone(context: PlanningContext, key: str, most_mib: int) -> PlanningContext:
    """One replica on that device, with no more of its memory than there is room.

    Growing up to the room leaves to others what it does not need; CUDA's own allocator would keep
    to no limit.
    """
    profile = context.profile
    devices = profile.devices.model_copy(
        update={"visible": (key,), "cpu_replicas": 1, "allocator": Allocator.BFC}
    )
    limited = {} if key == CPU_KEY else {key: LimitedMemory(limit_mib=most_mib, growth=True)}
    changes = {"devices": devices, "strategy": StrategySettings(), "memory": limited}
    # What was measured before must not hide what the estimate itself comes to.
    step = context.step
    plain = None if step is None else step.model_copy(update={"measured": ()})
    alone = profile.model_copy(update=changes)
    preview = context.known.preview
    if preview is not None:
        # What data takes of the device is not of the room any more.
        none = dict.fromkeys(("training_count", "held_out_count", "test_example_count"), 0)
        preview = preview.model_copy(update=none)
    known = Known(context.known.sample, preview, step=plain)
    return planning_context(alone, context.inventory, known)


def _first(alone: PlanningContext, most_mib: int, share: int) -> int:
    def fits(examples: int) -> bool:
        memory = replica_memory(alone, examples)
        return memory is None or memory.counted_mib <= most_mib

    if alone.step is None:
        return max(1, share)
    return max(1, greatest(MOST_EXAMPLES, fits))
