"""Examples made of a table's rows when they are asked for."""

from dataclasses import dataclass
from functools import cached_property
from unicodedata import normalize

import numpy as np
import numpy.typing as npt

from gpupanel.trainer.datasets.examples import Indices
from gpupanel.trainer.datasets.row_files import read_in_chunks, rows_at_once
from gpupanel.trainer.datasets.tables.imported import ColumnFacts
from gpupanel.trainer.datasets.tables.recipe import FeatureColumn
from gpupanel.trainer.datasets.tables.table_file import ImportedTable

Floats = npt.NDArray[np.float32]
_MADE_ROWS = 8_192


@dataclass(frozen=True, eq=False)
class TableRows:
    """Features of a table that stays on disk, as ``float32``.

    Attributes:
        table: Where the rows are.
        columns: What is made of them.
        chosen: The rows that are examples, in their order; ``None``: all.
    """

    table: ImportedTable
    columns: tuple[FeatureColumn, ...]
    chosen: Indices | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Examples first, then the features of one."""
        count = self.table.rows if self.chosen is None else len(self.chosen)
        return count, sum(each.width for each in self.columns)

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The type of the numbers that are read."""
        return np.dtype(np.float32)

    @property
    def rows_at_once(self) -> int:
        """See :class:`~gpupanel.trainer.datasets.examples.ManyAtOnce`."""
        return rows_at_once(self.table.rows, self.table.row_bytes)

    def read(self, indices: Indices) -> Floats:
        """The features of these examples, in this order.

        Raises:
            ProblemError: They cannot be read.
        """
        raw = self.table.read(indices if self.chosen is None else self.chosen[indices])
        features = np.zeros((len(raw), self.shape[1]), np.float32)
        # What is made of a row on the way takes several times its room.
        for start in range(0, len(raw), _MADE_ROWS):
            self._fill(features[start : start + _MADE_ROWS], raw[start : start + _MADE_ROWS])
        return features

    def in_memory(self) -> Floats:
        """The features of all examples.

        Raises:
            ProblemError: They cannot be read.
        """
        return read_in_chunks(self.read, self.shape)

    @cached_property
    def _places(self) -> tuple["_Numbers", tuple["_Category", ...]]:
        numbers, categories, first = [], [], 0
        for column in self.columns:
            place = self.table.column(column.name)
            assert place is not None, "who makes the rows finds their columns"
            facts = self.table.columns[place]
            if column.kind == "category":
                categories.append(_Category(place, first, _places_of(facts, column)))
            else:
                numbers.append((place, first, column.mean, facts.first_day - column.first_day))
            first += column.width
        places, features, means, shifts = zip(*numbers, strict=True) if numbers else ((),) * 4
        return (
            _Numbers(
                np.asarray(places, np.intp),
                np.asarray(features, np.intp),
                np.asarray(means, np.float32),
                np.asarray(shifts, np.float64),
            ),
            tuple(categories),
        )

    def _fill(self, features: Floats, raw: Floats) -> None:
        numbers, categories = self._places
        values = raw[:, numbers.places]
        if numbers.shifts.any():
            values = (values + numbers.shifts).astype(np.float32)
        features[:, numbers.features] = np.where(np.isnan(values), numbers.means, values)
        for category in categories:
            codes = np.nan_to_num(raw[:, category.place], nan=-1.0).astype(np.intp)
            known = category.features[codes]
            rows = np.flatnonzero(known >= 0)
            features[rows, category.first + known[rows]] = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class _Numbers:
    """Columns of numbers and dates: where they are, what they become, and what is added."""

    places: npt.NDArray[np.intp]
    features: npt.NDArray[np.intp]
    means: Floats
    shifts: npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class _Category:
    """A column of categories.

    Attributes:
        features: Of each number of a category its place among the features, -1 for one that
            training did not know; the last one is of a cell that holds nothing.
    """

    place: int
    first: int
    features: npt.NDArray[np.intp]


def _places_of(facts: ColumnFacts, column: FeatureColumn) -> npt.NDArray[np.intp]:
    places = {normalize("NFC", name): place for place, name in enumerate(column.categories)}
    return np.asarray([*(places.get(name, -1) for name in facts.names), -1], np.intp)
