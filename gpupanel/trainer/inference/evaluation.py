"""Adds up what a saved model reaches on labelled examples."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gpupanel.domain.outcome import Metrics
from gpupanel.trainer.datasets.examples import Array
from gpupanel.trainer.inference.meaning import Floats, Meaning, Reading, scores_of


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
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
    """Sums over examples in double precision, so that no split of the data changes them."""

    def __init__(self, labels: Array, reading: Reading) -> None:
        self._labels = labels
        self._reading = reading
        self._confusion = np.zeros((reading.class_count, reading.class_count), np.int64)
        self._loss_sum = 0.0
        self._error_sum = 0.0
        self._examples = 0

    def digest(self, outputs: Floats, first: int) -> Judged:
        """Compare a part's outputs with its labels.

        Args:
            outputs: Shape [examples, outputs].
            first: Row of the first of them.
        """
        labels = self._labels[first : first + len(outputs)]
        if self._reading.meaning is Meaning.VALUES:
            errors = outputs[:, 0].astype(np.float64) - labels.astype(np.float64)
            none = np.empty((0, 2), np.int64)
            return Judged(float(np.square(errors).sum()), float(np.abs(errors).sum()), none)
        scores = scores_of(outputs, self._reading.meaning)
        true = labels.astype(np.int64)
        right = scores.logarithms[np.arange(len(true)), true]
        taken_for = scores.logarithms.argmax(axis=1)
        return Judged(-float(right.sum(dtype=np.float64)), 0.0, np.stack([true, taken_for], axis=1))

    def add(self, examples: int, parts: list[Judged]) -> None:
        """Add one batch."""
        self._examples += examples
        for part in parts:
            self._loss_sum += part.loss_sum
            self._error_sum += part.error_sum
            np.add.at(self._confusion, (part.classes[:, 0], part.classes[:, 1]), 1)

    @property
    def confusion(self) -> tuple[tuple[int, ...], ...]:
        """Rows: the class that an example is of; columns: the one that it was taken for."""
        return tuple(tuple(map(int, row)) for row in self._confusion)

    @property
    def metrics(self) -> Metrics:
        """Of all examples added."""
        loss = self._loss_sum / self._examples
        if self._reading.meaning is Meaning.VALUES:
            return Metrics(loss=loss, mean_absolute_error=self._error_sum / self._examples)
        return Metrics(loss=loss, accuracy=float(np.trace(self._confusion)) / self._examples)
