"""What is made small, and what is measured beside it, as sums over examples."""

from typing import Protocol

import tensorflow as tf

from gpupanel.domain.data import Target
from gpupanel.domain.outcome import Metrics


class Objective(Protocol):
    """Sums over examples, so that any split of a batch adds up to the whole."""

    def sums(self, outputs: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Of the trained model's outputs, shape [n, outputs], and labels, shape [n].

        Returns:
            The summed loss that is differentiated, and the summed measure; float32 scalars.
        """

    def loss(self, loss_sum: float, examples: int) -> float:
        """The mean loss as it is reported."""

    def metrics(self, loss_sum: float, measure_sum: float, examples: int) -> Metrics:
        """The means as training metrics."""


class Classification:
    """Cross-entropy of the logits; the measure is how many examples are right."""

    def sums(self, outputs: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """See :meth:`Objective.sums`."""
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, outputs)
        right = tf.equal(tf.argmax(outputs, axis=1, output_type=tf.int32), labels)
        return tf.reduce_sum(losses), tf.reduce_sum(tf.cast(right, tf.float32))

    def loss(self, loss_sum: float, examples: int) -> float:
        """See :meth:`Objective.loss`."""
        return loss_sum / examples

    def metrics(self, loss_sum: float, measure_sum: float, examples: int) -> Metrics:
        """Mean cross-entropy in nats, and the fraction that is right."""
        return Metrics(loss=self.loss(loss_sum, examples), accuracy=measure_sum / examples)


class ValuePrediction:
    """Squared error; the measure is the absolute error.

    The error that is differentiated is counted in standard deviations of the training labels,
    so that one learning rate does for house prices and for degrees. What is reported is in the
    labels' own unit: exactly what Keras computes with ``model.keras``.
    """

    def __init__(self, unit: float, mean: float) -> None:
        self._unit = unit
        self._mean = mean

    def sums(self, outputs: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """See :meth:`Objective.sums`; both in standard deviations."""
        error = outputs[:, 0] - (labels - self._mean) / self._unit
        return tf.reduce_sum(tf.square(error)), tf.reduce_sum(tf.abs(error))

    def loss(self, loss_sum: float, examples: int) -> float:
        """See :meth:`Objective.loss`."""
        return loss_sum * self._unit**2 / examples

    def metrics(self, loss_sum: float, measure_sum: float, examples: int) -> Metrics:
        """Mean squared and mean absolute error, in the labels' unit."""
        return Metrics(
            loss=self.loss(loss_sum, examples),
            mean_absolute_error=measure_sum * self._unit / examples,
        )


def make_objective(target: Target, unit: float, mean: float) -> Objective:
    """The objective for that kind of label."""
    return Classification() if target is Target.CLASSES else ValuePrediction(unit, mean)
