"""Mean and standard deviation of training data, for data of values."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gpupanel.trainer.datasets.examples import Array


@dataclass(frozen=True, slots=True, eq=False)
class Statistics:
    """Of each column.

    Attributes:
        mean: One a column.
        deviation: The standard deviation; 1 where all values are the same.
    """

    mean: npt.NDArray[np.float32]
    deviation: npt.NDArray[np.float32]


def statistics(values: Array) -> Statistics:
    """Statistics over the first axis, summed in double precision."""
    numbers = np.asarray(values, np.float64)
    deviation = numbers.std(axis=0)
    return Statistics(
        mean=np.asarray(numbers.mean(axis=0), np.float32),
        deviation=np.asarray(np.where(deviation > 0.0, deviation, 1.0), np.float32),
    )
