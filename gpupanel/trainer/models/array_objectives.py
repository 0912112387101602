"""What is made small, and measured beside it, where labels are arrays.

Each example counts the same: its loss is the mean over its places, and so is what is measured.
"""

from collections.abc import Sequence

import tensorflow as tf

from gpupanel.domain.data import Scaling, Target
from gpupanel.domain.outcome import Metrics
from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.models.objectives import Objective


class ClassOfEachPlace:
    """Cross-entropy of the logits of each place, in nats, and how many places are right."""

    size = 2

    def sums(self, outputs: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, ...]:
        """See :meth:`Objective.sums`; outputs [n, ..., classes], labels class numbers [n, ...]."""
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, outputs)
        right = tf.equal(tf.argmax(outputs, axis=-1, output_type=labels.dtype), labels)
        return _sum_of_means(losses), _sum_of_means(right)

    def metrics(self, sums: Sequence[float], examples: int) -> Metrics:
        """Mean cross-entropy, and the fraction of the places that is right."""
        loss, right = sums
        return Metrics(loss=loss / examples, accuracy=right / examples)


class LabelOfEachPlace:
    """Cross-entropy of the logit of each place, in nats, and how many places are right."""

    size = 2

    def sums(self, outputs: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, ...]:
        """See :meth:`Objective.sums`; labels are 0 or 1, in the shape of the outputs."""
        labels = tf.reshape(labels, tf.shape(outputs))
        losses = tf.nn.sigmoid_cross_entropy_with_logits(labels, outputs)
        right = tf.equal(outputs > 0.0, labels > 0.5)
        return _sum_of_means(losses), _sum_of_means(right)

    def metrics(self, sums: Sequence[float], examples: int) -> Metrics:
        """Mean cross-entropy, and the fraction of the places that is right."""
        loss, right = sums
        return Metrics(loss=loss / examples, accuracy=right / examples)


class ValueOfEachPlace:
    """Squared and absolute error of each place, both in the labels' own unit.

    Args:
        unit: What labels are multiplied by first.
    """

    size = 2

    def __init__(self, unit: float = 1.0) -> None:
        self._unit = unit

    def sums(self, outputs: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, ...]:
        """See :meth:`Objective.sums`; labels in the shape of the outputs."""
        wanted = tf.cast(tf.reshape(labels, tf.shape(outputs)), tf.float32) * self._unit
        error = outputs - wanted
        return _sum_of_means(tf.square(error)), _sum_of_means(tf.abs(error))

    def metrics(self, sums: Sequence[float], examples: int) -> Metrics:
        """Mean squared and mean absolute error."""
        square, absolute = sums
        return Metrics(loss=square / examples, mean_absolute_error=absolute / examples)


def array_objective(data: DataSet) -> Objective:
    """The objective for labels that are arrays of classes, of 0 and 1, or of values."""
    unit = inputs_unit(data)
    return objective_of_places(data.target, 1.0 if unit is None else unit)


def objective_of_places(target: Target, unit: float = 1.0) -> Objective:
    """The objective for places of that kind; an example may have a single one.

    Args:
        target: What each of them is.
        unit: What values are multiplied by first.
    """
    match target:
        case Target.CLASSES:
            return ClassOfEachPlace()
        case Target.LABELS:
            return LabelOfEachPlace()
    return ValueOfEachPlace(unit)


def inputs_unit(data: DataSet) -> float | None:
    """What raw examples, where they are to be predicted, are multiplied by first.

    So they are what the model takes (``models/scaling``). ``None``: there are labels.
    """
    if not data.learns_inputs:
        return None
    return 1.0 / data.greatest if data.scaling is Scaling.DIVIDE else 1.0


def _sum_of_means(of_places: tf.Tensor) -> tf.Tensor:
    """The sum over the examples of the means over their places."""
    numbers = tf.cast(of_places, tf.float32)
    return tf.reduce_sum(tf.reduce_mean(numbers, axis=list(range(1, numbers.shape.rank))))
