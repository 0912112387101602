"""How long a step takes, roughly: to compare ways of the same training with each other.

By round numbers of a graphics card on PCI Express and of a processor, and by how much slower a
device was measured than another; what is compared is divided by the same of the training as it is,
so that only their relations matter.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.step_memory import StepMemory
from gpupanel.domain.strategy import StrategyKind
from gpupanel.planning.context import PlanningContext
from gpupanel.planning.half_precision import TENSOR_CORES_FROM
from gpupanel.planning.plan_memory import plan_memory
from gpupanel.planning.stage_memory import bytes_of_a_number

_HALF: Final = 0.6
"""Of the time with floats of 32 bits that a GPU with tensor cores needs with 16."""
_HALF_WITHOUT: Final = 1.3
"""The same of what computes with 32 bits and converts."""
_LINK: Final = 8e9
"""Bytes a second between two devices, or a device and the host."""


@dataclass(frozen=True, slots=True)
class _Speed:
    """Of one device.

    Attributes:
        operations: Multiplications and additions a second, of what a step really gets.
        memory: Bytes a second.
        launch_s: What each operation takes, however few its numbers are.
    """

    operations: float
    memory: float
    launch_s: float


_GPU: Final = _Speed(operations=5e12, memory=3e11, launch_s=6e-6)
_CPU: Final = _Speed(operations=5e10, memory=1e10, launch_s=5e-6)


def step_seconds(context: PlanningContext) -> float | None:
    """Seconds of one step of the profile; ``None`` where it is not known what a step computes."""
    memory, plan = plan_memory(context), context.plan
    if memory is None or plan is None or not memory.steps[0].operations:
        return None
    if plan.places:
        return _placed_seconds(context, plan, memory.steps)
    step = memory.steps[0]
    # All replicas wait for the slowest.
    slowest = max(_replica_seconds(context, plan, step), default=0.0)
    return slowest + _update_seconds(context, plan, step)


def _replica_seconds(
    context: PlanningContext, plan: LaunchPlan, step: StepMemory
) -> Iterator[float]:
    for replica in plan.replicas:
        if replica.share:
            speed, parts = _speed_of(replica.device_key), plan.accumulation_steps
            reached = context.relative_speed(replica.device_key)
            examples = replica.share * step.operations / speed.operations
            slowed = _half_factor(context, replica.device_key)
            of_weights = parts * _weights_seconds(step, parts, speed)
            computed = (examples * slowed + of_weights) / reached
            yield computed + parts * step.launches * speed.launch_s


def _weights_seconds(step: StepMemory, parts: int, speed: _Speed) -> float:
    """What a part of the batch takes however few its examples are.

    Its forward and backward pass read all weights and write all gradients; where there are several
    parts these are read again and added to a sum, which is read and written. Of dense layers that
    is most of the time of a small part.
    """
    return (6 if parts > 1 else 3) * step.trainable_bytes / speed.memory


def _update_seconds(context: PlanningContext, plan: LaunchPlan, step: StepMemory) -> float:
    """The sum over replicas, and what the optimizer reads and writes."""
    numbers = 3 + context.profile.training.numbers_beside_weights
    count = sum(each.share > 0 for each in plan.replicas)
    if plan.strategy in (StrategyKind.CENTRAL_STORAGE, StrategyKind.PARAMETER_SERVER):
        # Weights go to each device, gradients back, over the host's memory; it updates them.
        moved = count * (step.weight_bytes + step.trainable_bytes) / _LINK
        return moved + numbers * step.trainable_bytes / _CPU.memory
    part = max(plan.optimizer_parts)
    updated = part * numbers * step.trainable_bytes / _speed_of(plan.replicas[0].device_key).memory
    # Where each device updates a part of the weights, it hands that to the others.
    sums = 2 if plan.optimizer_quotas is None else 3
    return updated + (sums * step.trainable_bytes / _LINK if count > 1 else 0.0)


def _placed_seconds(
    context: PlanningContext, plan: LaunchPlan, steps: tuple[StepMemory, ...]
) -> float:
    """Of layers on several devices, all replicas of which wait for the slowest."""
    count = plan.stage_count
    slowest = max(
        _layered_seconds(context, plan, number, steps[number * count : (number + 1) * count])
        for number in range(len(plan.replicas))
    )
    several = sum(share > 0 for share in plan.shares) > 1
    # Each pair of devices sums the gradients of its own layers.
    summed = 2 * max(step.trainable_bytes for step in steps) / _LINK
    return slowest + (summed if several else 0.0)


def _layered_seconds(
    context: PlanningContext, plan: LaunchPlan, number: int, steps: tuple[StepMemory, ...]
) -> float:
    """Of one replica: a stage after the other, or each with another micro-batch."""
    parts, training = plan.accumulation_steps, context.profile.training
    examples = plan.shares[number] / parts
    number_bytes = bytes_of_a_number(mixed_precision=training.mixed_precision)
    stages, update = [], 0.0
    for place, step in zip(plan.places_of(number), steps, strict=True):
        speed, reached = _speed_of(place.device_key), context.relative_speed(place.device_key)
        computed = examples * step.operations / speed.operations
        given = step.layers[-1].outputs * number_bytes * examples if step.layers else 0.0
        slowed = computed * _half_factor(context, place.device_key)
        of_weights = _weights_seconds(step, parts, speed)
        seconds = (slowed + of_weights) / reached + 2 * given / _LINK
        stages.append(seconds + step.launches * speed.launch_s)
        numbers = 3 + training.numbers_beside_weights
        update = max(update, numbers * step.trainable_bytes / speed.memory)
    if context.profile.strategy.pipeline:
        return sum(stages) + (parts - 1) * max(stages) + update
    return parts * sum(stages) + update


def _speed_of(key: str) -> _Speed:
    return _CPU if key == CPU_KEY else _GPU


def _half_factor(context: PlanningContext, key: str) -> float:
    """What computing with floats of 16 bits makes of the time of a device."""
    if not context.profile.training.mixed_precision:
        return 1.0
    device = context.inventory.device(key)
    capability = None if device is None else device.compute_capability
    has_cores = capability is not None and capability >= TENSOR_CORES_FROM
    return _HALF if has_cores else _HALF_WITHOUT
