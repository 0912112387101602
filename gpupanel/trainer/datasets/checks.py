"""What features must be before they are trained on; each mistake is a problem of its own.

Checks run in NumPy, before TensorFlow is there, and name the file or set and the array in it.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from gpupanel.domain.data_source import DataCache
from gpupanel.domain.problem import Fix, Problem, ProblemError
from gpupanel.trainer.datasets.examples import Array, Features, Indices, read_features

NUMBER_KINDS = "buif"
"""Kinds of NumPy types that a model can learn from."""
_PART_BYTES = 8 * 2**20
_PART_OF_MEMORY = 2
"""Examples that take more than this part of what is free stay on disk: a training needs memory for
more than them, which are there once."""


_EXACT_BITS = 24
"""Of a whole number, in a float of 32 bits."""


@dataclass(frozen=True, slots=True)
class ArrayName:
    """Where an array comes from, for the words of a problem.

    Attributes:
        source: The file or data set.
        name: The array in it.
        field: The profile key that names it.
        noun: What it is called there.
    """

    source: str
    name: str
    field: str = "data.source"
    noun: str = "Array"

    @override
    def __str__(self) -> str:
        return f'{self.noun} "{self.name}" in {self.source}'

    def problem(self, code: str, message: str, hint: str, fix: Fix | None = None) -> ProblemError:
        """A problem with this array."""
        field = self.field
        return ProblemError(Problem(code=code, field=field, message=message, hint=hint, fix=fix))


def checked_features(features: Array, name: ArrayName) -> Array:
    """The features as ``uint8`` (kept: pixels and counts) or ``float32``.

    Raises:
        ProblemError: They are no numbers, none, or not all finite.
    """
    _check_form(features.shape, features.dtype, name)
    if features.ndim == 1:
        features = features[:, np.newaxis]
    if features.dtype == np.uint8:
        return features
    is_kept = features.dtype == np.float32 and features.flags.c_contiguous
    at_once = rows_at_once(features.shape, features.dtype)
    parts = (features[row : row + at_once] for row in range(0, len(features), at_once))
    return _converted(features if is_kept else np.empty(features.shape, np.float32), parts, name)


def checked_parts(
    shape: tuple[int, ...],
    dtype: np.dtype[np.generic],
    parts: Iterable[Array],
    name: ArrayName,
) -> Array:
    """As :func:`checked_features`, of what is read part by part: it is never there twice.

    Args:
        shape: Of all of it.
        dtype: Of the numbers that are read.
        parts: Rows of it, in order.
        name: For the words.

    Raises:
        ProblemError: They are no numbers, none, or not all finite.
    """
    _check_form(shape, dtype, name)
    kept = np.uint8 if dtype == np.uint8 else np.float32
    found = np.empty(shape if len(shape) > 1 else (*shape, 1), kept)
    return _converted(found, (part.reshape(-1, *found.shape[1:]) for part in parts), name)


def rows_at_once(shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> int:
    """How many rows of an array of that shape are one part of it."""
    row_bytes = math.prod(shape[1:]) * dtype.itemsize
    return max(1, _PART_BYTES // max(1, row_bytes))


def _check_form(shape: tuple[int, ...], dtype: np.dtype[np.generic], name: ArrayName) -> None:
    if dtype.kind not in NUMBER_KINDS:
        raise name.problem(
            "data_features_not_numbers",
            f"{name} holds {dtype} values, but a model learns from numbers.",
            "Convert them to numbers and save the array again.",
        )
    if not shape or 0 in shape:
        raise name.problem(
            "data_empty",
            f"{name} is empty: its shape is {shape}.",
            "Choose a file with at least one example.",
        )


def _converted(found: Array, parts: Iterable[Array], name: ArrayName) -> Array:
    """The parts one after the other in ``found``, where they may be already.

    Raises:
        ProblemError: They are not all finite.
    """
    bad_examples, first, value, row = 0, 0, None, 0
    for part in parts:
        rows = found[row : row + len(part)]
        with np.errstate(over="ignore"):
            np.copyto(rows, part, casting="unsafe")
        row += len(part)
        if found.dtype == np.uint8:
            continue
        finite = np.isfinite(rows).reshape(len(rows), -1)
        bad = np.flatnonzero(~finite.all(axis=1))
        if len(bad) and not bad_examples:
            first = row - len(part) + int(bad[0])
            value = part[bad[0]].ravel()[int(np.argmin(finite[bad[0]]))]
        bad_examples += len(bad)
    if not bad_examples:
        return found
    raise name.problem(
        "data_features_not_finite",
        f"{name} holds NaN or infinite values in {bad_examples:,} of {len(found):,} examples, "
        f"first {value} in example {first:,}.",
        "Replace or remove these examples; training on them makes every weight NaN.",
    )


def checked_rows(values: Array, indices: Indices, name: ArrayName) -> Array:
    """Some examples of an array that stays elsewhere, as ``uint8`` (kept) or ``float32``.

    Args:
        values: Numbers.
        indices: Which examples of the array they are, for the words.
        name: The array.

    Raises:
        ProblemError: They are not all finite.
    """
    if values.dtype == np.uint8:
        return values
    with np.errstate(over="ignore"):
        converted = np.ascontiguousarray(values, np.float32)
    finite = np.isfinite(converted)
    if finite.all():
        return converted
    row = int(np.argmin(finite.reshape(len(finite), -1).all(axis=1)))
    value = values[row].ravel()[int(np.argmin(finite[row].ravel()))]
    raise name.problem(
        "data_features_not_finite",
        f"{name} holds NaN or infinite values, such as {value} in example {int(indices[row]):,}.",
        "Replace or remove these examples; training on them makes every weight NaN.",
    )


def stays_on_disk(shape: tuple[int, ...], dtype: np.dtype[np.generic], cache: DataCache) -> bool:
    """Whether examples that can be read one by one are not held in memory.

    Args:
        shape: Examples first.
        dtype: Of their numbers.
        cache: Where they are to be kept.
    """
    import psutil  # not loaded where nothing is read from a file

    width = 1 if dtype == np.uint8 else np.dtype(np.float32).itemsize
    size_bytes = math.prod(shape) * width
    is_large = size_bytes > psutil.virtual_memory().available // _PART_OF_MEMORY
    return cache is not DataCache.MEMORY or is_large


def check_exact(features: Features, dtype: np.dtype[np.generic], name: ArrayName) -> None:
    """Refuse whole numbers that floats of 32 bits do not hold: those of things would be others.

    Args:
        features: As they were read.
        dtype: What they were before.
        name: For the words.

    Raises:
        ProblemError: There are such.
    """
    if dtype.kind not in "iu" or dtype.itemsize * 8 <= _EXACT_BITS:
        return
    at_once, count = rows_at_once(tuple(features.shape), features.dtype), features.shape[0]
    for first in range(0, count, at_once):
        indices = np.arange(first, min(first + at_once, count), dtype=np.int32)
        values = read_features(features, indices)
        odd = values[np.abs(values) >= 2**_EXACT_BITS]
        if len(odd):
            raise name.problem(
                "data_numbers_not_exact",
                f"{name} holds whole numbers of {2**_EXACT_BITS:,} and more, such as "
                f"{odd[0]:,.0f}, and a model takes 32-bit floats, which are not exact there.",
                "Number things from 0 on; or save amounts as floats, where this does not matter.",
            )


def check_lengths(
    features: Features, others: Features, of: ArrayName, other: ArrayName, noun: str = "labels"
) -> None:
    """Refuse arrays of different numbers.

    Args:
        features: One of the arrays.
        others: Another one.
        of: The name of the first.
        other: That of the other.
        noun: What the other holds.

    Raises:
        ProblemError: They differ.
    """
    count, there = features.shape[0], others.shape[0]
    if count != there:
        raise other.problem(
            "data_lengths_differ",
            f'{of} has {count:,} examples, but "{other.name}" has {there:,} {noun}.',
            "Save both arrays from the same examples.",
        )
