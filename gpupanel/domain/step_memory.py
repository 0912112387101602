"""What a training step holds in memory beside the weights, for any number of examples."""

from typing import Annotated

from pydantic import Field

from gpupanel.domain.value import Value

_Bytes = Annotated[int, Field(ge=0)]
LEAST_RATIO, GREATEST_RATIO = 0.2, 5.0
"""Plausible ratios of measured to estimated memory; others are measurement errors."""


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
    """

    device: str
    jit_compile: bool = False
    ratio: Annotated[float, Field(ge=LEAST_RATIO, le=GREATEST_RATIO)]


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
        measured: What was measured of the same step on devices of this machine.
    """

    peaks: Annotated[tuple[MemoryPeak, ...], Field(min_length=1)]
    example_bytes: _Bytes
    feature_bytes: _Bytes = 0
    kept_bytes: _Bytes = 0
    weight_bytes: _Bytes
    trainable_bytes: _Bytes
    largest_weight_bytes: _Bytes = 0
    measured: tuple[MeasuredStep, ...] = ()

    def held_bytes(self, examples: int) -> int:
        """The most that is held at a time, gradients among it, for so many examples."""
        return max(peak.at(examples) for peak in self.peaks)

    def measured_ratio(self, device: str, *, jit_compile: bool) -> float | None:
        """What was measured of activations over what is estimated; ``None``: nothing was."""
        for each in self.measured:
            if (each.device, each.jit_compile) == (device, jit_compile):
                return each.ratio
        return None
