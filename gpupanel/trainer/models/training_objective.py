"""Losses of which a training makes other ones small than those that are measured.

Smoothed labels and a focal loss change what is learned. What validates and tests stays the plain
cross-entropy, so that trainings can be compared; metrics beside the loss stay as they are, too.
"""

from collections.abc import Sequence
from functools import partial

import tensorflow as tf

from gpupanel.domain.data import Target
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.training import TrainingSettings
from gpupanel.trainer.models.objectives import Floats, Objective
from gpupanel.trainer.parts.losses import changed_class_loss, changed_labels_loss


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
        focal_power, smoothing = training.focal_power, training.label_smoothing
        if target is Target.CLASSES:
            self._loss = partial(
                changed_class_loss, focal_power=focal_power, smoothing=smoothing, weights=weights
            )
        else:
            self._loss = partial(changed_labels_loss, focal_power=focal_power, smoothing=smoothing)

    def sums(self, outputs: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, ...]:
        """See :meth:`~gpupanel.trainer.models.objectives.Objective.sums`."""
        _, *measures = self._plain.sums(outputs, labels)
        return self._loss(outputs, labels), *measures

    def metrics(self, sums: Sequence[float], examples: int) -> Metrics:
        """See :meth:`~gpupanel.trainer.models.objectives.Objective.metrics`."""
        return self._plain.metrics(sums, examples)
