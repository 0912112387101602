"""How good a model is for each value of a column of a table."""

from dataclasses import dataclass

import numpy as np

from gpupanel.domain.events import EvaluationDone
from gpupanel.domain.problem import Problem
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.slices_file import ExampleSlices, read_slices_file
from gpupanel.runs.following.confusion_matrix import unread


@dataclass(frozen=True, slots=True)
class Slice:
    """Examples with one value, or with one of a range.

    Attributes:
        value: In words.
        examples: How many.
        measure: Their accuracy, or mean absolute error.
    """

    value: str
    examples: int
    measure: float


@dataclass(frozen=True, slots=True)
class SlicedColumn:
    """A column and what its values divide the examples into.

    Attributes:
        name: Its name.
        slices: Ranges in their order, categories with the most frequent first.
    """

    name: str
    slices: tuple[Slice, ...]


@dataclass(frozen=True, slots=True)
class ColumnSlices:
    """Those of all columns.

    Attributes:
        columns: In the order of the table; of very many the first.
        column_count: How many there are in all.
        whole: The measure of all examples.
        is_accuracy: Of classes and labels; else it is the mean absolute error.
    """

    columns: tuple[SlicedColumn, ...]
    column_count: int
    whole: float
    is_accuracy: bool


def slices_of(found: ExampleSlices, evaluation: EvaluationDone) -> ColumnSlices:
    """The slices column by column.

    Args:
        found: Of the file.
        evaluation: What the run said of it.

    Raises:
        ValueError: They are not of its examples.
    """
    columns = []
    for number, name in enumerate(found.names):
        first, end = np.searchsorted(found.column, (number, number + 1)).tolist()
        columns.append(
            SlicedColumn(
                name,
                tuple(
                    Slice(value, examples, measure)
                    for value, examples, measure in zip(
                        found.values[first:end],
                        found.examples[first:end].tolist(),
                        found.measures[first:end].tolist(),
                        strict=True,
                    )
                ),
            )
        )
        if int(found.examples[first:end].sum()) != evaluation.examples:
            raise ValueError("a column has another number of examples than were evaluated")
    metrics = evaluation.metrics
    is_accuracy = metrics.accuracy is not None
    whole = metrics.accuracy if is_accuracy else metrics.mean_absolute_error
    if whole is None:
        raise ValueError("it is not known what was measured")
    return ColumnSlices(tuple(columns), found.column_count, whole, is_accuracy)


def read_slices(layout: RunLayout, found: EvaluationDone) -> ColumnSlices | Problem | None:
    """The slices of an evaluation.

    Returns:
        ``None`` where its examples are no rows of a table, and where an earlier version counted
        none; the problem where they cannot be read.
    """
    if not (found.confusion_file or found.labels_file or found.values_file):
        return None
    try:
        # Named by the event, but not believed: nothing but this file of the run is opened.
        slices = read_slices_file(layout.confusion)
        return None if slices is None else slices_of(slices, found)
    except (OSError, ValueError) as error:
        return unread(layout, "What stands in the columns of the table", "column", error)
