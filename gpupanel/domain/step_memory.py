"""What a training step holds in memory beside the weights, for any number of examples."""

from typing import Annotated

from pydantic import Field

from gpupanel.domain.value import Value

_Bytes = Annotated[int, Field(ge=0)]
LEAST_RATIO, GREATEST_RATIO = 0.2, 5.0
"""Plausible ratios of measured to estimated memory; others are measurement errors."""
MOST_LAYERS = 1000
"""A model with more of them is not looked at layer by layer."""


class MemoryPeak(Value):
    """What is held at one moment of a step.

    Attributes:
        fixed_bytes: Whatever the number of examples: gradients, most of all.
        bytes_per_example: Beside it, for each: activations, most of all.
    """

    fixed_bytes: _Bytes
    bytes_per_example: _Bytes

    def at(self, examples: int) -> int:
        """Bytes, for so many examples."""
        return self.fixed_bytes + self.bytes_per_example * examples


class MeasuredStep(Value):
    """What trying batches on one device has shown of the estimate.

    Attributes:
        device: Its key.
        jit_compile: Whether XLA compiled the step.
        ratio: What activations took, over what was estimated for them.
        is_least: Whether they would have taken more, and could not be given it.
    """

    device: str
    jit_compile: bool = False
    ratio: Annotated[float, Field(ge=LEAST_RATIO, le=GREATEST_RATIO)]
    is_least: bool = False


class LayerMemory(Value):
    """What one layer of a model holds on the device that it is placed on.

    Attributes:
        name: As a placement names it.
        weight_bytes: All of its weights.
        trainable_bytes: Of those that are learned.
        largest_weight_bytes: The largest of these.
        kept: Between the forward pass and the backward pass.
        again: When its part of the backward pass begins: more than that where activations are
            computed again.
        block: The number of those layers that are computed again together.
        most: Those moments of a step of which one is the greatest; its own gradients are in it.
        operations: Multiplications and additions of a step for each example.
        launches: Operations of a step, each of which takes a moment however few its numbers are.
        outputs: Numbers that it gives on for each example.
    """

    name: Annotated[str, Field(max_length=1000)]
    weight_bytes: _Bytes = 0
    trainable_bytes: _Bytes = 0
    largest_weight_bytes: _Bytes = 0
    kept: MemoryPeak
    again: MemoryPeak
    block: Annotated[int, Field(ge=0)] = 0
    most: Annotated[tuple[MemoryPeak, ...], Field(min_length=1)]
    operations: Annotated[int, Field(ge=0)] = 0
    launches: Annotated[int, Field(ge=0)] = 0
    outputs: Annotated[int, Field(ge=0)] = 0


class StepMemory(Value):
    """What one replica holds of a step: forward, backward, and the gradients of all weights.

    Attributes:
        peaks: Those moments of which one is the greatest, for some number of examples.
        example_bytes: Features and labels of an example, which are there before.
        feature_bytes: Its features in the host's memory; 0: not known.
        kept_bytes: Features and labels on a GPU that holds all examples.
        weight_bytes: All weights of the model.
        trainable_bytes: Of those that are learned; their gradients take as much.
        largest_weight_bytes: The largest of these, which no device can share with another.
        operations: Multiplications and additions of a step for each example, the backward pass
            among them; 0: not known.
        launches: Operations of its graph, each of which takes a moment however few its numbers are.
        layers: In their order, where each of them can be placed on a device of its own; empty:
            not asked for, or the model is one piece.
        measured: What was measured of the same step on devices of this machine.
    """

    peaks: Annotated[tuple[MemoryPeak, ...], Field(min_length=1)]
    example_bytes: _Bytes
    feature_bytes: _Bytes = 0
    kept_bytes: _Bytes = 0
    weight_bytes: _Bytes
    trainable_bytes: _Bytes
    largest_weight_bytes: _Bytes = 0
    operations: Annotated[int, Field(ge=0)] = 0
    launches: Annotated[int, Field(ge=0)] = 0
    layers: Annotated[tuple[LayerMemory, ...], Field(max_length=MOST_LAYERS)] = ()
    measured: tuple[MeasuredStep, ...] = ()

    def held_bytes(self, examples: int) -> int:
        """The most that is held at a time, gradients among it, for so many examples."""
        return max(peak.at(examples) for peak in self.peaks)

    def measured_on(self, device: str, *, jit_compile: bool) -> MeasuredStep | None:
        """What was measured on a device; ``None``: nothing was."""
        for each in self.measured:
            if (each.device, each.jit_compile) == (device, jit_compile):
                return each
        return None


class StepVariant(Value):
    """What a step of the same model holds when it is computed in another way.

    Attributes:
        mixed_precision: Whether layers compute with floats of 16 bits.
        recomputes: Whether activations are computed again, block by block.
        step: ``None``: it could not be traced, or no blocks are found.
    """

    mixed_precision: bool
    recomputes: bool
    step: StepMemory | None
