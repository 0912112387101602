"""How good a model is for each value of a column: counted once all examples are evaluated."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from gpupanel.domain.number_text import short_number
from gpupanel.files.slices_file import MOST_COLUMNS, MOST_SLICES, ExampleSlices
from gpupanel.trainer.datasets.example_columns import ExampleColumn, ExampleColumns
from gpupanel.trainer.datasets.examples import Indices
from gpupanel.trainer.inference.sampled_rows import sampled_rows
from gpupanel.trainer.parts.output_meaning import Floats

_MOST_VALUES: Final = MOST_SLICES - 2
_FEW_NUMBERS: Final = 12
"""A column of no more different numbers is divided into these, not into ranges."""
_RANGES: Final = 8
_SAMPLE: Final = 100_000
_MOST_CELLS: Final = 4_000_000
"""That are read at once."""
_LEAST_SHOWN: Final = 0.1
"""Values that hold a smaller part of the examples than this say nothing of the column."""
_GROUPED: Final = 10_000
"""Digits of smaller numbers are not grouped."""
_OTHERS, _EMPTY = "other values", "empty"


@dataclass(frozen=True, slots=True, eq=False)
class _Division:
    """Into which slices a column is divided; the last one is of cells that hold nothing.

    Attributes:
        texts: Of the slices.
        values: Numbers that are slices each, ascending, before all others; or edges of ranges.
        are_ranges: The values are edges.
    """

    texts: tuple[str, ...]
    values: Floats | None = None
    are_ranges: bool = False

    def places(self, cells: Floats) -> npt.NDArray[np.int64]:
        """The slice of each cell."""
        empty, last = np.isnan(cells), len(self.texts) - 1
        if self.values is None:
            return np.where(empty, last, np.nan_to_num(cells)).astype(np.int64)
        found = np.searchsorted(self.values, cells, "right")
        if not self.are_ranges:
            before = np.maximum(found - 1, 0)
            found = np.where(self.values[before] == cells, before, len(self.values))
        return np.where(empty, last, found).astype(np.int64)


def example_slices(
    columns: ExampleColumns, indices: Indices, measures: Floats
) -> ExampleSlices | None:
    """Count them.

    Args:
        columns: Of the source.
        indices: The places of the evaluated examples in it.
        measures: Of each of these: 1 where it is right and 0 where not, of several labels the part
            that is right, of values the absolute error.

    Returns:
        ``None`` where no column divides the examples.

    Raises:
        ProblemError: The columns cannot be read.
    """
    count = min(MOST_COLUMNS, len(columns.columns))
    if not count or not len(indices):
        return None
    at_once = max(1, _MOST_CELLS // len(columns.columns))
    sample = columns.read(indices[sampled_rows(len(indices), min(_SAMPLE, at_once))])
    divisions = [
        _division(column, sample[:, place]) for place, column in enumerate(columns.columns[:count])
    ]
    counts = [np.zeros((2, len(each.texts))) for each in divisions]
    for first in range(0, len(indices), at_once):
        cells = columns.read(indices[first : first + at_once])
        weights = measures[first : first + at_once].astype(np.float64)
        for place, (division, both) in enumerate(zip(divisions, counts, strict=True)):
            places, size = division.places(cells[:, place]), len(division.texts)
            both[0] += np.bincount(places, minlength=size)
            both[1] += np.bincount(places, weights, size)
    return _gathered(columns, divisions, counts)


def _gathered(
    columns: ExampleColumns,
    divisions: list[_Division],
    counts: list[npt.NDArray[np.float64]],
) -> ExampleSlices | None:
    names, column = list[str](), list[int]()
    values, found = list[str](), list[tuple[float, float]]()
    for each, division, both in zip(columns.columns, divisions, counts, strict=False):
        slices = _slices(division, both, is_category=each.categories is not None)
        if len(slices) < 2:
            continue
        column += [len(names)] * len(slices)
        names.append(each.name)
        values += [text for text, _, _ in slices]
        found += [(examples, total / examples) for _, examples, total in slices]
    if not names:
        return None
    examples, measures = np.array(found).T
    return ExampleSlices(
        tuple(names),
        np.array(column),
        tuple(values),
        examples.astype(np.int64),
        measures,
        len(columns.columns),
    )


def _slices(
    division: _Division, both: npt.NDArray[np.float64], *, is_category: bool
) -> list[tuple[str, float, float]]:
    """Words, examples and the sum of their measure; none where values are nearly all different."""
    *every, empty = zip(division.texts, *both.tolist(), strict=True)
    shown = [each for each in every if each[1]]
    if is_category:
        shown.sort(key=lambda each: -each[1])
        rest = shown[_MOST_VALUES:]
        shown = shown[:_MOST_VALUES]
        if sum(each[1] for each in shown) < _LEAST_SHOWN * both[0].sum():
            return []
        if rest:
            shown.append((_OTHERS, sum(each[1] for each in rest), sum(each[2] for each in rest)))
    return [*shown, empty] if empty[1] else shown


def _division(column: ExampleColumn, sample: Floats) -> _Division:
    if column.categories is not None:
        return _Division((*column.categories, _EMPTY))
    numbers = sample[~np.isnan(sample)]
    different = np.unique(numbers)
    if len(different) <= _FEW_NUMBERS:
        texts = [_text(value, column) for value in different.tolist()]
        return _Division((*texts, _OTHERS, _EMPTY), different, are_ranges=not texts)
    parts = np.linspace(0.0, 1.0, _RANGES + 1)[1:-1]
    # Edges that are numbers of the column; the least would leave nothing below it.
    edges = np.unique(np.quantile(numbers, parts, method="nearest"))
    edges = edges[edges > different[0]].astype(np.float32)
    if not len(edges):
        edges = different[1:2]
    texts = [_text(value, column) for value in edges.tolist()]
    between = (f"{low} to below {high}" for low, high in pairwise(texts))
    words = (f"below {texts[0]}", *between, f"{texts[-1]} and more", _EMPTY)
    return _Division(words, edges, are_ranges=True)


def _text(value: float, column: ExampleColumn) -> str:
    if column.first_day is None:
        # Many such columns are years.
        return short_number(value).replace(",", "" if abs(value) < _GROUPED else ",")
    return str(np.datetime64(round(value + column.first_day), "D"))
