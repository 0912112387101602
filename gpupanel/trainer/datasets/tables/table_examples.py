"""Examples of an imported table: which of its rows, and what is made of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gpupanel.domain.table_data import MissingValues, TableData
from gpupanel.trainer.datasets.checks import stays_on_disk
from gpupanel.trainer.datasets.data_problems import data_problem
from gpupanel.trainer.datasets.examples import Array, Features, Indices
from gpupanel.trainer.datasets.tables import problems
from gpupanel.trainer.datasets.tables.imported import MOST_KEYS, MOST_NAMES
from gpupanel.trainer.datasets.tables.recipe import FeatureColumn
from gpupanel.trainer.datasets.tables.rows import TableRows
from gpupanel.trainer.datasets.tables.table_file import ImportedTable

_CHUNK_ROWS = 65_536


@dataclass(frozen=True, slots=True, eq=False)
class TableExamples:
    """What is learned from an imported table: which rows, features and labels.

    Attributes:
        targets: The places of the columns that are predicted.
        features: The columns that are learned from.
    """

    data: TableData
    table: ImportedTable
    targets: tuple[int, ...]
    features: tuple[FeatureColumn, ...]

    @property
    def path(self) -> Path:
        """The path of the table's file."""
        return self.table.overview.path

    def rows(self, *, drops: bool = True) -> Indices | None:
        """The rows that are examples; ``None``: all.

        Raises:
            ProblemError: A cell is empty that must not be, or no row is left.
        """
        used = [self._place(each.name) for each in self.features]
        if self.data.missing is MissingValues.ERROR:
            self._check_complete((*used, *self.targets))
        needed = list(self.targets)
        if drops and self.data.missing is MissingValues.DROP:
            needed += used
        needed = [place for place in needed if self.table.columns[place].missing]
        if not needed:
            return None
        kept = [
            first + np.flatnonzero(~np.isnan(block[:, needed]).any(axis=1))
            for first, block in self._blocks()
        ]
        rows = np.concatenate(kept).astype(np.int32)
        if not len(rows):
            raise data_problem(
                "data_empty",
                f"Every row of {self.path} has an empty cell, so none is left.",
                'Fill them in, set data.missing to "mean", or leave the emptiest columns out.',
                field="data.missing",
            )
        return rows

    def labels(self, rows: Indices | None) -> npt.NDArray[np.float32]:
        """The cells of the target, shape [rows, columns]."""
        places = list(self.targets)
        raw = np.concatenate([block[:, places] for _, block in self._blocks()])
        return raw if rows is None else raw[rows]

    def groups(self, rows: Indices | None) -> Array | None:
        """What rows have in common that are held out together.

        Raises:
            ProblemError: There is no such column, or it holds nothing.
        """
        if self.data.group is None:
            return None
        place = self.table.column(self.data.group)
        column = None if place is None else self.table.columns[place]
        if column is None:
            raise problems.unknown_column(
                self.path, self.data.group, self.table.names, "data.group"
            )
        if column.kind == "text":
            raise data_problem(
                "table_group_texts",
                f'Column "{column.name}" of {self.path} holds nothing, or more than '
                f"{MOST_KEYS:,} different values, and cannot be groups.",
                "Choose another column in data.group.",
                field="data.group",
            )
        found = np.concatenate([block[:, place] for _, block in self._blocks()])
        return found if rows is None else found[rows]

    def read(self, rows: Indices | None) -> Features:
        """The features of the rows, in memory where that is wanted and they are not too large.

        Raises:
            ProblemError: They cannot be read.
        """
        found = TableRows(self.table, self.features, rows)
        stays = stays_on_disk(found.shape, found.dtype, self.data.cache)
        return found if stays else found.in_memory()

    def check_categories(self) -> None:
        """Refuse a column that was one of categories and is of texts here.

        Raises:
            ProblemError: Its texts are too many to be kept, the known ones among them.
        """
        for feature in self.features:
            column = self.table.columns[self._place(feature.name)]
            is_texts = column.kind == "text" and column.missing < self.table.rows
            if feature.kind == "category" and is_texts:
                raise data_problem(
                    "table_categories_unfit",
                    f'Column "{column.name}" of {self.path} holds more than {MOST_NAMES:,} '
                    f"different texts; in training it was one of {feature.width:,} categories.",
                    "Choose a table whose column of that name holds what it held in training.",
                )

    def _place(self, name: str) -> int:
        place = self.table.column(name)
        if place is None:
            raise problems.unknown_column(self.path, name, self.table.names, "data.path")
        return place

    def _blocks(self) -> Iterator[tuple[int, npt.NDArray[np.float32]]]:
        for start in range(0, self.table.rows, _CHUNK_ROWS):
            end = min(self.table.rows, start + _CHUNK_ROWS)
            yield start, self.table.read(np.arange(start, end, dtype=np.int32))

    def _check_complete(self, places: tuple[int, ...]) -> None:
        lacking = [place for place in places if self.table.columns[place].missing]
        if not lacking:
            return
        for start, block in self._blocks():
            empty = np.isnan(block[:, lacking])
            if empty.any():
                row = int(np.argmax(empty.any(axis=1)))
                name = self.table.columns[lacking[int(np.argmax(empty[row]))]].name
                raise data_problem(
                    "table_cell_empty",
                    f'Row {start + row + 1:,} of {self.path} has an empty cell in column "{name}".',
                    'Fill it in, or set data.missing to "mean" or "drop".',
                    field="data.missing",
                )
