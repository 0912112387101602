"""What another threshold than the model's own would take for a class, and how well."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gpupanel.domain.confusion import ClassMetrics
from gpupanel.domain.events import EvaluationDone
from gpupanel.domain.problem import Problem
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.score_counts_file import STEPS, ScoreCounts, read_score_counts
from gpupanel.runs.following.confusion_matrix import ConfusionMatrix, unread

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ThresholdCurves:
    """How well a class is recognised, threshold by threshold; ``None``: nothing reaches it.

    Attributes:
        precision: For each place from 0 to :data:`STEPS`.
        recall: Likewise; ``None`` everywhere where the class has no examples.
    """

    precision: tuple[float | None, ...]
    recall: tuple[float | None, ...]


@dataclass(frozen=True)
class Thresholds:
    """One class against all others, at thresholds from 0 to 1 in thousandths, called places.

    An example is taken for the class where its probability of it reaches the threshold. The counts
    are exact, and of all examples.

    Attributes:
        names: Of the classes that were counted: of very many the first.
        counts: Of these classes, in the same order.
        class_count: How many there are in all.
    """

    names: tuple[str, ...]
    counts: ScoreCounts
    class_count: int

    @property
    def examples(self) -> int:
        """How many there are of all classes."""
        return int(self.counts.own[0].sum() + self.counts.other[0].sum())

    def at(self, number: int, place: int) -> ClassMetrics:
        """How well a class is recognised.

        Args:
            number: Of the class.
            place: The threshold in thousandths.
        """
        return ClassMetrics(
            name=self.names[number],
            examples=int(self._right[number, 0]),
            predicted=int(self._predicted[number, place]),
            right=int(self._right[number, place]),
        )

    def matrix(self, number: int, place: int) -> ConfusionMatrix:
        """What is taken for a class and what is not: two rows and columns, the class first."""
        found = self.at(number, place)
        missed, wrongly = found.examples - found.right, found.predicted - found.right
        others = self.examples - found.examples - wrongly
        names = (found.name, f"not {found.name}")
        return ConfusionMatrix.of_counts(((found.right, missed), (wrongly, others)), names)

    def prepare(self) -> None:
        """Work out what is asked for later: whoever draws it cannot wait for that."""
        _ = self._predicted

    def curves(self, number: int) -> ThresholdCurves:
        """The same of a class at all thresholds."""
        every = [self.at(number, place) for place in range(STEPS + 1)]
        return ThresholdCurves(
            tuple(each.precision for each in every), tuple(each.recall for each in every)
        )

    def most_f1(self, number: int) -> int | None:
        """The place with the greatest F1; of equal ones that follow each other the middle.

        ``None``: the class has no examples.
        """
        both = self._right[number, 0] + self._predicted[number]
        f1 = np.divide(2 * self._right[number], both, where=both > 0, out=np.zeros(STEPS + 1))
        if not f1.max():
            return None
        best = np.flatnonzero(f1 == f1.max())
        apart = np.flatnonzero(np.diff(best) > 1)
        last = int(apart[0]) if len(apart) else len(best) - 1
        return int(best[0] + best[last]) // 2

    @cached_property
    def _right(self) -> Counts:
        """Examples of each class that reach each threshold."""
        return _reaching(self.counts.own)

    @cached_property
    def _predicted(self) -> Counts:
        """Examples of any class that do."""
        return self._right + _reaching(self.counts.other)


def _reaching(counts: Counts) -> Counts:
    return counts[:, ::-1].cumsum(axis=1)[:, ::-1]


def thresholds_of(counts: ScoreCounts, classes: Sequence[ClassMetrics]) -> Thresholds:
    """Those of an evaluation.

    Args:
        counts: Of its first classes.
        classes: All of them, with what else is known of each.

    Raises:
        ValueError: They are not of the same examples.
    """
    counted = classes[: len(counts.own)]
    if counts.own.sum(axis=1).tolist() != [each.examples for each in counted]:
        raise ValueError("the classes have other numbers of examples than thresholds count")
    return Thresholds(tuple(each.name for each in counted), counts, len(classes))


def read_thresholds(
    layout: RunLayout, found: EvaluationDone, classes: Sequence[ClassMetrics]
) -> Thresholds | Problem | None:
    """The thresholds of an evaluation of classes, or of several labels at once.

    Args:
        layout: Of the run.
        found: What the run said of it.
        classes: Of each class what else is known of it.

    Returns:
        ``None`` where there are no classes, and where an earlier version counted none; the problem
        where they cannot be read.
    """
    if not (found.confusion_file or found.labels_file) or not classes:
        return None
    try:
        # Named by the event, but not believed: nothing but this file of the run is opened.
        counts = read_score_counts(layout.confusion)
        return None if counts is None else thresholds_of(counts, classes)
    except (OSError, ValueError) as error:
        return unread(layout, "What other thresholds come to", "threshold", error)
