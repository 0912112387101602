"""Losses of which a training makes other ones small than those that are measured.

Smoothed labels and a focal loss change what is learned. What validates and tests stays the plain
cross-entropy, so that trainings can be compared; metrics beside the loss stay as they are, too.
"""

from collections.abc import Sequence

import tensorflow as tf

from gpupanel.domain.data import Target
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.training import TrainingSettings
from gpupanel.trainer.models.objectives import Floats, Objective

_LEAST = 1e-7
"""Of what a focal loss is multiplied by before it is raised to its power: the gradient of a power
below 1 is infinite at 0."""


class TrainingObjective:
    """Another objective with its loss replaced, for classes or several labels.

    Attributes:
        size: See :class:`~gpupanel.trainer.models.objectives.Objective`.
    """

    def __init__(
        self,
        plain: Objective,
        target: Target,
        training: TrainingSettings,
        weights: Floats | None = None,
    ) -> None:
        """Changes nothing yet.

        Args:
            plain: The objective without class weights, whose metrics stay as they are.
            target: What the labels are; no values.
            training: Has smoothing and loss.
            weights: What the loss of an example of each class counts; ``None``: 1.
        """
        self.size = plain.size
        self._plain = plain
        self._loss = self._of_classes if target is Target.CLASSES else self._of_labels
        self._smoothing = training.label_smoothing
        self._gamma = training.focal_power
        self._weights = weights

    def sums(self, outputs: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, ...]:
        """See :meth:`~gpupanel.trainer.models.objectives.Objective.sums`."""
        _, *metrics = self._plain.sums(outputs, labels)
        return self._loss(tf.cast(outputs, tf.float32), labels), *metrics

    def metrics(self, sums: Sequence[float], examples: int) -> Metrics:
        """See :meth:`~gpupanel.trainer.models.objectives.Objective.metrics`."""
        return self._plain.metrics(sums, examples)

    def _of_classes(self, outputs: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        """Keras's ``CategoricalFocalCrossentropy`` with ``alpha=1``, from logits."""
        shares = labels if labels.shape.rank == 2 else tf.one_hot(labels, outputs.shape[1])
        if self._weights is not None:
            shares *= self._weights
        logarithms = tf.nn.log_softmax(outputs)
        if self._gamma:
            wrong = tf.maximum(1.0 - tf.exp(logarithms), _LEAST)
            logarithms *= tf.pow(wrong, self._gamma)
        if self._smoothing:
            mean = tf.reduce_mean(logarithms, axis=1, keepdims=True)
            logarithms += self._smoothing * (mean - logarithms)
        return -tf.reduce_sum(shares * logarithms)

    def _of_labels(self, outputs: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        """Keras's ``BinaryFocalCrossentropy``, from logits."""
        labels += self._smoothing * (0.5 - labels)
        losses = tf.nn.sigmoid_cross_entropy_with_logits(labels, outputs)
        if self._gamma:
            said = tf.sigmoid(outputs)
            right = labels * said + (1.0 - labels) * (1.0 - said)
            losses *= tf.pow(tf.maximum(1.0 - right, _LEAST), self._gamma)
        return tf.reduce_sum(tf.reduce_mean(losses, axis=1))
