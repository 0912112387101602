"""The examples with the largest errors, of several labels or of values."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gpupanel.files.worst_file import most_worst
from gpupanel.trainer.parts.output_meaning import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Errors:
    """Those of some examples, the largest of a part.

    Attributes:
        rows: Their rows among all that are evaluated.
        errors: Of each: its loss, or of values the mean absolute error.
        predicted: Shape [examples, outputs]: probabilities, or values.
    """

    rows: npt.NDArray[np.int64]
    errors: npt.NDArray[np.float64]
    predicted: Floats

    def largest(self, count: int) -> "Errors":
        """The largest of them, these first; of equal ones those that come first in the data."""
        order = np.lexsort((self.rows, -self.errors))[:count]
        return Errors(self.rows[order], self.errors[order], self.predicted[order])


def largest_errors(errors: npt.NDArray[np.generic], predicted: Floats, first: int) -> Errors:
    """Those of a part, in no order.

    Args:
        errors: Shape [examples, outputs].
        predicted: What the model gave, shape [examples, outputs].
        first: Row of the first of them.
    """
    means = errors.mean(axis=1, dtype=np.float64)
    count = most_worst(predicted.shape[1])
    rows = np.arange(len(means))
    if count < len(means):
        rows = np.argpartition(-means, count - 1)[:count]
    return Errors(rows + first, means[rows], predicted[rows])


def joined_errors(before: Errors | None, part: Errors) -> Errors:
    """The largest of what was known before and of one part more, these first."""
    count = most_worst(part.predicted.shape[1])
    if before is None:
        return part.largest(count)
    # Most parts of a long evaluation have none that is larger.
    if len(before.errors) == count and part.errors.max(initial=-np.inf) <= before.errors[-1]:
        return before
    pairs = ((getattr(before, name), getattr(part, name)) for name in _OF_ERRORS)
    return Errors(*(np.concatenate(pair) for pair in pairs)).largest(count)


_OF_ERRORS = ("rows", "errors", "predicted")
