"""What labels are, and what they must be before they are trained on.

Each mistake is a problem of its own, as in :mod:`gpupanel.trainer.datasets.checks`.
"""

from dataclasses import dataclass

import numpy as np

from gpupanel.domain.data import MOST_CLASSES, Target
from gpupanel.domain.problem import ProblemError
from gpupanel.trainer.datasets.checks import NUMBER_KINDS, ArrayName
from gpupanel.trainer.datasets.examples import Array

_GREATEST_CLASS = 2**31 - 1
"""Class numbers are held as ``int32``."""
_MOST_OUTPUTS = MOST_CLASSES
"""Values or labels an example."""


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """Labels as they are trained on.

    Attributes:
        array: As :class:`~gpupanel.trainer.datasets.examples.Examples` has them.
        target: What they are.
        outputs: How many classes or labels there are, at least; 0 where values are predicted.
        names: Of the classes, where the labels are text.
        are_arrays: Of such labels each example has an array, with one at each place.
    """

    array: Array
    target: Target
    outputs: int
    names: tuple[str, ...] = ()
    are_arrays: bool = False


def checked_labels(
    raw: Array,
    name: ArrayName,
    target: Target | None,
    class_count: int | None = None,
    *,
    must_differ: bool = True,
) -> Labels:
    """Labels of any kind.

    Args:
        raw: Shape [examples] or [examples, outputs].
        name: Where they come from.
        target: What they are; ``None``: classes where these are counted, else see
            :func:`detected_target`.
        class_count: How many classes or labels there are; ``None``: as the labels show.
        must_differ: Refuse classes that are all the same: nothing can be learned from them.

    Raises:
        ProblemError: They are no labels of that kind.
    """
    raw = _number_or_row_each(raw, name)
    if target is None and class_count is not None:
        target = Target.CLASSES  # who counts them says what they are
    match target or detected_target(raw):
        case Target.VALUES:
            return Labels(checked_values(raw, name), Target.VALUES, 0)
        case Target.LABELS:
            array = _checked_several(raw, name, class_count)
            return Labels(array, Target.LABELS, array.shape[1])
    if raw.ndim == 2 and _is_one_hot(raw):
        class_count = class_count or raw.shape[1]
        raw = raw.argmax(axis=1)
    array = checked_classes(raw, name, class_count, must_differ=must_differ)
    return Labels(array, Target.CLASSES, class_count or int(array.max()) + 1)


def detected_target(labels: Array) -> Target:
    """What labels are, by what they hold.

    Whole numbers are classes; as floats only where each class from 0 on occurs, since prices and
    years are whole numbers, too. Rows of 0 and 1 are classes where each has a single 1, else
    several labels. All other numbers are values.

    Args:
        labels: Shape [examples] or [examples, outputs].
    """
    if labels.ndim == 2:
        if not are_zeros_and_ones(labels):
            return Target.VALUES
        return Target.CLASSES if _is_one_hot(labels) else Target.LABELS
    if labels.dtype.kind == "f":
        return Target.CLASSES if _are_all_classes(labels) else Target.VALUES
    return Target.CLASSES


def _are_all_classes(labels: Array) -> bool:
    if not np.isfinite(labels).all() or not np.array_equal(labels, np.floor(labels)):
        return False
    different = np.unique(labels)
    return bool(different[0] == 0 and different[-1] == len(different) - 1)


def are_zeros_and_ones(labels: Array) -> bool:
    """Whether they are true or not, each of them."""
    if labels.dtype.kind not in NUMBER_KINDS:
        return False
    return bool(((labels == 0) | (labels == 1)).all())


def _is_one_hot(labels: Array) -> bool:
    return are_zeros_and_ones(labels) and bool((np.count_nonzero(labels, axis=1) == 1).all())


def _checked_several(raw: Array, name: ArrayName, label_count: int | None) -> Array:
    rows = raw[:, np.newaxis] if raw.ndim == 1 else raw
    if not are_zeros_and_ones(rows):
        raise name.problem(
            "data_labels_not_zero_or_one",
            f"{name} holds other values than 0 and 1, but each of several labels is true or not.",
            'Save a column of 0 and 1 for each label; or set data.predicts to "classes" or '
            '"values".',
        )
    if label_count not in (None, rows.shape[1]):
        raise name.problem(
            "data_labels_out_of_range",
            f"{name} has {rows.shape[1]:,} columns, but there are {label_count:,} labels.",
            "Give one column for each label; data.class_count can be left out.",
        )
    return rows.astype(np.float32)


