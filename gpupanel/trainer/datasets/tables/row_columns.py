"""The columns of tables one after the other, as an evaluation divides its examples by them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from gpupanel.trainer.datasets.example_columns import ExampleColumn
from gpupanel.trainer.datasets.examples import Indices
from gpupanel.trainer.datasets.tables.imported import ColumnFacts
from gpupanel.trainer.datasets.tables.table_file import ImportedTable

_KINDS: Final = ("number", "category", "class", "date")
"""Not texts that are nearly all different, and not what only marks groups."""

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class ChosenRows:
    """The rows of a table that are examples.

    Attributes:
        table: Where they are.
        rows: Which; ``None``: all.
    """

    table: ImportedTable
    rows: Indices | None

    def __len__(self) -> int:
        return self.table.rows if self.rows is None else len(self.rows)

    def facts(self, name: str) -> ColumnFacts | None:
        """What is known of a column; ``None``: there is none of that name."""
        place = self.table.column(name)
        return None if place is None else self.table.columns[place]


class RowColumns:
    """The columns that all tables have alike; categories are told by their names.

    Args:
        parts: The training rows, then further sets, in the order of the examples.
        targets: The columns that are predicted.
    """

    def __init__(self, parts: Sequence[ChosenRows], targets: Collection[str] = ()) -> None:
        self._parts = tuple(parts)
        self._ends = np.cumsum([len(part) for part in parts])
        names = [facts.name for facts in parts[0].table.columns if _is_alike(facts, parts)]
        self._columns = tuple(
            replace(_merged([part.facts(name) for part in parts]), is_target=name in targets)
            for name in names
        )

    @property
    def columns(self) -> tuple[ExampleColumn, ...]:
        """In the order of the first table."""
        return self._columns

    def read(self, indices: Indices) -> Floats:
        """See :class:`~gpupanel.trainer.datasets.example_columns.ExampleColumns`."""
        found = np.empty((len(indices), len(self._columns)), np.float32)
        owners = np.searchsorted(self._ends, indices, "right")
        for number, part in enumerate(self._parts):
            rows = np.flatnonzero(owners == number)
            if len(rows):
                own = indices[rows] - (self._ends[number] - len(part))
                found[rows] = self._read(part, own if part.rows is None else part.rows[own])
        return found

    def _read(self, part: ChosenRows, rows: npt.NDArray[np.integer]) -> Floats:
        raw = part.table.read(rows.astype(np.int32))
        found = np.empty((len(rows), len(self._columns)), np.float32)
        for place, column in enumerate(self._columns):
            at = part.table.column(column.name)
            assert at is not None, "all tables have them"
            found[:, place] = _translated(raw[:, at], part.table.columns[at], column)
        return found


def _is_alike(facts: ColumnFacts, parts: Sequence[ChosenRows]) -> bool:
    others = [part.facts(facts.name) for part in parts]
    return facts.kind in _KINDS and all(each and each.kind == facts.kind for each in others)


def _merged(facts: Sequence[ColumnFacts | None]) -> ExampleColumn:
    known = [each for each in facts if each is not None]
    first = known[0]
    if first.kind in ("category", "class"):
        names = dict.fromkeys(name for each in known for name in each.names)
        return ExampleColumn(first.name, tuple(names))
    return ExampleColumn(first.name, first_day=first.first_day if first.kind == "date" else None)


def _translated(cells: Floats, facts: ColumnFacts, column: ExampleColumn) -> Floats:
    """Cells of one table as those of all of them."""
    if column.categories is None:
        shift = facts.first_day - column.first_day if column.first_day is not None else 0.0
        return cells + np.float32(shift)
    places = {name: place for place, name in enumerate(column.categories)}
    numbers = np.array([*(places[name] for name in facts.names), np.nan], np.float32)
    return numbers[np.nan_to_num(cells, nan=-1.0).astype(np.intp)]
