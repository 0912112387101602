"""What is made small, and measured beside it, where labels are arrays.

Each example counts the same: its loss is the mean over its places, and so is what is measured.
"""

from collections.abc import Sequence

import tensorflow as tf

from gpupanel.domain.data import Scaling, Target
from gpupanel.domain.outcome import Metrics
from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.models.objectives import Objective, SeveralLabels
from gpupanel.trainer.parts.losses import places_class_loss, places_value_loss


class ClassOfEachPlace:
    """Cross-entropy of each place; see :func:`~gpupanel.trainer.parts.losses.places_class_loss`."""

    size = 2

    def sums(self, outputs: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, ...]:
        """See :meth:`Objective.sums`; outputs [n, ..., classes], labels class numbers [n, ...]."""
        return places_class_loss(outputs, labels)

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
        return places_value_loss(outputs, labels, self._unit)

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
            return SeveralLabels()
    return ValueOfEachPlace(unit)


def inputs_unit(data: DataSet) -> float | None:
    """What raw examples, where they are to be predicted, are multiplied by first.

    So they are what the model takes (``models/scaling``). ``None``: there are labels.
    """
    if not data.learns_inputs:
        return None
    return 1.0 / data.greatest if data.scaling is Scaling.DIVIDE else 1.0