def checked_classes(
    labels: Array, name: ArrayName, class_count: int | None, *, must_differ: bool = True
) -> Array:
    """Labels as ``int32`` class numbers from 0.

    Args:
        labels: One an example; a trailing axis of length 1 is dropped.
        name: Where they come from.
        class_count: How many classes there are; ``None``: the greatest label plus one.
        must_differ: Refuse labels that are all the same: nothing can be learned from them.

    Raises:
        ProblemError: They are no class numbers, or all the same.
    """
    labels = _number_or_row_each(labels, name)
    if labels.ndim != 1:
        raise name.problem(
            "data_labels_not_one_each",
            f"{name} has the shape {labels.shape}, but a class is one number for each example, or "
            "a row with a single 1.",
            'Save class numbers; or set data.predicts to "labels" for rows of 0 and 1, and to '
            '"values" for other numbers.',
        )
    if labels.dtype.kind not in NUMBER_KINDS:
        raise _not_integer(name, f"{labels.dtype} values")
    if labels.dtype.kind == "f":
        odd = np.flatnonzero(~(np.isfinite(labels) & (labels == np.floor(labels))))
        if len(odd):
            raise _not_integer(name, f"{labels[odd[0]]} in example {odd[0]:,}")
    # As the array holds them: as integers of another size the greatest would be others.
    least, greatest = int(labels.min()), int(labels.max())
    if least < 0:
        where = int(np.argmax(np.less(labels, 0)))
        raise name.problem(
            "data_labels_negative",
            f"{name} holds the negative label {_shown(labels[where])}, first in example {where:,}.",
            "Number the classes from 0.",
        )
    _check_greatest(labels, class_count, name)
    if must_differ and least == greatest:
        raise name.problem(
            "data_one_class",
            f"{name} holds one class only ({least}), so there is nothing to distinguish.",
            "Use data with examples of two classes or more.",
        )
    return labels.astype(np.int32)


def _check_greatest(labels: Array, class_count: int | None, name: ArrayName) -> None:
    greatest, shown = int(labels.max()), _shown(labels.max())
    if class_count is not None and greatest >= class_count:
        raise name.problem(
            "data_labels_out_of_range",
            f"{name} holds the label {shown}, but with {class_count:,} classes labels go from 0 "
            f"to {class_count - 1}; the first outside is in example "
            f"{int(np.argmax(np.greater_equal(labels, class_count))):,}.",
            "Correct the labels, or set data.class_count to the number of classes.",
        )
    if greatest > _GREATEST_CLASS:
        raise name.problem(
            "data_labels_out_of_range",
            f"{name} holds the label {shown}, and class numbers go to {_GREATEST_CLASS:,} at most.",
            "Number the classes from 0 without gaps.",
        )
    # Without a count the greatest label decides how many outputs the model gets: a stray one
    # (an identifier taken for a class) would ask for gigabytes.
    if class_count is None and greatest >= min(MOST_CLASSES, max(1000, len(labels))):
        raise name.problem(
            "data_labels_out_of_range",
            f"{name} holds the label {shown}, which would mean {greatest + 1:,} classes for "
            f"{len(labels):,} examples.",
            "Number the classes from 0 without gaps, or set data.class_count.",
        )


def checked_values(labels: Array, name: ArrayName, *, are_arrays: bool = False) -> Array:
    """Labels as ``float32`` values to be predicted.

    Args:
        labels: One number, or a row of them, an example.
        name: Where they come from.
        are_arrays: They are arrays of any shape, one an example.

    Raises:
        ProblemError: They are no finite numbers.
    """
    if not are_arrays:
        labels = _number_or_row_each(labels, name)
    if labels.dtype.kind not in NUMBER_KINDS:
        raise name.problem(
            "data_labels_not_finite",
            f"{name} holds {labels.dtype} values, which are not numbers.",
            "Save the values as numbers.",
        )
    with np.errstate(over="ignore"):
        values = labels.astype(np.float32)
    odd = np.argwhere(~np.isfinite(values))
    if len(odd):
        first = tuple(odd[0])
        raise name.problem(
            "data_labels_not_finite",
            f"{name} holds {labels[first]} in example {first[0]:,}, which is not a finite number "
            "of 32 bits.",
            "Replace or remove these examples.",
        )
    return values


def _number_or_row_each(labels: Array, name: ArrayName) -> Array:
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim not in (1, 2):
        raise name.problem(
            "data_labels_not_one_each",
            f"{name} has the shape {labels.shape}, but labels must be one number, or a row of "
            "numbers, for each example.",
            "Save class numbers, or a row of labels or values for each example.",
        )
    if labels.size == 0:
        raise name.problem(
            "data_empty", f"{name} is empty.", "Choose a file with at least one example."
        )
    if labels.ndim == 2 and labels.shape[1] > _MOST_OUTPUTS:
        raise name.problem(
            "data_labels_out_of_range",
            f"{name} has {labels.shape[1]:,} columns, and a model gives at most {_MOST_OUTPUTS:,} "
            "numbers for each example.",
            "Choose the array of labels; this one looks like examples.",
        )
    return labels


def _shown(label: np.generic) -> str:
    """A whole number as people write it: a float of a great one has digits that nobody wrote."""
    value = label.item()
    return f"{value:g}" if isinstance(value, float) and abs(value) >= 2**53 else f"{int(value)}"


def _not_integer(name: ArrayName, what: str) -> ProblemError:
    return name.problem(
        "data_labels_not_integer",
        f"{name} holds {what}, but class labels must be whole numbers.",
        "Number the classes 0, 1, 2, ... and save the labels as integers.",
    )
