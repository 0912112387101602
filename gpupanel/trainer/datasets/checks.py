"""What examples must be before they are trained on; each mistake is a problem of its own.

Checks run in NumPy, before TensorFlow is there, and name the file or set and the array in it.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from gpupanel.domain.data import MOST_CLASSES
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.datasets.examples import Array

_NUMBER_KINDS = "buif"
_CHUNK = 65_536
_GREATEST_CLASS = 2**31 - 1
"""Class numbers are held as ``int32``."""


@dataclass(frozen=True, slots=True)
class ArrayName:
    """Where an array comes from, for the words of a problem.

    Attributes:
        source: The file or data set.
        name: The array in it.
        field: The profile key that names it.
    """

    source: str
    name: str
    field: str = "data.source"

    @override
    def __str__(self) -> str:
        return f'Array "{self.name}" in {self.source}'

    def problem(self, code: str, message: str, hint: str) -> ProblemError:
        """A problem with this array."""
        return ProblemError(Problem(code=code, field=self.field, message=message, hint=hint))


def checked_features(features: Array, name: ArrayName) -> Array:
    """The features as ``uint8`` (kept: pixels and counts) or ``float32``.

    Raises:
        ProblemError: They are no numbers, none, or not all finite.
    """
    if features.dtype.kind not in _NUMBER_KINDS:
        raise name.problem(
            "data_features_not_numbers",
            f"{name} holds {features.dtype} values, and a model learns from numbers.",
            "Turn them into numbers and save the array again.",
        )
    if features.ndim == 0 or features.size == 0:
        raise name.problem(
            "data_empty",
            f"{name} is empty: its shape is {features.shape}.",
            "Choose a file with at least one example.",
        )
    if features.ndim == 1:
        features = features[:, np.newaxis]
    if features.dtype == np.uint8:
        return features
    with np.errstate(over="ignore"):
        converted = features.astype(np.float32, copy=False)
    _check_finite(features, converted, name)
    return np.ascontiguousarray(converted)


def _check_finite(raw: Array, converted: npt.NDArray[np.float32], name: ArrayName) -> None:
    bad_examples, first = 0, None
    for start in range(0, len(converted), _CHUNK):
        finite = np.isfinite(converted[start : start + _CHUNK])
        bad = ~finite.reshape(len(finite), -1).all(axis=1)
        if first is None and bad.any():
            first = start + int(np.argmax(bad))
        bad_examples += int(bad.sum())
    if first is None:
        return
    values = raw[first].ravel()
    value = values[np.argmin(np.isfinite(converted[first].ravel()))]
    raise name.problem(
        "data_features_not_finite",
        f"{name} holds NaN or infinite values in {bad_examples:,} of {len(raw):,} examples, "
        f"first {value} in example {first}.",
        "Replace or remove these examples; training on them turns every weight into NaN.",
    )


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
    labels = _one_per_example(labels, name)
    if labels.dtype.kind not in _NUMBER_KINDS:
        raise _not_integer(name, f"{labels.dtype} values")
    if labels.dtype.kind == "f":
        odd = np.flatnonzero(~(np.isfinite(labels) & (labels == np.floor(labels))))
        if len(odd):
            raise _not_integer(name, f"{labels[odd[0]]} in example {odd[0]}")
    # As the array holds them: as integers of another size the greatest would be others.
    least, greatest = int(labels.min()), int(labels.max())
    if least < 0:
        where = int(np.argmax(np.less(labels, 0)))
        raise name.problem(
            "data_labels_negative",
            f"{name} holds the negative label {_shown(labels[where])}, first in example {where}.",
            "Number the classes from 0.",
        )
    _check_greatest(labels, class_count, name)
    if must_differ and least == greatest:
        raise name.problem(
            "data_one_class",
            f"{name} holds one class only ({least}), so there is nothing to tell apart.",
            "Use data with examples of two classes or more.",
        )
    return labels.astype(np.int32)


def _check_greatest(labels: Array, class_count: int | None, name: ArrayName) -> None:
    greatest, shown = int(labels.max()), _shown(labels.max())
    if class_count is not None and greatest >= class_count:
        raise name.problem(
            "data_labels_out_of_range",
            f"{name} holds the label {shown}, but with {class_count} classes labels go from 0 "
            f"to {class_count - 1}; the first outside is in example "
            f"{int(np.argmax(np.greater_equal(labels, class_count)))}.",
            "Mend the labels, or set data.class_count to the number of classes.",
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
            f"{name} holds the label {shown}, which would make {greatest + 1:,} classes of "
            f"{len(labels):,} examples.",
            "Number the classes from 0 without gaps, or set data.class_count.",
        )


def checked_values(labels: Array, name: ArrayName) -> Array:
    """Labels as ``float32`` values to be predicted.

    Raises:
        ProblemError: They are not one finite number an example.
    """
    labels = _one_per_example(labels, name)
    if labels.dtype.kind not in _NUMBER_KINDS:
        raise name.problem(
            "data_labels_not_finite",
            f"{name} holds {labels.dtype} values, which are no numbers.",
            "Save the values as numbers.",
        )
    with np.errstate(over="ignore"):
        values = labels.astype(np.float32)
    odd = np.flatnonzero(~np.isfinite(values))
    if len(odd):
        raise name.problem(
            "data_labels_not_finite",
            f"{name} holds {labels[odd[0]]} in example {odd[0]}, which is no finite number of 32 "
            "bits.",
            "Replace or remove these examples.",
        )
    return values


def check_lengths(features: Array, labels: Array, of: ArrayName, other: ArrayName) -> None:
    """Refuse features and labels of different numbers.

    Raises:
        ProblemError: They differ.
    """
    if len(features) != len(labels):
        raise other.problem(
            "data_lengths_differ",
            f'{of} has {len(features):,} examples, but "{other.name}" has {len(labels):,} labels.',
            "Save both arrays from the same examples.",
        )


def _one_per_example(labels: Array, name: ArrayName) -> Array:
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise name.problem(
            "data_labels_not_one_each",
            f"{name} has the shape {labels.shape}, but labels must be one number an example.",
            "Save class numbers; numpy.argmax(labels, axis=1) turns one-hot rows into them.",
        )
    if len(labels) == 0:
        raise name.problem(
            "data_empty", f"{name} is empty.", "Choose a file with at least one example."
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
