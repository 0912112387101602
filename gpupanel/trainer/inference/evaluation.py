"""Adds up what a saved model reaches on labelled examples."""

import copy
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gpupanel.domain.data import Target
from gpupanel.domain.outcome import Metrics
from gpupanel.files.confusion_file import MOST_EXAMPLES, Counts, EvaluatedExamples
from gpupanel.files.value_pairs_file import ValuePairs, most_pairs
from gpupanel.files.worst_file import WorstExamples
from gpupanel.trainer.datasets.examples import Array, Indices
from gpupanel.trainer.inference.confusion_counts import ConfusionCounts
from gpupanel.trainer.inference.counted_scores import CountedScores, ScoredPart
from gpupanel.trainer.inference.largest_errors import Errors, joined_errors, largest_errors
from gpupanel.trainer.inference.meaning import OutputMeaning
from gpupanel.trainer.inference.sampled_rows import sampled_rows
from gpupanel.trainer.metrics.set_metric import SetMetric, SetPart, with_set_metrics
from gpupanel.trainer.metrics.set_metrics import set_metrics_of
from gpupanel.trainer.parts.output_meaning import (
    Floats,
    Meaning,
    label_probabilities,
    label_scores,
    said_labels,
    scores_of,
    sum_of_means,
)


@dataclass(frozen=True, slots=True, eq=False)
class EvaluatedPart:
    """What is kept of one part.

    Attributes:
        loss_sum: Cross-entropy in nats, or squared error; of several labels or values their mean.
        measures: Of each example whether it is right; of several labels how many of these are, as
            a part of them; of values the absolute error, likewise.
        classes: Shape [examples, 2]: the class that an example is of, and the one that it was
            taken for; no rows for values and for several labels.
        probabilities: Shape [examples, 2]: of the class that it was taken for, and of its own.
        labels: Of several labels, shape [3, labels]: how many examples have each, are said to have
            it, and are rightly so.
        worst: Of several labels and of values, the examples with the largest errors.
        sampled: Of values, what the model gave to those rows of the part that are in the sample.
        metric_sums: What each metric adds up.
        scores: Of classes and labels, which probabilities of them are reached.
    """

    loss_sum: float
    measures: npt.NDArray[np.float64]
    classes: npt.NDArray[np.int64]
    probabilities: Floats | None = None
    labels: Counts | None = None
    worst: Errors | None = None
    sampled: Floats | None = None
    metric_sums: tuple[Any, ...] = ()
    scores: ScoredPart | None = None


