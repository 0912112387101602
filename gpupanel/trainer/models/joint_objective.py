"""What is made small, and measured beside it, of a model with several outputs.

Outputs and labels come as rows, all of an example one after the other, and are taken apart here.
"""

import math
from collections.abc import Mapping, Sequence

import tensorflow as tf

from gpupanel.domain.data import Target
from gpupanel.domain.outcome import Metrics
from gpupanel.trainer.datasets.examples import PackedOutput
from gpupanel.trainer.models.array_objectives import objective_of_places

MEASURES = {Target.CLASSES: "accuracy", Target.LABELS: "accuracy", Target.VALUES: "error"}
"""What is measured of an output beside its loss, as names of metrics end."""


def labels_apart(rows: tf.Tensor, outputs: Sequence[PackedOutput]) -> dict[str, tf.Tensor]:
    """The labels of each output, shape [n, ...]: ``int64`` class numbers, or numbers."""
    found = {}
    for each in outputs:
        labels = tf.reshape(rows[:, each.start : each.end], [-1, *each.shape])
        found[each.name] = tf.cast(labels, tf.int64) if each.target is Target.CLASSES else labels
    return found


def outputs_apart(rows: tf.Tensor, outputs: Sequence[PackedOutput]) -> dict[str, tf.Tensor]:
    """What a model gives for each output, shape [n, ...]."""
    found, start = {}, 0
    for each in outputs:
        end = start + math.prod(each.output_shape)
        found[each.name] = tf.reshape(rows[:, start:end], [-1, *each.output_shape])
        start = end
    return found


class JointObjective:
    """The sum of the losses of all outputs, each times its weight.

    Attributes:
        size: The loss, then loss and measure of each output.
    """

    def __init__(self, outputs: Sequence[PackedOutput], weights: Mapping[str, float]) -> None:
        """Measures nothing yet.

        Args:
            outputs: In their order.
            weights: What the losses of these count; one that is not named counts 1.
        """
        self._outputs = outputs
        self._weights = [float(weights.get(each.name, 1.0)) for each in outputs]
        self._objectives = [objective_of_places(each.target) for each in outputs]
        self.size = 1 + 2 * len(outputs)

    @property
    def names(self) -> list[str]:
        """What is measured of each output: its loss, and how right it is."""
        return [
            f"{each.name}_{what}"
            for each in self._outputs
            for what in ("loss", MEASURES[each.target])
        ]

    def sums(self, outputs: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, ...]:
        """See :meth:`Objective.sums`; rows of all outputs and of all labels."""
        given = outputs_apart(outputs, self._outputs)
        wanted = labels_apart(labels, self._outputs)
        found = [
            objective.sums(given[each.name], wanted[each.name])
            for each, objective in zip(self._outputs, self._objectives, strict=True)
        ]
        losses = zip(self._weights, found, strict=True)
        whole = tf.add_n([weight * loss for weight, (loss, _) in losses])
        return whole, *(number for numbers in found for number in numbers)

    def metrics(self, sums: Sequence[float], examples: int) -> Metrics:
        """The weighted sum of the mean losses, and of each output loss and measure by its name."""
        loss, *others = (each / examples for each in sums)
        measured = zip(self.names, others, strict=True)
        # Of these one may be infinite where its weight is 0.
        finite = {name: number for name, number in measured if math.isfinite(number)}
        return Metrics.model_validate({"loss": loss, **finite})
