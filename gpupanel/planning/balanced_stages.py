"""Layers on devices: how they are placed, and how the slowest device would work least."""

from functools import cache
from itertools import accumulate

from gpupanel.domain.stages import Stage
from gpupanel.planning.context import PlanningContext
from gpupanel.planning.memory_estimate import greatest
from gpupanel.planning.plan_memory import placed_memory, planned_placement
from gpupanel.planning.stage_memory import (
    bytes_of_a_number,
    divided,
    held_at_once,
    stage_step,
)


def balanced_placement(context: PlanningContext) -> dict[str, int] | None:
    """The place of each layer: those that follow each other stay together, in the places' order.

    Returns:
        By the layer's name; ``None`` where the layers are not known, or they do not fit.
    """
    step, plan, profile = context.step, context.plan, context.profile
    if step is None or plan is None or not plan.places or not step.layers:
        return None
    layers, count = step.layers, plan.stage_count
    memory = placed_memory(context, plan, (step,) * count)
    held = held_at_once(count, plan.accumulation_steps, pipelined=profile.strategy.pipeline)
    works = [number for number, share in enumerate(memory.shares) if share]
    same = [[number for number in works if number % count == stage] for stage in range(count)]
    number_bytes = bytes_of_a_number(mixed_precision=profile.training.mixed_precision)

    @cache
    def most(place: int, begin: int) -> int:
        """The end of the longest run from that layer on that has room there."""
        received = layers[begin - 1].outputs * number_bytes if begin else 0

        def fits(length: int) -> bool:
            part = stage_step(
                step,
                layers[begin : begin + length],
                received=received,
                at_once=held[place],
                is_first=place == 0,
            )
            return all(memory.fits_with_step(number, part) for number in same[place])

        return begin + greatest(len(layers) - begin, fits)

    work = list(accumulate((each.operations for each in layers), initial=0))
    # All replicas have the same layers, and wait for the slowest of them.
    speeds = [
        min(
            context.relative_speed(plan.places[number].device_key) / memory.shares[number]
            for number in numbers
        )
        for numbers in same
    ]
    return divided(layers, [speed / max(speeds) for speed in speeds], work, most)


def planned_stages(context: PlanningContext) -> tuple[Stage, ...]:
    """The layers on each place of a replica, in the places' order.

    Empty where they are not known, or where those of a place do not follow each other.
    """
    step, plan = context.step, context.plan
    placed = () if step is None or plan is None else planned_placement(context, step, plan)
    if step is None or plan is None or not placed or list(placed) != sorted(placed):
        return ()
    whole = max(1, sum(each.operations for each in step.layers))
    stages = []
    for number in range(plan.stage_count):
        there = [each for each, at in zip(step.layers, placed, strict=True) if at == number]
        stages.append(
            Stage(
                device_keys=plan.devices_of_stage(number),
                layers=tuple(each.name for each in there),
                work=min(1.0, sum(each.operations for each in there) / whole),
            )
        )
    return tuple(stages)
