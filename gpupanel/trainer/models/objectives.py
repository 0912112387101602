"""What is made small, and what is measured beside it, as sums over examples."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from gpupanel.domain.data import Target
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.parts.losses import class_loss, labels_loss, value_loss, values_loss

Floats = npt.NDArray[np.float32]


class Objective(Protocol):
    """Sums over examples, so that any split of a batch adds up to the whole.

    Attributes:
        size: How many sums there are.
    """

    size: int

    def sums(self, outputs: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, ...]:
        """Sums over outputs, shape [n, outputs], and labels, shape [n] or [n, outputs].

        Returns:
            Float32 scalars: the loss that is differentiated, then what is measured beside it; that
            may be vectors, too, where nothing is trained by it.
        """

    def metrics(self, sums: Sequence[float], examples: int) -> Metrics:
        """The means as they are reported."""


class Classification:
    """Cross-entropy and how many are right; see :func:`~gpupanel.trainer.parts.losses.class_loss`.

    Args:
        weights: What the loss of an example of each class counts, shape [classes]; ``None``: 1.
    """

    size = 2

    def __init__(self, weights: Floats | None = None) -> None:
        self._weights = weights

    def sums(self, outputs: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, ...]:
        """See :meth:`Objective.sums`; labels are class numbers, or shares of each class."""
        return class_loss(outputs, labels, self._weights)

    def metrics(self, sums: Sequence[float], examples: int) -> Metrics:
        """Mean cross-entropy, and the fraction that is right."""
        loss, right = sums
        return Metrics(loss=loss / examples, accuracy=right / examples)


class SeveralLabels:
    """Cross-entropy of each label's logit, in nats, and how many labels are right.

    Both are means over the labels, as Keras's ``BinaryCrossentropy`` and ``BinaryAccuracy`` are.
    """

    size = 2

    def sums(self, outputs: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, ...]:
        """See :meth:`Objective.sums`; labels are 0 or 1, as many as outputs."""
        return labels_loss(outputs, labels)

    def metrics(self, sums: Sequence[float], examples: int) -> Metrics:
        """Mean cross-entropy, and the fraction of the labels that is right."""
        loss, right = sums
        return Metrics(loss=loss / examples, accuracy=right / examples)


class ValuePrediction:
    """Squared and absolute error of one value.

    The error that is differentiated is counted in standard deviations of the training labels,
    so that one learning rate does for house prices and for degrees. What is reported is in the
    labels' own unit: exactly what Keras computes with ``model.keras``.

    Args:
        unit: The standard deviation of the training labels.
        mean: Theirs.
    """

    size = 2

    def __init__(self, unit: float, mean: float) -> None:
        self._unit = unit
        self._mean = mean

    def sums(self, outputs: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, ...]:
        """See :meth:`Objective.sums`; both in standard deviations."""
        return value_loss(outputs, labels, self._unit, self._mean)

    def metrics(self, sums: Sequence[float], examples: int) -> Metrics:
        """Mean squared and mean absolute error, in the labels' unit."""
        square, absolute = sums
        return Metrics(
            loss=square * self._unit**2 / examples,
            mean_absolute_error=absolute * self._unit / examples,
        )


class SeveralValues:
    """Squared and absolute error of several values, each a mean over them.

    The error that is differentiated is counted in standard deviations, so that no value outweighs
    another by its unit. What is reported is in the values' own units, as of one.

    Args:
        units: Standard deviations of the training labels, shape [outputs].
        means: Means of the training labels, shape [outputs].
    """

    size = 3

    def __init__(self, units: Floats, means: Floats) -> None:
        self._units = units
        self._means = means

    def sums(self, outputs: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, ...]:
        """See :meth:`Objective.sums`: the squares once more, in the values' own units."""
        return values_loss(outputs, labels, self._units, self._means)

    def metrics(self, sums: Sequence[float], examples: int) -> Metrics:
        """Mean squared and mean absolute error, in the values' own units."""
        _, square, absolute = sums
        return Metrics(loss=square / examples, mean_absolute_error=absolute / examples)


def make_objective(target: Target, units: Floats, means: Floats) -> Objective:
    """The objective for that kind of label.

    Args:
        target: What the labels are.
        units: Standard deviations of values to be predicted, shape [outputs].
        means: Means of values to be predicted, shape [outputs].
    """
    match target:
        case Target.CLASSES:
            return Classification()
        case Target.LABELS:
            return SeveralLabels()
        case Target.VALUES if len(units) == 1:
            return ValuePrediction(float(units[0]), float(means[0]))
        case Target.VALUES:
            return SeveralValues(units, means)


def named_weights(weights: Mapping[str, float], names: Sequence[str]) -> Floats:
    """What each class counts, by its name; one that is not named counts 1.

    Args:
        weights: By the class's name.
        names: Of all classes, in the order of their numbers.

    Raises:
        ProblemError: A class is weighted that there is not.
    """
    unknown = [name for name in weights if name not in names]
    if unknown:
        raise ProblemError(
            Problem(
                code="class_weights_unknown_class",
                field="data.class_weights",
                message=f"The data has no class {', '.join(map(repr, unknown[:10]))}, which is to "
                "be weighted.",
                hint=f"Its classes are {', '.join(names[:10])}.",
            )
        )
    return np.asarray([weights.get(name, 1.0) for name in names], np.float32)
