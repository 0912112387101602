"""What is measured of validation and test sets: an objective, and figures beside it."""

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
import tensorflow as tf
from typing_extensions import override

from gpupanel.domain.best_epoch import MOST_AREAS, MOST_COUNTED
from gpupanel.domain.data import Target
from gpupanel.domain.outcome import Metrics
from gpupanel.trainer.measures.areas import (
    GREATEST_ERROR,
    MOST_REFINEMENTS,
    area_error,
    bins_of_labels,
    finer_edges,
    first_edges,
    mean_area,
)
from gpupanel.trainer.measures.figures import TOP, Sums, macro_f1, mean_r2
from gpupanel.trainer.models.objectives import Floats, Objective


class _Figure(Protocol):
    """One figure of a set.

    Attributes:
        size: How many sums it is calculated from.
    """

    size: int

    def begin(self) -> None:
        """Another set comes, or the same of another model."""
        return

    def wants_more(self, sums: Sums) -> bool:
        """Whether the set has to be measured once more, and these sums are then nothing.

        The same in every process of a run, since the sums are.
        """
        del sums
        return False

    @abstractmethod
    def sums(self, outputs: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        """Over these examples, shape [size], float32."""

    @abstractmethod
    def metrics(self, sums: Sums, examples: int) -> dict[str, float | None]:
        """Its key in :class:`~gpupanel.domain.outcome.Metrics`, and what it comes to."""


class MeasuredObjective:
    """An objective whose metrics have all figures that fit what is predicted.

    Made in the scope of the strategy. A set is measured by :meth:`begin`, its sums, and
    again its sums as long as these want more.

    Attributes:
        size: See :class:`~gpupanel.trainer.models.objectives.Objective`.
    """

    def __init__(
        self,
        plain: Objective,
        target: Target,
        outputs: int,
        units: Floats,
        means: Floats,
        *,
        exact_area: bool = False,
    ) -> None:
        """Measures nothing yet.

        Args:
            plain: What the loss is, and what training measures.
            target: What the labels are.
            outputs: How many the model has: one a class, a label or a value.
            units: Standard deviations of values to be predicted, shape [outputs].
            means: Likewise.
            exact_area: The set is measured as often as the AUC is not exact, as far as may be.
        """
        self._plain = plain
        area_error = 0.0 if exact_area else GREATEST_ERROR
        self._figures = tuple(_figures(target, outputs, units, means, area_error))
        self.size = plain.size + sum(figure.size for figure in self._figures)

    def begin(self) -> None:
        """A set is going to be measured."""
        for figure in self._figures:
            figure.begin()

    def wants_more(self, sums: Sequence[float]) -> bool:
        """Whether the same examples have to be measured once more, since a figure is not exact."""
        return any(figure.wants_more(own) for figure, own in self._own_sums(sums))

    def sums(self, outputs: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, ...]:
        """Those of the plain objective, then vectors."""
        figures = (figure.sums(outputs, labels) for figure in self._figures)
        return (*self._plain.sums(outputs, labels), *figures)

    def metrics(self, sums: Sequence[float], examples: int) -> Metrics:
        """Those of the plain objective, and all figures that are known."""
        found = self._plain.metrics(sums[: self._plain.size], examples)
        more: dict[str, float | None] = {}
        for figure, own in self._own_sums(sums):
            more |= figure.metrics(own, examples)
        if found.mean_absolute_error is not None and found.loss is not None:
            more["root_mean_squared_error"] = math.sqrt(found.loss)
        return found.model_copy(update=more)

    def _own_sums(self, sums: Sequence[float]) -> Iterator[tuple[_Figure, Sums]]:
        """Each figure with its sums."""
        first = self._plain.size
        for figure in self._figures:
            yield figure, np.asarray(sums[first : first + figure.size], np.float64)
            first += figure.size


def _figures(
    target: Target, outputs: int, units: Floats, means: Floats, area_error: float
) -> Iterator[_Figure]:
    """Those that fit, as long as their sums are few enough to be sent between devices."""
    match target:
        case Target.CLASSES:
            if outputs > TOP:
                yield _TopFive()
            if outputs <= MOST_COUNTED:
                yield _ClassF1(outputs)
            if outputs == 2:
                yield _Area(1, area_error)
        case Target.LABELS:
            if outputs <= MOST_COUNTED:
                yield _LabelF1(outputs)
            if outputs <= MOST_AREAS:
                yield _Area(outputs, area_error)
        case Target.VALUES:
            if outputs <= MOST_COUNTED:
                yield _Determination(units, means)


class _TopFive(_Figure):
    size = 1

    @override
    def sums(self, outputs: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        own = tf.gather(outputs, labels, batch_dims=1)[:, tf.newaxis]
        # How many classes are more probable: no order of equal ones has to be decided.
        above = tf.reduce_sum(tf.cast(outputs > own, tf.int32), axis=1)
        return tf.reduce_sum(tf.cast(above < TOP, tf.float32))[tf.newaxis]

    @override
    def metrics(self, sums: Sums, examples: int) -> dict[str, float | None]:
        return {"top_5_accuracy": float(sums[0]) / examples}


class _ClassF1(_Figure):
    def __init__(self, classes: int) -> None:
        self._classes = classes
        self.size = 3 * classes

    @override
    def sums(self, outputs: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        taken_for = tf.argmax(outputs, axis=1, output_type=tf.int32)
        right = tf.cast(tf.equal(taken_for, labels), tf.float32)
        ones = tf.ones_like(right)
        counts = ((right, labels), (ones, taken_for), (ones, labels))
        return tf.concat(
            [tf.math.unsorted_segment_sum(each, of, self._classes) for each, of in counts], axis=0
        )

    @override
    def metrics(self, sums: Sums, examples: int) -> dict[str, float | None]:
        del examples
        return {"f1": macro_f1(*np.split(sums, 3))}


class _LabelF1(_Figure):
    def __init__(self, labels: int) -> None:
        self.size = 3 * labels

    @override
    def sums(self, outputs: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        said, has = outputs > 0.0, labels > 0.5
        counts = (tf.logical_and(said, has), said, has)
        return tf.concat(
            [tf.reduce_sum(tf.cast(each, tf.float32), axis=0) for each in counts], axis=0
        )

    @override
    def metrics(self, sums: Sums, examples: int) -> dict[str, float | None]:
        del examples
        return {"f1": macro_f1(*np.split(sums, 3))}


class _Area(_Figure):
    """Of several labels, or of the second of two classes."""

    def __init__(self, labels: int, most_error: float) -> None:
        self._labels, self._bins = labels, bins_of_labels(labels)
        self._most_error = most_error
        self.size = 2 * labels * self._bins
        self._first = first_edges(labels)
        # Every replica has them at hand.
        self._edges = tf.Variable(self._first, trainable=False)
        self._refined = 0

    @override
    def begin(self) -> None:
        # As ever: a figure must not depend on what was measured before.
        if self._refined:
            self._edges.assign(self._first)
            self._refined = 0

    @override
    def wants_more(self, sums: Sums) -> bool:
        counts, edges = self._counts(sums), self._edges.numpy()
        if self._refined == MOST_REFINEMENTS or area_error(*counts, edges) <= self._most_error:
            return False
        self._edges.assign(finer_edges(*counts, edges))
        self._refined += 1
        return True

    @override
    def sums(self, outputs: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        logits = tf.cast(outputs, tf.float32)
        if labels.shape.rank == 1:
            logits, has = (logits[:, 1] - logits[:, 0])[:, tf.newaxis], labels[:, tf.newaxis] > 0
        else:
            has = labels > 0.5
        bins = tf.searchsorted(self._edges, tf.transpose(logits), side="right")
        # A place for each label and bin, first of those that have it, then of those that have not.
        places = tf.transpose(bins) + self._bins * tf.range(self._labels)
        places += self._labels * self._bins * tf.cast(tf.logical_not(has), tf.int32)
        ones = tf.ones_like(tf.reshape(places, [-1]), tf.float32)
        return tf.math.unsorted_segment_sum(ones, tf.reshape(places, [-1]), self.size)

    @override
    def metrics(self, sums: Sums, examples: int) -> dict[str, float | None]:
        del examples
        counts = self._counts(sums)
        is_near = area_error(*counts, self._edges.numpy()) <= GREATEST_ERROR
        return {"auc": mean_area(*counts) if is_near else None}

    def _counts(self, sums: Sums) -> tuple[Sums, Sums]:
        """How many examples that have each label, and have it not, are in each bin."""
        has, has_not = sums.reshape(2, self._labels, self._bins)
        return has, has_not


class _Determination(_Figure):
    """Of values, in standard deviations of the training labels: squares stay near 1."""

    def __init__(self, units: Floats, means: Floats) -> None:
        self._units, self._means = units, means
        self.size = 3 * len(units)

    @override
    def sums(self, outputs: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        outputs = tf.cast(outputs, tf.float32)
        labels = tf.reshape(tf.cast(labels, tf.float32), tf.shape(outputs))
        standard = (labels - self._means) / self._units
        each = (tf.square(outputs - standard), standard, tf.square(standard))
        return tf.concat([tf.reduce_sum(one, axis=0) for one in each], axis=0)

    @override
    def metrics(self, sums: Sums, examples: int) -> dict[str, float | None]:
        return {"r2": mean_r2(sums.reshape(3, -1), examples)}
