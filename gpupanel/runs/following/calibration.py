"""Whether a model is as often right as it is confident."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from gpupanel.domain.events import EvaluationDone
from gpupanel.domain.problem import Problem
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.confusion_file import EvaluatedExamples, read_evaluated
from gpupanel.runs.following.confusion_matrix import unread

BINS: Final = 10
MOST_EXAMPLES: Final = 5_000_000
"""Of more, whoever waits for a page would wait for their reading."""
_NOTABLE: Final = 0.01
"""Mean confidence and accuracy that differ by less are called alike."""


@dataclass(frozen=True, slots=True)
class ConfidenceBin:
    """Examples whose predicted class has a probability within a range.

    Attributes:
        low: Where the range begins; it is a tenth wide.
        examples: How many.
        confidence: The mean of these probabilities.
        accuracy: The fraction of them that is right.
    """

    low: float
    examples: int
    confidence: float
    accuracy: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """How probabilities and accuracy go together.

    Attributes:
        bins: Those that hold examples, from the least probability on.
    """

    bins: tuple[ConfidenceBin, ...]

    @property
    def error(self) -> float:
        """The expected calibration error: the mean difference of both over all examples."""
        return self._mean([abs(each.accuracy - each.confidence) for each in self.bins])

    @property
    def confidence(self) -> float:
        """The mean probability of the predicted class."""
        return self._mean([each.confidence for each in self.bins])

    @property
    def accuracy(self) -> float:
        """The fraction of all examples that is right."""
        return self._mean([each.accuracy for each in self.bins])

    @property
    def words(self) -> str:
        """How far both are apart, and which is the greater; sentences."""
        both = (
            f"mean confidence is {100.0 * self.confidence:.1f} %, accuracy "
            f"{100.0 * self.accuracy:.1f} %."
        )
        over = self.confidence - self.accuracy
        whole = f"The model is {'over' if over > 0.0 else 'under'}confident: {both}"
        return (
            f"Confidence and accuracy differ by {100.0 * self.error:.1f} percentage points on "
            "average (expected calibration error). "
            f"{whole if abs(over) >= _NOTABLE else both[:1].upper() + both[1:]}"
        )

    def _mean(self, of_bins: Sequence[float]) -> float:
        """Over all examples, of what each bin has."""
        total = sum(each.examples for each in self.bins)
        pairs = zip(self.bins, of_bins, strict=True)
        return sum(each.examples * value for each, value in pairs) / total


def calibration_of(evaluated: EvaluatedExamples) -> Calibration | None:
    """The calibration of single outcomes; ``None`` where there are none."""
    if not len(evaluated.index):
        return None
    chances = evaluated.probability.astype(np.float64).clip(0.0, 1.0)
    right = evaluated.label == evaluated.predicted
    places = (chances * BINS).astype(np.int64).clip(0, BINS - 1)
    counts, sums, hits = (
        np.bincount(places, weights, BINS).tolist() for weights in (None, chances, right)
    )
    bins = (
        ConfidenceBin(place / BINS, count, sums[place] / count, hits[place] / count)
        for place, count in enumerate(counts)
        if count
    )
    return Calibration(tuple(bins))


def read_calibration(layout: RunLayout, found: EvaluationDone) -> Calibration | Problem | None:
    """The calibration of an evaluation of classes.

    Returns:
        ``None`` where there are no classes, where an earlier version kept no outcome of single
        examples, and where there are more than :data:`MOST_EXAMPLES`; the problem where it cannot
        be read.
    """
    if not found.confusion_file or found.examples > MOST_EXAMPLES:
        return None
    try:
        evaluated, _ = read_evaluated(layout.confusion)
        return None if evaluated is None else calibration_of(evaluated)
    except (OSError, ValueError) as error:
        return unread(layout, "What became of each example", "example", error)
