"""Each metric of a set beside the loss: what is added up over examples, and what it comes to.

Validation adds up inside a graph, on devices that know only sums of each other; an evaluation has
the outputs of a saved model as arrays, and adds up in double precision. A metric stands here once,
with both.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from gpupanel.domain.best_epoch import MOST_AREAS, MOST_COUNTED
from gpupanel.domain.data import Target
from gpupanel.trainer.metrics.areas import (
    GREATEST_ERROR,
    MOST_REFINEMENTS,
    area_error,
    bins_of_labels,
    finer_edges,
    first_edges,
)
from gpupanel.trainer.metrics.set_metric import SetMetric, SetPart
from gpupanel.trainer.parts.scores import TOP, Sums, area_of, macro_f1, mean_area, mean_r2

if TYPE_CHECKING:
    # Whoever adds up arrays needs none: functions of graphs import it.
    import tensorflow as tf

Floats = npt.NDArray[np.float32]
_MOST_SCORES = 2**26
"""That are held until all examples are known, five bytes each: of more there is no AUC."""


def set_metrics_of(
    target: Target | None,
    outputs: int,
    units: Floats,
    means: Floats,
    *,
    most_counted: float = MOST_COUNTED,
    most_error: float = GREATEST_ERROR,
) -> Iterator[SetMetric]:
    """All metrics that fit what is predicted.

    Args:
        target: What the labels are; ``None``: nothing that any of them fits.
        outputs: How many a model has: one a class, a label or a value.
        units: Of values, what outputs and errors are counted in, shape [outputs].
        means: Near which values are, likewise.
        most_counted: Classes, labels or values that are counted each.
        most_error: How far an AUC may be from the exact one before a set is measured again.
    """
    match target:
        case Target.CLASSES:
            if outputs > TOP:
                yield _TopFive()
            if outputs <= most_counted:
                yield _ClassF1(outputs)
            if outputs == 2:
                yield _Area(1, most_error)
        case Target.LABELS:
            if outputs <= most_counted:
                yield _LabelF1(outputs)
            if outputs <= MOST_AREAS:
                yield _Area(outputs, most_error)
        case Target.VALUES:
            if outputs <= most_counted:
                yield _Determination(units, means)


class _TopFive(SetMetric):
    size = 1

    @override
    def sums(self, outputs: "tf.Tensor", labels: "tf.Tensor") -> "tf.Tensor":
        import tensorflow as tf

        own = tf.gather(outputs, labels, batch_dims=1)[:, tf.newaxis]
        # How many classes are more probable: no order of equal ones has to be decided. As floats:
        # whole numbers of 32 bits TensorFlow counts on the host, whatever the device.
        above = tf.reduce_sum(tf.cast(outputs > own, tf.float32), axis=1)
        return tf.reduce_sum(tf.cast(above < TOP, tf.float32))[tf.newaxis]

    @override
    def of_part(self, part: SetPart) -> Sums:
        own = part.outputs[np.arange(len(part.labels)), part.labels][:, np.newaxis]
        is_in = (part.outputs > own).sum(axis=1) < TOP
        return np.array([is_in.sum()], np.float64)

    @override
    def metrics(self, sums: Sums, examples: int) -> Mapping[str, float | None]:
        return {"top_5_accuracy": float(sums[0]) / examples}


class _ClassF1(SetMetric):
    def __init__(self, classes: int) -> None:
        self._classes = classes
        self.size = 3 * classes

    @override
    def sums(self, outputs: "tf.Tensor", labels: "tf.Tensor") -> "tf.Tensor":
        import tensorflow as tf

        taken_for = tf.argmax(outputs, axis=1, output_type=labels.dtype)
        right = tf.cast(tf.equal(taken_for, labels), tf.float32)
        ones = tf.ones_like(right)
        counts = ((right, labels), (ones, taken_for), (ones, labels))
        return tf.concat(
            [tf.math.unsorted_segment_sum(each, of, self._classes) for each, of in counts], axis=0
        )

    @override
    def of_part(self, part: SetPart) -> Sums:
        right = part.labels[part.predicted == part.labels]
        counted = (right, part.predicted, part.labels)
        counts = [np.bincount(each, minlength=self._classes) for each in counted]
        return np.concatenate(counts).astype(np.float64)

    @override
    def metrics(self, sums: Sums, examples: int) -> Mapping[str, float | None]:
        del examples
        return {"f1": macro_f1(*np.split(sums, 3))}


class _LabelF1(SetMetric):
    def __init__(self, labels: int) -> None:
        self.size = 3 * labels

    @override
    def sums(self, outputs: "tf.Tensor", labels: "tf.Tensor") -> "tf.Tensor":
        import tensorflow as tf

        said, has = outputs > 0.0, labels > 0.5
        counts = (tf.logical_and(said, has), said, has)
        return tf.concat(
            [tf.reduce_sum(tf.cast(each, tf.float32), axis=0) for each in counts], axis=0
        )

    @override
    def of_part(self, part: SetPart) -> Sums:
        counted = (part.predicted & part.labels, part.predicted, part.labels)
        return np.concatenate([each.sum(axis=0) for each in counted]).astype(np.float64)

    @override
    def metrics(self, sums: Sums, examples: int) -> Mapping[str, float | None]:
        del examples
        return {"f1": macro_f1(*np.split(sums, 3))}


class _Scores:
    """Scores of examples and who of them has the label, until all are known, or are too many."""

    def __init__(self, scores: Floats, has: npt.NDArray[np.bool_]) -> None:
        self._kept = [(scores.astype(np.float32, copy=False), has)]
        self._count = scores.size

    def __iadd__(self, more: "_Scores") -> Self:
        self._count += more._count
        if self._count > _MOST_SCORES:
            self._kept = []
        else:
            self._kept.extend(more._kept)
        return self

    def area(self) -> float | None:
        """Exact, from all of them."""
        if not self._kept:
            return None
        scores, has = (np.concatenate(each) for each in zip(*self._kept, strict=True))
        return area_of(scores, has)


class _Area(SetMetric):
    """The area under the ROC curve of several labels, or of the second of two classes."""

    def __init__(self, labels: int, most_error: float) -> None:
        self._labels, self._bins = labels, bins_of_labels(labels)
        self._most_error = most_error
        self.size = 2 * labels * self._bins
        self._first = first_edges(labels)
        self._edges: tf.Variable = None
        self._refined = 0

    @override
    def prepare(self) -> None:
        import tensorflow as tf

        # Every replica has them at hand.
        self._edges = tf.Variable(self._first, trainable=False)

    @override
    def begin(self) -> None:
        # As ever: a metric must not depend on what was measured before.
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
    def sums(self, outputs: "tf.Tensor", labels: "tf.Tensor") -> "tf.Tensor":
        import tensorflow as tf

        logits = tf.cast(outputs, tf.float32)
        if labels.shape.rank == 1:
            logits, has = (logits[:, 1] - logits[:, 0])[:, tf.newaxis], labels[:, tf.newaxis] > 0
        else:
            has = labels > 0.5
        number = tf.int64  # those of 32 bits TensorFlow counts on the host, whatever the device
        bins = tf.searchsorted(self._edges, tf.transpose(logits), side="right", out_type=number)
        # A place for each label and bin, first of those that have it, then of those that have not.
        places = tf.transpose(bins) + self._bins * tf.range(self._labels, dtype=number)
        places += self._labels * self._bins * tf.cast(tf.logical_not(has), number)
        ones = tf.ones_like(tf.reshape(places, [-1]), tf.float32)
        return tf.math.unsorted_segment_sum(ones, tf.reshape(places, [-1]), self.size)

    @override
    def of_part(self, part: SetPart) -> _Scores:
        if part.labels.ndim == 1:
            return _Scores(np.diff(part.outputs, axis=1), part.labels[:, np.newaxis] > 0)
        return _Scores(part.outputs, part.labels)

    @override
    def metrics(self, sums: Sums, examples: int) -> Mapping[str, float | None]:
        del examples
        counts = self._counts(sums)
        is_near = area_error(*counts, self._edges.numpy()) <= GREATEST_ERROR
        return {"auc": mean_area(*counts) if is_near else None}

    @override
    def metrics_of_parts(self, total: _Scores, examples: int) -> Mapping[str, float | None]:
        return {"auc": total.area()}

    def _counts(self, sums: Sums) -> tuple[Sums, Sums]:
        """How many examples that have each label, and have it not, are in each bin."""
        has, has_not = sums.reshape(2, self._labels, self._bins)
        return has, has_not


class _Determination(SetMetric):
    """Of values; inside a graph in standard deviations of the training labels, near 1."""

    def __init__(self, units: Floats, means: Floats) -> None:
        self._units, self._means = units, means
        self.size = 3 * len(units)

    @override
    def sums(self, outputs: "tf.Tensor", labels: "tf.Tensor") -> "tf.Tensor":
        import tensorflow as tf

        outputs = tf.cast(outputs, tf.float32)
        labels = tf.reshape(tf.cast(labels, tf.float32), tf.shape(outputs))
        standard = (labels - self._means) / self._units
        each = (tf.square(outputs - standard), standard, tf.square(standard))
        return tf.concat([tf.reduce_sum(one, axis=0) for one in each], axis=0)

    @override
    def of_part(self, part: SetPart) -> Sums:
        apart = part.labels - self._means.astype(np.float64)
        each = (np.square(part.outputs - part.labels), apart, np.square(apart))
        return np.concatenate([one.sum(axis=0) for one in each])

    @override
    def metrics(self, sums: Sums, examples: int) -> Mapping[str, float | None]:
        return {"r2": mean_r2(sums.reshape(3, -1), examples)}
