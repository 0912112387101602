"""Which examples of an evaluation of values are kept with what the model gave them."""

from typing import Final

import numpy as np
import numpy.typing as npt

_SEED: Final = 0
"""The same examples of the same data, so that pictures of two models can be compared."""

Rows = npt.NDArray[np.int64]


def sampled_rows(examples: int, most: int) -> Rows:
    """Rows in ascending order: all of them, or so many that are drawn evenly.

    Args:
        examples: How many there are.
        most: How many to keep.
    """
    if examples <= most:
        return np.arange(examples, dtype=np.int64)
    drawn = np.random.default_rng(_SEED).choice(examples, most, replace=False, shuffle=False)
    return np.sort(drawn).astype(np.int64)
