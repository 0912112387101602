"""Adds up what a saved model reaches on labelled examples."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gpupanel.domain.best_epoch import MOST_AREAS
from gpupanel.domain.outcome import Metrics
from gpupanel.files.confusion_file import (
    MOST_EXAMPLES,
    ConfusionCells,
    Counts,
    EvaluatedExamples,
)
from gpupanel.files.worst_file import WorstExamples, most_worst
from gpupanel.trainer.datasets.examples import Array, Indices
from gpupanel.trainer.inference.meaning import (
    Floats,
    Meaning,
    OutputMeaning,
    label_probabilities,
    label_scores,
    scores_of,
)
from gpupanel.trainer.measures.areas import area_of
from gpupanel.trainer.measures.figures import TOP, Sums, macro_f1, mean_r2

_LEAST_WAITING = 2**16
_MOST_SCORES = 2**26
"""That are held until all examples are known, five bytes each: of more there is no AUC."""


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


@dataclass(frozen=True, slots=True, eq=False)
class EvaluatedPart:
    """What is kept of one part.

    Attributes:
        loss_sum: Cross-entropy in nats, or squared error; of several labels or values their mean.
        measure_sum: Absolute error of values, likewise; of several labels how many are right, as
            a part of them; 0 for classes.
        classes: Shape [examples, 2]: the class that an example is of, and the one that it was
            taken for; no rows for values and for several labels.
        probabilities: Likewise: of the class that it was taken for, and of its own.
        labels: Of several labels, shape [3, labels]: how many examples have each, are said to have
            it, and are rightly so.
        worst: Of several labels and of values, the examples with the largest errors.
        top_five: Of classes, how many examples are of one of the five most probable ones.
        scores: Of two classes or several labels, shape [examples, labels]: greater ones are more
            probable. Of two classes there is one, of the second.
        has: Likewise: whether the example is of that class, or has that label.
        squares: Of values, shape [3, values]: sums of squared errors, of labels as measured from
            the first one, and of their squares.
    """

    loss_sum: float
    measure_sum: float
    classes: npt.NDArray[np.int64]
    probabilities: Floats | None = None
    labels: Counts | None = None
    worst: Errors | None = None
    top_five: int = 0
    scores: Floats | None = None
    has: npt.NDArray[np.bool_] | None = None
    squares: Sums | None = None


class Evaluation:
    """Sums over examples in double precision, so that no split of the data changes them.

    Of the confusion matrix only cells that are not 0 are held: no more than there are examples,
    however many classes there are.
    """

    def __init__(self, labels: Array, reading: OutputMeaning) -> None:
        self._labels = labels
        self._reading = reading
        self._places = np.empty(0, np.int64)
        self._counts = np.empty(0, np.int64)
        self._waiting: list[npt.NDArray[np.int64]] = []
        self._waiting_examples = 0
        self._kept: list[tuple[npt.NDArray[np.int32], Floats]] = []
        self._kept_examples = 0
        self._label_counts = np.zeros((3, reading.label_count), np.int64)
        self._worst: Errors | None = None
        self._right = 0
        self._top_five = 0
        self._scores: list[tuple[Floats, npt.NDArray[np.bool_]]] = []
        self._scored = 0
        self._squares: Sums | None = None
        self._loss_sum = 0.0
        self._measure_sum = 0.0
        self._examples = 0

    def digest(self, outputs: Floats, first: int) -> EvaluatedPart:
        """Compare a part's outputs with its labels.

        Args:
            outputs: Shape [examples, outputs].
            first: Row of the first of them.
        """
        labels = self._labels[first : first + len(outputs)]
        none = np.empty((0, 2), np.int64)
        if self._reading.meaning is Meaning.VALUES:
            values = labels.reshape(outputs.shape).astype(np.float64)
            errors = outputs.astype(np.float64) - values
            from_first = values - self._labels[:1].reshape(1, -1).astype(np.float64)
            squares = np.stack([np.square(errors), from_first, np.square(from_first)])
            return EvaluatedPart(
                _sum_of_means(np.square(errors)),
                _sum_of_means(abs(errors)),
                none,
                worst=_worst(abs(errors), outputs, first),
                squares=squares.sum(axis=1),
            )
        if self._reading.of_labels:
            wanted = labels.astype(np.float32)
            logarithms = label_scores(outputs, wanted, self._reading.meaning)
            said, has = outputs > _even(self._reading.meaning), wanted > 0.5
            counts = np.stack([each.sum(axis=0) for each in (has, said, has & said)])
            return EvaluatedPart(
                -_sum_of_means(logarithms),
                _sum_of_means(said == has),
                none,
                labels=counts.astype(np.int64),
                scores=outputs if outputs.shape[1] <= MOST_AREAS else None,
                has=has,
                worst=_worst(
                    -logarithms, label_probabilities(outputs, self._reading.meaning), first
                ),
            )
        scores = scores_of(outputs, self._reading.meaning)
        true = labels.astype(np.int64)
        rows = np.arange(len(true))
        right = scores.logarithms[rows, true]
        taken_for = scores.logarithms.argmax(axis=1)
        is_of_two = scores.logarithms.shape[1] == 2
        chances = [scores.probabilities[rows, each] for each in (taken_for, true)]
        return EvaluatedPart(
            -float(right.sum(dtype=np.float64)),
            0.0,
            np.stack([true, taken_for], axis=1),
            np.stack(chances, axis=1),
            top_five=_in_top_five(scores.logarithms, true),
            scores=np.diff(scores.logarithms, axis=1) if is_of_two else None,
            has=true[:, np.newaxis] > 0 if is_of_two else None,
        )

    def add(self, examples: int, parts: list[EvaluatedPart]) -> None:
        """Add one batch."""
        self._examples += examples
        for part in parts:
            self._loss_sum += part.loss_sum
            self._measure_sum += part.measure_sum
            true, taken_for = part.classes[:, 0], part.classes[:, 1]
            self._right += int((true == taken_for).sum())
            self._waiting.append(true * self._reading.class_count + taken_for)
            self._waiting_examples += len(true)
            self._keep(part)
            self._top_five += part.top_five
            self._keep_scores(part)
            self._squares = _plus(self._squares, part.squares)
            if part.labels is not None:
                self._label_counts = self._label_counts + part.labels
            if part.worst is not None:
                self._worst = _joined(self._worst, part.worst)
        # Rarely enough that it costs the more the rarer it becomes.
        if self._waiting_examples >= max(_LEAST_WAITING, len(self._places)):
            self._count_waiting()

    def confusion(self, class_names: tuple[str, ...]) -> ConfusionCells:
        """The cells that are not 0; their rows are the classes that examples are of.

        Args:
            class_names: A name for each class.
        """
        self._count_waiting()
        rows, columns = np.divmod(self._places, max(1, self._reading.class_count))
        return ConfusionCells(rows, columns, self._counts, class_names)

    @property
    def label_counts(self) -> Counts:
        """Of several labels, shape [3, labels], as :class:`EvaluatedPart` has them."""
        return self._label_counts

    def examples(self, indices: Indices) -> EvaluatedExamples | None:
        """What became of each example; ``None``: it is not known of all, or there were too many.

        Args:
            indices: Their places in the source.
        """
        if self._kept_examples != len(indices) or not self._kept:
            return None
        classes = np.concatenate([each for each, _ in self._kept])
        chances = np.concatenate([each for _, each in self._kept])
        return EvaluatedExamples(
            index=indices.astype(np.int32),
            label=classes[:, 0],
            predicted=classes[:, 1],
            probability=chances[:, 0],
            label_probability=chances[:, 1],
        )

    def worst(self, indices: Indices, names: tuple[str, ...] = ()) -> WorstExamples | None:
        """The examples with the largest errors; ``None`` where there are classes.

        Args:
            indices: Of all that were evaluated, their places in the source.
            names: Of several labels.
        """
        worst = self._worst
        if worst is None:
            return None
        labels = self._labels[worst.rows].astype(np.float32)
        return WorstExamples(
            indices[worst.rows].astype(np.int32),
            worst.errors.astype(np.float32),
            labels.reshape(worst.predicted.shape),
            worst.predicted.astype(np.float32),
            names,
        )

    def _keep(self, part: EvaluatedPart) -> None:
        if part.probabilities is None:
            return
        self._kept_examples += len(part.classes)
        if self._kept_examples > MOST_EXAMPLES:
            self._kept = []
        else:
            chances = part.probabilities.astype(np.float32)
            self._kept.append((part.classes.astype(np.int32), chances))

    def _keep_scores(self, part: EvaluatedPart) -> None:
        if part.scores is None or part.has is None:
            return
        self._scored += part.scores.size
        if self._scored > _MOST_SCORES:
            self._scores = []
        else:
            self._scores.append((part.scores.astype(np.float32), part.has))

    def _area(self) -> float | None:
        if not self._scores:
            return None
        scores, has = (np.concatenate(each) for each in zip(*self._scores, strict=True))
        return area_of(scores, has)

    def _count_waiting(self) -> None:
        places = np.concatenate((self._places, *self._waiting))
        counts = np.concatenate((self._counts, np.ones(self._waiting_examples, np.int64)))
        self._places, where = np.unique(places, return_inverse=True)
        self._counts = np.zeros(len(self._places), np.int64)
        np.add.at(self._counts, where, counts)
        self._waiting, self._waiting_examples = [], 0

    @property
    def metrics(self) -> Metrics:
        """Of all examples added."""
        loss = self._loss_sum / self._examples
        measure = self._measure_sum / self._examples
        if self._reading.meaning is Meaning.VALUES:
            r2 = None if self._squares is None else mean_r2(self._squares, self._examples)
            return Metrics(
                loss=loss,
                mean_absolute_error=measure,
                root_mean_squared_error=math.sqrt(loss),
                r2=r2,
            )
        area = self._area()
        if self._reading.of_labels:
            has, said, right = self._label_counts.astype(np.float64)
            return Metrics(loss=loss, accuracy=measure, f1=macro_f1(right, said, has), auc=area)
        self._count_waiting()
        more_than_top = self._reading.class_count > TOP
        return Metrics(
            loss=loss,
            accuracy=self._right / self._examples,
            top_5_accuracy=self._top_five / self._examples if more_than_top else None,
            f1=self._class_f1(),
            auc=area,
        )

    def _class_f1(self) -> float | None:
        count = self._reading.class_count
        true, taken_for = np.divmod(self._places, max(1, count))
        counts = self._counts.astype(np.float64)
        is_right = true == taken_for
        pairs = ((true[is_right], counts[is_right]), (taken_for, counts), (true, counts))
        right, predicted, examples = (
            np.bincount(which, each, count).astype(np.float64) for which, each in pairs
        )
        return macro_f1(right, predicted, examples)


def _in_top_five(logarithms: Floats, true: npt.NDArray[np.int64]) -> int:
    own = logarithms[np.arange(len(true)), true][:, np.newaxis]
    return int(((logarithms > own).sum(axis=1) < TOP).sum())


def _plus(before: Sums | None, more: Sums | None) -> Sums | None:
    if before is None or more is None:
        return before if more is None else more
    return before + more


def _worst(errors: npt.NDArray[np.generic], predicted: Floats, first: int) -> Errors:
    """The largest of a part; errors have the shape [examples, outputs]."""
    means = errors.mean(axis=1, dtype=np.float64)
    count = most_worst(predicted.shape[1])
    rows = np.arange(len(means))
    if count < len(means):
        rows = np.argpartition(-means, count - 1)[:count]
    return Errors(rows + first, means[rows], predicted[rows])


def _joined(before: Errors | None, part: Errors) -> Errors:
    count = most_worst(part.predicted.shape[1])
    if before is None:
        return part.largest(count)
    # Most parts of a long evaluation have none that is larger.
    if len(before.errors) == count and part.errors.max(initial=-np.inf) <= before.errors[-1]:
        return before
    pairs = ((getattr(before, name), getattr(part, name)) for name in _OF_ERRORS)
    return Errors(*(np.concatenate(pair) for pair in pairs)).largest(count)


_OF_ERRORS = ("rows", "errors", "predicted")


def _sum_of_means(each: npt.NDArray[np.generic]) -> float:
    """Over the examples, of the mean over what stands in a row; shape [examples, outputs]."""
    return float(each.mean(axis=1, dtype=np.float64).sum())


def _even(meaning: Meaning) -> float:
    """The output of a label that is as likely as not."""
    return 0.0 if meaning is Meaning.LABEL_LOGITS else 0.5
