"""Adds up what a saved model reaches on labelled examples."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gpupanel.domain.outcome import Metrics
from gpupanel.files.confusion_file import ConfusionCells
from gpupanel.trainer.datasets.examples import Array
from gpupanel.trainer.inference.meaning import Floats, Meaning, Reading, scores_of

_LEAST_WAITING = 2**16


@dataclass(frozen=True, slots=True, eq=False)
class EvaluatedPart:
    """What is kept of one part.

    Attributes:
        loss_sum: Cross-entropy in nats, or squared error.
        error_sum: Absolute error; 0 for classes.
        classes: Shape [examples, 2]: the class that an example is of, and the one that it was
            taken for; no rows for values.
    """

    loss_sum: float
    error_sum: float
    classes: npt.NDArray[np.int64]


class Evaluation:
    """Sums over examples in double precision, so that no split of the data changes them.

    Of the confusion matrix only cells that are not 0 are held: no more than there are examples,
    however many classes there are.
    """

    def __init__(self, labels: Array, reading: Reading) -> None:
        self._labels = labels
        self._reading = reading
        self._places = np.empty(0, np.int64)
        self._counts = np.empty(0, np.int64)
        self._waiting: list[npt.NDArray[np.int64]] = []
        self._waiting_examples = 0
        self._right = 0
        self._loss_sum = 0.0
        self._error_sum = 0.0
        self._examples = 0

    def digest(self, outputs: Floats, first: int) -> EvaluatedPart:
        """Compare a part's outputs with its labels.

        Args:
            outputs: Shape [examples, outputs].
            first: Row of the first of them.
        """
        labels = self._labels[first : first + len(outputs)]
        if self._reading.meaning is Meaning.VALUES:
            errors = outputs[:, 0].astype(np.float64) - labels.astype(np.float64)
            none = np.empty((0, 2), np.int64)
            return EvaluatedPart(float(np.square(errors).sum()), float(np.abs(errors).sum()), none)
        scores = scores_of(outputs, self._reading.meaning)
        true = labels.astype(np.int64)
        right = scores.logarithms[np.arange(len(true)), true]
        taken_for = scores.logarithms.argmax(axis=1)
        return EvaluatedPart(
            -float(right.sum(dtype=np.float64)), 0.0, np.stack([true, taken_for], axis=1)
        )

    def add(self, examples: int, parts: list[EvaluatedPart]) -> None:
        """Add one batch."""
        self._examples += examples
        for part in parts:
            self._loss_sum += part.loss_sum
            self._error_sum += part.error_sum
            true, taken_for = part.classes[:, 0], part.classes[:, 1]
            self._right += int((true == taken_for).sum())
            self._waiting.append(true * self._reading.class_count + taken_for)
            self._waiting_examples += len(true)
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
        if self._reading.meaning is Meaning.VALUES:
            return Metrics(loss=loss, mean_absolute_error=self._error_sum / self._examples)
        return Metrics(loss=loss, accuracy=self._right / self._examples)
