"""Sums what a loss and metrics of the person's own give, as the loop does with its own.

Each gives one number for each example: so any split of a batch adds up to the whole.
"""

import math
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from gpupanel.domain.outcome import Metrics
from gpupanel.trainer.datasets.examples import Array, DataSet, Examples
from gpupanel.trainer.models.array_objectives import inputs_unit
from gpupanel.trainer.models.build import BuiltModel
from gpupanel.trainer.models.joint_objective import labels_apart
from gpupanel.trainer.models.objectives import Objective
from gpupanel.trainer.models.own_measures import (
    Given,
    OwnFunction,
    OwnMeasures,
    count_of,
    shapes_of,
)

_TRIED = (2, 3)
"""Examples at once: of other axes that many are not all so long."""
_ALIKE = 1e-3
"""Numbers of an example, alone and among others, are as near to each other; the largest is 1."""


def with_own(own: OwnMeasures, plain: Objective, built: BuiltModel) -> Objective:
    """The objective with what the person's file has instead of its loss, and beside it.

    Args:
        own: Of the file.
        plain: What follows from the labels.
        built: Whose outputs are measured.
    """
    if own.loss is None and not own.metrics:
        return plain
    return _OwnObjective(own, plain, built)


class _OwnObjective:
    """Sums what the person's functions give; see :class:`Objective`."""

    def __init__(self, own: OwnMeasures, plain: Objective, built: BuiltModel) -> None:
        self._own = own
        self._plain = None if own.loss is not None else plain
        self._built = built
        self._first = 1 if self._plain is None else self._plain.size
        self.size = self._first + len(own.metrics)

    def sums(self, outputs: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, ...]:
        """See :meth:`Objective.sums`."""
        own, wanted = self._own, labels_given(labels, self._built.building.data)
        functions = dict(own.metrics)
        sums: tuple[tf.Tensor, ...] = ()
        if self._plain is not None:
            sums = self._plain.sums(outputs, labels)
        elif own.loss is not None:
            functions = {"loss": own.loss, **functions}
        given = wanted, self._built.as_saved(outputs)
        numbers = (own.numbers(name, each, *given) for name, each in functions.items())
        return (*sums, *map(tf.reduce_sum, numbers))

    def metrics(self, sums: Sequence[float], examples: int) -> Metrics:
        """Means over the examples; one that is no number is left out."""
        first = sums[: self._first]
        found = Metrics(loss=first[0] / examples)
        if self._plain is not None:
            found = self._plain.metrics(first, examples)
        means = zip(self._own.metrics, sums[self._first :], strict=True)
        return found.model_copy(
            update={name: total / examples for name, total in means if math.isfinite(total)}
        )


def labels_given(labels: tf.Tensor, data: DataSet) -> Given:
    """Labels as the person's functions get them, the same on every device.

    Args:
        labels: Class numbers, or numbers; or raw examples where each is its own label; or rows of
            the labels of several outputs.
        data: Knows what they are.
    """
    unit = inputs_unit(data)
    if unit is not None:
        return tf.cast(labels, tf.float32) * unit
    if data.outputs:
        return labels_apart(labels, data.outputs)
    return tf.cast(labels, tf.int64) if labels.dtype.is_integer else labels


def check_own_measures(own: OwnMeasures, built: BuiltModel, few: Examples) -> None:
    """Try loss and metrics of the person's own on some examples, before anything is learned.

    Args:
        own: Of their file.
        built: The model.
        few: Some examples.

    Raises:
        ProblemError: A function gives no number for each example, or others among others.
        Exception: Whatever the person's code raises.
    """
    if own.loss is None and not own.metrics:
        return
    features, data = few.read_all(), built.building.data
    labels = labels_given(tf.constant(features if data.learns_inputs else few.labels), data)
    check_by_example(own, labels, built.plain()(built.given(features), training=False))


def check_by_example(own: OwnMeasures, labels: Given, outputs: Given) -> None:
    """Refuse what does not measure each example by itself: another split would be another sum.

    Args:
        own: Of the file.
        labels: Of some examples, as the functions are given them.
        outputs: Of the model, as it is saved.

    Raises:
        ProblemError: It gives no number for each example, or others among others.
        Exception: Whatever the person's code raises.
    """
    functions = {} if own.loss is None else {"loss": own.loss}
    for name, function in {**functions, **own.metrics}.items():
        alone = [
            _tried(own, name, function, _some(labels, [row]), _some(outputs, [row]))
            for row in range(count_of(labels) or 0)
        ]
        for count in _TRIED:
            rows = [place % len(alone) for place in range(count)]
            given = _some(labels, rows), _some(outputs, rows)
            together = _tried(own, name, function, *given)
            apart = np.concatenate([alone[row] for row in rows])
            largest = max(float(np.abs(apart).max(initial=0.0)), 1e-6)
            if not np.allclose(together, apart, 0.0, _ALIKE * largest, equal_nan=True):
                raise own.refusal(
                    f"{name} of {own.file} gives {_shown(apart)} for {count} examples one by "
                    f"one, and {_shown(together)} for them together, labels {shapes_of(given[0])} "
                    f"and outputs {shapes_of(given[1])}: the number of an example depends on the "
                    "others, and would be another one for each split of a batch."
                )


def _tried(
    own: OwnMeasures, name: str, function: OwnFunction, labels: Given, outputs: Given
) -> Array:
    numbers = own.numbers(name, function, labels, outputs)
    if numbers.shape[0] != count_of(labels):
        raise own.misfit(name, f"{shapes_of(numbers)} numbers", labels, outputs)
    return np.asarray(numbers)


def _some(given: Given, rows: Sequence[int]) -> Given:
    """What was given of some of the examples."""
    if isinstance(given, dict):
        return {name: tf.gather(each, rows) for name, each in given.items()}
    return tf.gather(given, rows)


def _shown(numbers: Array) -> str:
    return ", ".join(f"{number:.4g}" for number in numbers.tolist())
