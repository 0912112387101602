"""A confusion matrix, class by class; most of its cells are 0, and are not there."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gpupanel.domain.confusion import ClassMetrics, LabelMetrics, Mistake
from gpupanel.domain.events import EvaluationDone
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.confusion_file import ConfusionCells, Counts, read_confusion
from gpupanel.files.label_metrics_file import read_label_metrics

MOST_CLASSES_IN_FULL = 2_000
"""So many rows and columns are 4 million numbers; beyond that nobody gets the zeros, too."""
MOST_DRAWN = 1_000
"""Rows and columns of a drawing; of more classes each stands for several."""
STRONGEST = 127


class ConfusionMatrix:
    """How many examples of each class were taken for each class.

    Args:
        cells: Those that are not 0.
    """

    def __init__(self, cells: ConfusionCells) -> None:
        self._cells = cells

    @classmethod
    def of_counts(
        cls, counts: Sequence[Sequence[int]], class_names: Sequence[str]
    ) -> "ConfusionMatrix":
        """The same from rows of counts, zeros included.

        Raises:
            ValueError: There is not a row and a column for each class.
        """
        size = len(class_names)
        if len(counts) != size or any(len(row) != size for row in counts):
            raise ValueError("a confusion matrix has a row and a column for each class")
        whole = np.asarray(counts, np.int64).reshape(size, size)
        rows, columns = np.nonzero(whole)
        return cls(ConfusionCells(rows, columns, whole[rows, columns], tuple(class_names)))

    @property
    def class_names(self) -> tuple[str, ...]:
        """The names of rows and columns."""
        return self._cells.class_names

    @property
    def cells(self) -> tuple[Counts, Counts, Counts]:
        """Row, column and count of each cell that is not 0, ordered by row and column."""
        return self._cells.rows, self._cells.columns, self._cells.counts

    @property
    def size(self) -> int:
        """How many classes there are."""
        return len(self.class_names)

    @cached_property
    def totals(self) -> Counts:
        """Examples of each class."""
        return self._sums(self._cells.rows, self._cells.counts)

    @property
    def examples(self) -> int:
        """The number of examples of all classes."""
        return int(self._cells.counts.sum())

    @property
    def accuracy(self) -> float | None:
        """Fraction that is right; ``None`` where there are no examples."""
        return int(self._right.sum()) / self.examples if self.examples else None

    @cached_property
    def classes(self) -> tuple[ClassMetrics, ...]:
        """The metrics of each class, in order."""
        predicted = self._sums(self._cells.columns, self._cells.counts)
        metrics = zip(
            self.class_names,
            self.totals.tolist(),
            predicted.tolist(),
            self._right.tolist(),
            strict=True,
        )
        return tuple(
            ClassMetrics.model_construct(name=name, examples=total, predicted=taken, right=right)
            for name, total, taken, right in metrics
        )

    def prepare(self) -> None:
        """Work out what is asked for later: whoever draws it cannot wait for that."""
        _ = self.classes, self._worst, self.shades

    @cached_property
    def drawn(self) -> Counts:
        """Counts of at most :data:`MOST_DRAWN` rows and columns."""
        return self.summed(MOST_DRAWN)

    @property
    def drawn_block(self) -> int:
        """How many classes each row and column of :attr:`drawn` stands for."""
        return self.block_size(MOST_DRAWN)

    @cached_property
    def shades(self) -> npt.NDArray[np.uint8]:
        """How strong each cell is to be drawn: the root of the part of its row that it holds.

        The root lets few mistakes be seen, too. Cells are those of :attr:`drawn`.

        Returns:
            From 1 to :data:`STRONGEST`; 0 where a cell holds no example.
        """
        counts = self.drawn
        part = np.sqrt(counts / np.maximum(1, counts.sum(axis=1, keepdims=True)))
        shades = np.rint(1 + (STRONGEST - 1) * part)
        return np.where(counts > 0, shades, 0).astype(np.uint8)

    def most_mistaken_for(self, index: int) -> Mistake | None:
        """The other class, or the classes, that most examples of a class were taken for.

        ``None``: all of them were taken rightly, or there are none.
        """
        first, second, alike, count = (each[index] for each in self._worst)
        if not count:
            return None
        places = (first,) if alike == 1 else (first, second)
        names = tuple(self.class_names[place] for place in places)
        return Mistake(names=names, others=alike - len(names), count=count)

    def count_at(self, row: int, column: int) -> int:
        """How many examples of one class were taken for another, or for the same."""
        places = self._cells.rows * self.size + self._cells.columns
        at = int(np.searchsorted(places, row * self.size + column))
        found = at < len(places) and places[at] == row * self.size + column
        return int(self._cells.counts[at]) if found else 0

    def in_full(self) -> list[list[int]]:
        """Rows of counts, zeros included.

        Raises:
            ValueError: There are more than :data:`MOST_CLASSES_IN_FULL` classes.
        """
        if self.size > MOST_CLASSES_IN_FULL:
            raise ValueError(f"{self.size:,} classes are too many to be given in full")
        rows: list[list[int]] = self.summed(self.size).tolist()
        return rows

    def summed(self, blocks: int) -> Counts:
        """Counts of blocks of classes that stand next to each other.

        Args:
            blocks: The most rows and columns that the result has.

        Returns:
            Two dimensions of equal size; each entry is the sum of ``block_size(blocks)`` classes
            by as many.
        """
        block = self.block_size(blocks)
        size = -(-self.size // block)
        places = (self._cells.rows // block) * size + self._cells.columns // block
        return self._sums(places, self._cells.counts, size * size).reshape(size, size)

    def block_size(self, blocks: int) -> int:
        """How many classes each of so many blocks holds, the last one perhaps fewer."""
        return max(1, -(-self.size // blocks))

    @cached_property
    def _right(self) -> Counts:
        rows, columns, counts = self.cells
        on = rows == columns
        return self._sums(rows[on], counts[on])

    @cached_property
    def _worst(self) -> list[list[int]]:
        """Of each class the first two that most were taken for, how many such, and how often."""
        rows, columns, counts = self.cells
        most = np.zeros(self.size, np.int64)
        off = rows != columns
        np.maximum.at(most, rows[off], counts[off])
        worst = off & (counts == most[rows])
        found, first, alike = np.unique(rows[worst], return_index=True, return_counts=True)
        # The cells of a row follow each other; where there is no second one nobody asks for it.
        second = np.minimum(first + 1, max(0, worst.sum() - 1))
        told = np.zeros((4, self.size), np.int64)
        told[:, found] = columns[worst][first], columns[worst][second], alike, most[found]
        each: list[list[int]] = told.tolist()
        return each

    def _sums(
        self, places: npt.NDArray[np.int64], counts: Counts, size: int | None = None
    ) -> Counts:
        sums = np.zeros(self.size if size is None else size, np.int64)
        np.add.at(sums, places, counts)
        return sums


def read_labels(layout: RunLayout, found: EvaluationDone) -> LabelMetrics | Problem | None:
    """The metrics of several labels at once of an evaluation.

    Returns:
        ``None`` where there are none; the problem where they cannot be read.
    """
    if not found.labels_file:
        return None
    try:
        return read_label_metrics(layout.confusion)
    except (OSError, ValueError) as error:
        return unread(layout, "The metrics of the labels", "label", error)


def read_matrix(layout: RunLayout, found: EvaluationDone) -> ConfusionMatrix | Problem | None:
    """The confusion matrix of an evaluation; may take some time, where there are many classes.

    Returns:
        ``None`` where there is none, since values were predicted; the problem where it cannot be
        read.
    """
    try:
        if found.confusion:
            # As earlier versions wrote it.
            return ConfusionMatrix.of_counts(found.confusion, found.class_names)
        if not found.confusion_file:
            return None
        # Named by the event, but not believed: nothing but this file of the run is opened.
        return ConfusionMatrix(read_confusion(layout.confusion))
    except (OSError, ValueError) as error:
        return unread(layout, "The confusion matrix", "class", error)


def unread(layout: RunLayout, what: str, each: str, error: Exception) -> Problem:
    """The problem where the file of an evaluation cannot be read.

    Args:
        layout: Of the run.
        what: Of the evaluation is missing.
        each: Of what there are figures in it.
        error: Why.
    """
    return Problem(
        code="confusion_unread",
        severity=Severity.WARNING,
        message=f"{what} of {layout.name} cannot be read: its file {layout.confusion.name} is "
        "missing or damaged.",
        hint="The metrics over all examples are right; evaluate again to get those of each "
        f"{each}.",
        detail=f"{type(error).__name__}: {error}",
    )
