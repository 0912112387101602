"""How far predicted values are from the true ones, as it is drawn."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from gpupanel.domain.events import EvaluationDone
from gpupanel.domain.number_text import count
from gpupanel.domain.problem import Problem
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.value_pairs_file import ValuePairs, read_value_pairs
from gpupanel.runs.following.confusion_matrix import unread

BINS: Final = 41
"""Odd, so that one of them is around no error."""
_WITHIN: Final = 0.995
"""The part of the errors whose range the histogram has; a few far ones would make it one bar."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ValueFigures:
    """True and predicted values of an evaluation.

    Attributes:
        pairs: Of all examples, or of a sample.
        examples: How many were evaluated.
    """

    pairs: ValuePairs
    examples: int

    @cached_property
    def true(self) -> Floats:
        """All true values, one after the other."""
        return self.pairs.true.astype(np.float64).reshape(-1)

    @cached_property
    def predicted(self) -> Floats:
        """The predicted ones, in the same order."""
        return self.pairs.predicted.astype(np.float64).reshape(-1)

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """The least and the greatest of all values; they differ."""
        low = float(min(self.true.min(), self.predicted.min()))
        high = float(max(self.true.max(), self.predicted.max()))
        margin = max(0.03 * (high - low), 1e-6 * max(abs(low), abs(high)), 1e-12)
        return low - margin, high + margin

    @cached_property
    def errors(self) -> tuple[tuple[int, ...], float]:
        """A histogram of the errors, predicted minus true.

        Returns:
            Counts of :data:`BINS` bins of equal width around 0, and how far the outer ends are from
            0. Errors beyond these are counted in the first and the last bin.
        """
        errors = self.predicted - self.true
        end = float(np.quantile(abs(errors), _WITHIN)) or float(abs(errors).max()) or 1.0
        counts, _ = np.histogram(errors.clip(-end, end), BINS, (-end, end))
        return tuple(counts.tolist()), end

    def prepare(self) -> None:
        """Work out what is asked for later: whoever draws it cannot wait for that."""
        _ = self.bounds, self.errors

    @property
    def words(self) -> str:
        """Of how many examples the pictures are; a sentence."""
        shown, values = self.pairs.true.shape
        of = f"{count(shown)} of {count(self.examples)} examples, chosen at random"
        which = of if shown < self.examples else f"All {count(shown)} examples"
        return f"{which}; {count(values)} values each." if values > 1 else f"{which}."


def read_values(layout: RunLayout, found: EvaluationDone) -> ValueFigures | Problem | None:
    """The values of an evaluation.

    Returns:
        ``None`` where there are none, or an earlier version wrote none; the problem where they
        cannot be read.
    """
    if not found.values_file:
        return None
    try:
        # Named by the event, but not believed: nothing but this file of the run is opened.
        return ValueFigures(read_value_pairs(layout.confusion), found.examples)
    except (OSError, ValueError) as error:
        return unread(layout, "The predicted values", "example", error)
