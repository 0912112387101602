"""Mean and standard deviation of columns of numbers."""

import math
from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

NUMBERS_AT_ONCE = 2**18


class Statistics(NamedTuple):
    """Of each column.

    Attributes:
        mean: One a column.
        deviation: The standard deviation; 1 where all values are the same.
    """

    mean: npt.NDArray[np.float32]
    deviation: npt.NDArray[np.float32]


class NumberRows(Protocol):
    """Rows of numbers, such as an array."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows first."""

    def __getitem__(self, rows: slice) -> npt.NDArray[np.generic]: ...


def statistics(values: NumberRows) -> Statistics:
    """Statistics over the first axis, summed in double precision, some rows at a time."""
    count = values.shape[0]
    # Twice over them: a sum of squares alone would lose what the mean is large against.
    mean = sum(part.sum(axis=0) for part in parts_of(values)) / count
    squares = sum(np.square(part - mean).sum(axis=0) for part in parts_of(values))
    deviation = np.sqrt(squares / count)
    return Statistics(
        mean=np.asarray(mean, np.float32),
        deviation=np.asarray(np.where(deviation > 0.0, deviation, 1.0), np.float32),
    )


def parts_of(values: NumberRows) -> Iterator[npt.NDArray[np.float64]]:
    """Some rows at a time, in double precision."""
    count, *others = values.shape
    rows = max(1, NUMBERS_AT_ONCE // max(1, math.prod(others)))
    for start in range(0, count, rows):
        yield np.asarray(values[start : start + rows], np.float64)
