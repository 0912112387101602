"""How many examples reach which probability of a class: exact, whatever parts they come in."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gpupanel.files.score_counts_file import MOST_SCORED, STEPS, THRESHOLDS, Counts, ScoreCounts
from gpupanel.trainer.parts.output_meaning import Floats

_BINS = STEPS + 1
_NEXT = np.append(THRESHOLDS[1:], np.float32(np.inf))


@dataclass(frozen=True, slots=True, eq=False)
class ScoredPart:
    """What is counted of one part.

    Attributes:
        places: Where a score that reaches the first threshold above 0 is counted; most scores of
            many classes do not.
        own: How many examples are of each class.
        examples: How many there are.
    """

    places: npt.NDArray[np.int64]
    own: Counts
    examples: int


class CountedScores:
    """Counts for each class, between two thresholds each, of its own and of other examples.

    Args:
        classes: Or labels; of very many the first are counted. None: nothing is.
    """

    def __init__(self, classes: int) -> None:
        self._classes = min(classes, MOST_SCORED)
        self._counts = np.zeros(2 * self._classes * _BINS, np.int64)
        self._own = np.zeros(self._classes, np.int64)
        self._examples = 0

    def of_classes(self, probabilities: Floats, true: npt.NDArray[np.int64]) -> ScoredPart:
        """Of examples that are of one class each.

        Args:
            probabilities: Shape [examples, classes].
            true: The class of each, shape [examples].
        """
        rows, columns, bins = self._reached(probabilities)
        own = np.bincount(true, minlength=self._classes)[: self._classes]
        return ScoredPart(self._places(true[rows] == columns, columns, bins), own, len(true))

    def of_labels(self, probabilities: Floats, has: npt.NDArray[np.bool_]) -> ScoredPart:
        """Of examples that may have several labels.

        Args:
            probabilities: Shape [examples, labels].
            has: Which labels each has, likewise.
        """
        rows, columns, bins = self._reached(probabilities)
        own = has[:, : self._classes].sum(axis=0, dtype=np.int64)
        return ScoredPart(self._places(has[rows, columns], columns, bins), own, len(has))

    def add(self, part: ScoredPart) -> None:
        """Count a part."""
        np.add.at(self._counts, part.places, 1)
        self._own += part.own
        self._examples += part.examples

    @property
    def counts(self) -> ScoreCounts | None:
        """All that was counted; ``None``: there are no classes."""
        if not self._classes:
            return None
        own, other = self._counts.reshape(2, self._classes, _BINS).copy()
        # What reaches no threshold above 0 is the rest.
        own[:, 0] = self._own - own[:, 1:].sum(axis=1)
        other[:, 0] = self._examples - self._own - other[:, 1:].sum(axis=1)
        return ScoreCounts(own, other)

    def _reached(
        self, probabilities: Floats
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Row, column and highest threshold of each score that reaches one above 0."""
        scores = probabilities[:, : self._classes].astype(np.float32, copy=False)
        flat = scores.ravel()
        reached = np.flatnonzero(flat >= THRESHOLDS[1])
        rows, columns = np.divmod(reached, self._classes)
        return rows, columns, _bins(flat[reached])

    def _places(
        self,
        is_own: npt.NDArray[np.bool_],
        columns: npt.NDArray[np.int64],
        bins: npt.NDArray[np.int64],
    ) -> npt.NDArray[np.int64]:
        return (np.where(is_own, 0, self._classes) + columns) * _BINS + bins


def _bins(scores: Floats) -> npt.NDArray[np.int64]:
    found = np.minimum(scores, np.float32(1.0)) * np.float32(STEPS)
    places = found.astype(np.int64)
    # A product is rounded: the place next to it may be the right one.
    places -= scores < THRESHOLDS[places]
    return places + (scores >= _NEXT[places])
