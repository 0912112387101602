"""The columns of a table as a scan reports them: all cells are read."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gpupanel.domain.scan import ScannedColumn, SetName
from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.datasets.progress import OnProgress
from gpupanel.trainer.datasets.scanning.numbers import (
    NumberFacts,
    NumberScan,
    sampled_indices,
    values_far_outside,
)
from gpupanel.trainer.datasets.tables.imported import ColumnFacts
from gpupanel.trainer.datasets.tables.overview import TableOverview
from gpupanel.trainer.datasets.tables.rows import TableRows
from gpupanel.trainer.datasets.tables.table_file import ImportedTable

_CHUNK_BYTES = 8 * 2**20
_MOST_COLUMNS = 200
_DOING = "scanning columns"
_NUMBERS = ("number", "date")


class ColumnScan:
    """Reads all cells of a table, some MiB at a time.

    Attributes:
        columns: What each holds; of very many the first.
        problems: Values that lie far outside.
        unlabelled: Rows of which the target is not known.
    """

    def __init__(
        self, table: ImportedTable, targets: tuple[int, ...], on_progress: OnProgress
    ) -> None:
        """Read it.

        Args:
            table: All of its rows.
            targets: The places of the columns that are predicted.
            on_progress: Called with how many rows are done.

        Raises:
            ProblemError: It cannot be read.
        """
        self._table = table
        sample = table.read(sampled_indices(table.rows))
        numbers, self.unlabelled = NumberScan(sample), 0
        for indices, block in self._blocks():
            on_progress(_DOING, int(indices[0]), table.rows)
            numbers.take(block, indices)
            self.unlabelled += int(np.isnan(block[:, list(targets)]).any(axis=1).sum())
        both = list(zip(table.columns, numbers.facts(), strict=True))
        self.columns = tuple(_column(each, facts) for each, facts in both[:_MOST_COLUMNS])
        self.problems = values_far_outside(
            ((f'"{each.name}"', facts) for each, facts in both if each.kind == "number"),
            row_name,
        )

    def _blocks(self) -> Iterator[tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]]:
        step = max(1, _CHUNK_BYTES // max(1, self._table.row_bytes))
        for first in range(0, self._table.rows, step):
            indices = np.arange(first, min(self._table.rows, first + step), dtype=np.int32)
            yield indices, self._table.read(indices)


def first_columns(overview: TableOverview) -> tuple[ScannedColumn, ...]:
    """What the columns seem to hold, before all of them was read."""
    return tuple(ScannedColumn(name=name, holds=kind) for name, kind in overview.columns)[
        :_MOST_COLUMNS
    ]


def row_name(index: int) -> str:
    """A row as people count it, the line of names not among them."""
    return f"row {index + 1:,}"


def namer_of(found: DataSet) -> Callable[[SetName, int], str]:
    """What an example is called: by its row in the file, also where others were left out."""
    parts = {"training": found.training, "validation": found.validation, "test": found.test}

    def name(of_set: SetName, index: int) -> str:
        part = parts[of_set]
        features = None if part is None else part.features
        chosen = features.chosen if isinstance(features, TableRows) else None
        return row_name(index if chosen is None else int(chosen[index]))

    return name


def form_of_table(overview: TableOverview) -> str:
    """How a table is stored."""
    form = overview.form
    if form is None:
        return "Parquet"
    delimiter = "a tab" if form.delimiter == "\t" else f'"{form.delimiter}"'
    kind = Path(overview.path).suffix.lstrip(".").upper()
    return f'{kind}, {form.encoding}, {delimiter} between cells, "{form.decimal}" before decimals'


def _column(column: ColumnFacts, facts: NumberFacts) -> ScannedColumn:
    is_number = column.kind in _NUMBERS
    shift = column.first_day if column.kind == "date" else 0.0
    return ScannedColumn(
        name=column.name,
        holds="number" if column.kind == "class" else column.kind,
        missing=column.missing,
        least=facts.least + shift if is_number and facts.least is not None else None,
        greatest=facts.greatest + shift if is_number and facts.greatest is not None else None,
        mean=facts.mean + shift if is_number and facts.mean is not None else None,
        different=len(column.names) if column.kind in ("category", "class") else None,
        is_constant=column.is_constant,
    )