class Evaluation:
    """Sums over examples in double precision, so that no split of the data changes them.

    Attributes:
        confusion: Of classes, which examples were taken for which.
        scores: Of classes and labels, how many examples reach which probability of each.

    Args:
        labels: Of all examples.
        reading: What outputs mean.
        keeps_measures: Whether it is asked for how good the model is on each example.
    """

    def __init__(
        self, labels: Array, reading: OutputMeaning, *, keeps_measures: bool = False
    ) -> None:
        self._labels = labels
        self._reading = reading
        self._set_metrics = _set_metrics(labels, reading)
        self._totals: tuple[Any, ...] = ()
        self.confusion = ConfusionCounts(reading.class_count)
        self.scores = CountedScores(reading.class_count or reading.label_count)
        self._kept: list[tuple[npt.NDArray[np.int32], Floats]] = []
        self._kept_examples = 0
        self._measures: list[Floats] | None = [] if keeps_measures else None
        self._label_counts = np.zeros((3, reading.label_count), np.int64)
        self._worst: Errors | None = None
        self._sampled: list[Floats] = []
        self._loss_sum = 0.0
        self._measure_sum = 0.0
        self._examples = 0
        is_of_values = reading.meaning is Meaning.VALUES
        kept = most_pairs(math.prod(labels.shape[1:])) if is_of_values else 0
        self._rows = sampled_rows(len(labels), kept) if kept else _NO_ROWS

    def digest(self, outputs: Floats, first: int) -> EvaluatedPart:
        """Compare a part's outputs with its labels.

        Args:
            outputs: Shape [examples, outputs].
            first: Row of the first of them.
        """
        labels = self._labels[first : first + len(outputs)]
        if self._reading.meaning is Meaning.VALUES:
            return self._of_values(outputs, labels, first)
        if self._reading.of_labels:
            return self._of_labels(outputs, labels, first)
        return self._of_classes(outputs, labels)

    def _of_values(self, outputs: Floats, labels: Array, first: int) -> EvaluatedPart:
        values = labels.reshape(outputs.shape).astype(np.float64)
        predicted = outputs.astype(np.float64)
        errors = predicted - values
        return EvaluatedPart(
            sum_of_means(np.square(errors)),
            abs(errors).mean(axis=1, dtype=np.float64),
            _NO_CLASSES,
            worst=largest_errors(abs(errors), outputs, first),
            sampled=outputs[self._rows_within(first, len(outputs)) - first].astype(np.float32),
            metric_sums=self._added(SetPart(predicted, values, predicted)),
        )

    def _rows_within(self, first: int, count: int) -> npt.NDArray[np.int64]:
        start, end = np.searchsorted(self._rows, (first, first + count))
        return self._rows[start:end]

    def _of_labels(self, outputs: Floats, labels: Array, first: int) -> EvaluatedPart:
        meaning = self._reading.meaning
        wanted = labels.astype(np.float32)
        logarithms = label_scores(outputs, wanted, meaning)
        said, has = said_labels(outputs, meaning), wanted > 0.5
        counts = np.stack([each.sum(axis=0) for each in (has, said, has & said)])
        probabilities = label_probabilities(outputs, meaning)
        return EvaluatedPart(
            -sum_of_means(logarithms),
            (said == has).mean(axis=1, dtype=np.float64),
            _NO_CLASSES,
            labels=counts.astype(np.int64),
            worst=largest_errors(-logarithms, probabilities, first),
            metric_sums=self._added(SetPart(outputs, has, said)),
            scores=self.scores.of_labels(probabilities, has),
        )

    def _of_classes(self, outputs: Floats, labels: Array) -> EvaluatedPart:
        scores = scores_of(outputs, self._reading.meaning)
        true = labels.astype(np.int64)
        rows = np.arange(len(true))
        right = scores.logarithms[rows, true]
        taken_for = scores.logarithms.argmax(axis=1)
        chances = [scores.probabilities[rows, each] for each in (taken_for, true)]
        return EvaluatedPart(
            -float(right.sum(dtype=np.float64)),
            (true == taken_for).astype(np.float64),
            np.stack([true, taken_for], axis=1),
            np.stack(chances, axis=1),
            metric_sums=self._added(SetPart(scores.logarithms, true, taken_for)),
            scores=self.scores.of_classes(scores.probabilities, true),
        )

    def _added(self, part: SetPart) -> tuple[Any, ...]:
        return tuple(metric.of_part(part) for metric in self._set_metrics)

    def add(self, examples: int, parts: list[EvaluatedPart]) -> None:
        """Add one batch."""
        self._examples += examples
        for part in parts:
            self._loss_sum += part.loss_sum
            self._measure_sum += float(part.measures.sum())
            self.confusion.add(part.classes[:, 0], part.classes[:, 1])
            self._keep(part)
            if not self._totals:
                self._totals = copy.deepcopy(part.metric_sums)
            else:
                for total, more in zip(self._totals, part.metric_sums, strict=True):
                    total += more
            if part.labels is not None:
                self._label_counts = self._label_counts + part.labels
            if part.worst is not None:
                self._worst = joined_errors(self._worst, part.worst)
            if part.scores is not None:
                self.scores.add(part.scores)
            if part.sampled is not None:
                self._sampled.append(part.sampled)

    @property
    def measures(self) -> Floats | None:
        """Of each example what :class:`EvaluatedPart` has; ``None``: not kept, or too many."""
        return np.concatenate(self._measures) if self._measures else None

    @property
    def label_counts(self) -> Counts:
        """Counts of several labels, shape [3, labels], as in :class:`EvaluatedPart`."""
        return self._label_counts

    @property
    def metrics(self) -> Metrics:
        """The metrics of all examples added."""
        loss = self._loss_sum / self._examples
        measure = self._measure_sum / self._examples
        if self._reading.meaning is Meaning.VALUES:
            measured = Metrics(loss=loss, mean_absolute_error=measure)
        else:
            measured = Metrics(loss=loss, accuracy=measure)
        added = zip(self._set_metrics, self._totals, strict=True)
        metrics = (metric.metrics_of_parts(total, self._examples) for metric, total in added)
        return with_set_metrics(measured, metrics)

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

    def value_pairs(self) -> ValuePairs | None:
        """True and predicted values of the sample.

        ``None``: these are no values, or some are beyond single precision.
        """
        if not self._sampled:
            return None
        predicted = np.concatenate(self._sampled)
        true = self._labels[self._rows].astype(np.float32).reshape(predicted.shape)
        return ValuePairs(true, predicted) if np.isfinite(true).all() else None

    def _keep(self, part: EvaluatedPart) -> None:
        if self._measures is not None and self._examples <= MOST_EXAMPLES:
            self._measures.append(part.measures.astype(np.float32))
        else:
            self._measures = None
        if part.probabilities is None:
            return
        self._kept_examples += len(part.classes)
        if self._kept_examples > MOST_EXAMPLES:
            self._kept = []
        else:
            chances = part.probabilities.astype(np.float32)
            self._kept.append((part.classes.astype(np.int32), chances))


_NO_CLASSES = np.empty((0, 2), np.int64)
_NO_ROWS = np.empty(0, np.int64)


def _set_metrics(labels: Array, reading: OutputMeaning) -> tuple[SetMetric, ...]:
    """All that fit: only sums that are sent between devices have to be few."""
    if reading.meaning is Meaning.VALUES:
        means = labels[:1].reshape(-1).astype(np.float32)
        target, outputs = Target.VALUES, len(means)
    else:
        means = np.empty(0, np.float32)
        target = Target.LABELS if reading.of_labels else Target.CLASSES
        outputs = reading.label_count or reading.class_count
    units = np.ones_like(means)
    return tuple(set_metrics_of(target, outputs, units, means, most_counted=math.inf))
