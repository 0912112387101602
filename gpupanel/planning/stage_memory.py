"""What a step holds on each of several devices that layers are placed on."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import ceil

from gpupanel.domain.step_memory import LayerMemory, MemoryPeak, StepMemory


def stage_steps(
    step: StepMemory,
    placed: Sequence[int],
    at_once: Sequence[int],
    *,
    mixed_precision: bool,
) -> tuple[StepMemory, ...]:
    """The part of a step on each device.

    Args:
        step: Of the whole model, with its layers.
        placed: The device of each of them.
        at_once: How many micro-batches each device holds at the same time.
        mixed_precision: Whether layers give on floats of 16 bits.
    """
    number_bytes = bytes_of_a_number(mixed_precision=mixed_precision)
    received = [0] * len(at_once)
    for (before, layer), (here, there) in zip(pairwise(step.layers), pairwise(placed), strict=True):
        del layer
        if here != there:
            received[there] += before.outputs * number_bytes
    return tuple(
        stage_step(
            step,
            [each for each, there in zip(step.layers, placed, strict=True) if there == device],
            received=received[device],
            at_once=count,
            is_first=device == 0,
        )
        for device, count in enumerate(at_once)
    )


def stage_step(
    step: StepMemory,
    layers: Sequence[LayerMemory],
    *,
    received: int,
    at_once: int,
    is_first: bool,
) -> StepMemory:
    """What the layers of one device hold.

    The backward pass of a layer begins when those behind it are done: these have left their
    gradients, and those before it hold what they kept; of its own block what was computed again.

    Args:
        step: Of the whole model.
        layers: On that device.
        received: Bytes for each example that come from another device and are kept.
        at_once: How many micro-batches are held there.
        is_first: Whether the examples come to that device.
    """
    kept_fixed = sum(each.kept.fixed_bytes for each in layers)
    kept_each = sum(each.kept.bytes_per_example for each in layers) + received
    # What other micro-batches keep here meanwhile.
    fixed, each_example = (at_once - 1) * kept_fixed, (at_once - 1) * kept_each + received
    fixed += sum(each.trainable_bytes for each in layers)
    again_fixed = again_each = 0
    block = None
    peaks = [(0, 0)]
    for layer in layers:
        fixed -= layer.trainable_bytes
        if layer.block != block:
            again_fixed = again_each = 0
            block = layer.block
        for peak in layer.most:
            there = fixed + again_fixed + peak.fixed_bytes
            peaks.append((there, each_example + again_each + peak.bytes_per_example))
        fixed += layer.kept.fixed_bytes
        each_example += layer.kept.bytes_per_example
        again_fixed += layer.again.fixed_bytes - layer.kept.fixed_bytes
        again_each += layer.again.bytes_per_example - layer.kept.bytes_per_example
    # Of those that grow alike only the largest can be the greatest.
    greatest = dict[int, int]()
    for there, growth in peaks:
        greatest[growth] = max(there, greatest.get(growth, 0))
    return step.model_copy(
        update={
            "peaks": tuple(
                MemoryPeak(fixed_bytes=max(0, there), bytes_per_example=max(0, growth))
                for growth, there in greatest.items()
            ),
            "weight_bytes": sum(each.weight_bytes for each in layers),
            "trainable_bytes": sum(each.trainable_bytes for each in layers),
            "largest_weight_bytes": max((each.largest_weight_bytes for each in layers), default=0),
            "operations": sum(each.operations for each in layers),
            "launches": sum(each.launches for each in layers),
            "layers": tuple(layers),
            "example_bytes": step.example_bytes if is_first else 0,
            "kept_bytes": step.kept_bytes if is_first else 0,
        }
    )


def bytes_of_a_number(*, mixed_precision: bool) -> int:
    """Of those that layers give on."""
    return 2 if mixed_precision else 4


def held_at_once(stages: int, micro_batches: int, *, pipelined: bool) -> tuple[int, ...]:
    """How many micro-batches each device of a pipeline holds at the most, in their order."""
    if not pipelined:
        return (1,) * stages
    return tuple(min(stages - stage, micro_batches) for stage in range(stages))


def divided(
    layers: Sequence[LayerMemory],
    speeds: Sequence[float],
    work: Sequence[int],
    most: Callable[[int, int], int],
) -> dict[str, int] | None:
    """Runs of layers, one a place, of which the slowest takes as little time as can be.

    Args:
        layers: In their order.
        speeds: Of the places, in their order: 1 of the fastest.
        work: Of all layers before each, and of all.
        most: The end of the longest run that has room in a place, from a layer on.

    Returns:
        The place of each layer; ``None``: they have no room.
    """

    def runs(bound: int) -> list[int]:
        """The ends of the longest runs of so much work at the most, at full speed."""
        ends, end = [], 0
        for place, speed in enumerate(speeds):
            bounded = bisect_right(work, work[end] + bound * speed) - 1
            begin, end = end, min(most(place, end), bounded)
            end = max(begin, end)
            ends.append(end)
        return ends

    low, high = 0, ceil(work[-1] / min(speeds))
    if runs(high)[-1] < len(layers):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if runs(middle)[-1] == len(layers) else (middle + 1, high)
    placement: dict[str, int] = {}
    begin = 0
    for place, end in enumerate(runs(low)):
        placement.update((each.name, place) for each in layers[begin:end])
        begin = end
    return placement
