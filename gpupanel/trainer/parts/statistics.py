"""Mean and standard deviation of columns of numbers."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Statistics(NamedTuple):
    """Of each column.

    Attributes:
        mean: One a column.
        deviation: The standard deviation; 1 where all values are the same.
    """

    mean: npt.NDArray[np.float32]
    deviation: npt.NDArray[np.float32]


def statistics(values: npt.ArrayLike) -> Statistics:
    """Statistics over the first axis, summed in double precision."""
    numbers = np.asarray(values, np.float64)
    return as_statistics(numbers.mean(axis=0), numbers.std(axis=0))


def as_statistics(mean: npt.NDArray[np.float64], deviation: npt.NDArray[np.float64]) -> Statistics:
    """Statistics in single precision, without a deviation of 0."""
    return Statistics(
        mean=np.asarray(mean, np.float32),
        deviation=np.asarray(np.where(deviation > 0.0, deviation, 1.0), np.float32),
    )
