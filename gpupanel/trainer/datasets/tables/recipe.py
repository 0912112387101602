"""How features and labels are made of a table's columns: found in training, kept with the model.

A prediction on another table takes the same columns by their names, the categories that training
knew in their order, and its means for empty cells, so that each number that the model is given
means what it meant.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from gpupanel.domain.data_source import Target
from gpupanel.domain.table_data import MOST_CATEGORIES, ColumnNames, TableData
from gpupanel.domain.value import Value
from gpupanel.trainer.datasets.data_problems import data_problem
from gpupanel.trainer.datasets.tables import problems
from gpupanel.trainer.datasets.tables.imported import ColumnFacts, Kind
from gpupanel.trainer.datasets.tables.table_file import ImportedTable
from gpupanel.trainer.datasets.tables.written import CellForm

MOST_FEATURES: Final = 50_000
"""Numbers an example."""


class FeatureColumn(Value):
    """A column that is learned from.

    Attributes:
        mean: What fills an empty cell of numbers, or of dates in days since ``first_day``.
        least: The smallest number that training saw, or date likewise; ``None``: nobody kept it.
        greatest: The largest one, likewise.
        first_day: Of dates: the day that is 0, in days since 1970.
        usual: The most frequent category; empty: nobody kept it.
        categories: Each becomes a feature that is 1 where it stands, in this order.
        written: How its numbers or dates were written in texts; ``None``: not known, by a version
            that looked for it in each file.
    """

    name: str
    kind: Literal["number", "date", "category"]
    mean: float = 0.0
    least: float | None = None
    greatest: float | None = None
    first_day: float = 0.0
    usual: str = ""
    categories: tuple[str, ...] = ()
    written: CellForm | None = None

    @property
    def width(self) -> int:
        """How many features it becomes."""
        return len(self.categories) if self.kind == "category" else 1


class TableRecipe(Value):
    """How examples are made of rows.

    Attributes:
        features: The columns that are learned from, in the order of their features.
        targets: The columns that are predicted.
        target_kind: What they hold.
        predicts: What they are.
        class_names: In the order of the class numbers, or of the labels; none for values.
        empty_words: As they were chosen, see :mod:`gpupanel.domain.empty_words`.
        target_written: How the numbers of targets were written in texts.
        inputs: The columns of each of several inputs, in the order of their features; none: there
            is one, of all of them.
    """

    schema_version: Literal[1] = 1
    features: tuple[FeatureColumn, ...]
    targets: tuple[str, ...]
    target_kind: Literal["number", "category"]
    predicts: Target
    class_names: tuple[str, ...] = ()
    empty_words: tuple[str, ...] | None = None
    target_written: Mapping[str, CellForm] = {}
    inputs: Mapping[str, tuple[str, ...]] = {}

    @property
    def kinds(self) -> dict[str, Kind]:
        """What each column that is learned from or predicted holds, by name."""
        are_numbered = self.target_kind == "number" and self.predicts is Target.CLASSES
        held: Kind = "class" if are_numbered else self.target_kind
        targets = dict.fromkeys(self.targets, held)
        return {**{each.name: each.kind for each in self.features}, **targets}

    @property
    def width(self) -> int:
        """How many features an example has."""
        return sum(each.width for each in self.features)


def feature_columns(
    data: TableData, table: ImportedTable, targets: ColumnNames
) -> tuple[FeatureColumn, ...]:
    """The columns that are learned from, as this table has them.

    Raises:
        ProblemError: None is left, or they become too many features.
    """
    names = tuple(each.name for each in table.columns)
    for name in data.ignore:
        if name not in (*names, *table.overview.left_out):
            raise problems.unknown_column(_path(data), name, names, "data.ignore")
    found = tuple(
        _feature(each, table.overview.written.get(each.name))
        for each in table.columns
        if each.name not in (*targets, *data.ignore, data.group) and is_learned_from(each)
    )
    form = table.overview.form
    if not found and len(names) == 1 and form is not None:
        raise data_problem(
            "table_no_features",
            f"{data.path} has one column alone: "
            + (
                "no comma, semicolon, tab or vertical bar divides its lines into as many cells as "
                "each other."
                if data.delimiter is None
                else "the delimiter that was chosen does not divide its lines."
            ),
            "Write a comma, a semicolon, a tab or a vertical bar between the cells, where spaces "
            "or other characters divide them; or choose another data.delimiter.",
            field="data.delimiter",
        )
    if not found:
        raise data_problem(
            "table_no_features",
            f"{data.path} has no column to learn from beside the target: all others are texts of "
            "many different values, empty, or left out.",
            "Choose data.target, or name columns in data.categories or data.numbers.",
            field="data.target",
        )
    width = sum(each.width for each in found)
    if width > MOST_FEATURES:
        raise problems.too_many_columns(_path(data), width, MOST_FEATURES)
    return found


def is_learned_from(column: ColumnFacts) -> bool:
    """Whether a column is one to learn from: its texts are not too many."""
    if column.kind == "category":
        return len(column.names) <= MOST_CATEGORIES
    return column.kind != "text"


def _feature(column: ColumnFacts, written: CellForm | None) -> FeatureColumn:
    if column.kind == "category":
        return FeatureColumn(
            name=column.name,
            kind="category",
            categories=tuple(sorted(column.names)),
            usual=column.names[column.counts.index(max(column.counts))] if column.counts else "",
        )
    assert column.kind != "text"
    return FeatureColumn(
        name=column.name,
        kind=column.kind,
        mean=column.mean,
        least=column.least,
        greatest=column.greatest,
        first_day=column.first_day,
        written=written or CellForm(),
    )


def _path(data: TableData) -> Path:
    return Path(data.path)
