"""A row that a person gives: a table of it alone, and the columns that are asked for."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from gpupanel.domain.asked_prediction import AskedColumn, Cell, PredictionAsked
from gpupanel.domain.data import TableData
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.visible_text import visible_line
from gpupanel.trainer.datasets.single_data import example_refused
from gpupanel.trainer.datasets.tables.recipe import FeatureColumn, TableRecipe
from gpupanel.trainer.datasets.tables.values import shown_day

_FILE = "row.parquet"


def table_of_row(
    data: TableData, asked: PredictionAsked, recipe: TableRecipe, folder: Path
) -> TableData:
    """The settings that read the row, which is written into the folder.

    Raises:
        ProblemError: It has a column that the model does not know, or no number where one has to
            be.
    """
    row = asked.row
    if row is None:
        raise ProblemError(example_refused("The model takes rows of a table.", "Give it one."))
    known = {each.name: each.kind for each in recipe.features}
    for name in row:
        if name not in known:
            raise ProblemError(
                example_refused(
                    f'The model did not learn from a column "{visible_line(name)}".',
                    "Give it the columns that it was trained on.",
                )
            )
    columns = {name: _column(name, kind, row.get(name)) for name, kind in known.items()}
    place = str(folder / _FILE)
    pq.write_table(pa.table(columns), place)
    # What else was chosen is about the table of the training: how it is written, and what of it
    # is left out.
    return TableData(path=place, missing=data.missing, empty_words=data.empty_words)


def _column(name: str, kind: str, cell: Cell) -> pa.Array:
    if kind != "number":
        return pa.array([None if cell is None else str(cell)], pa.string())
    if isinstance(cell, str):
        raise ProblemError(
            example_refused(
                f'"{visible_line(cell[:100])}" is no number, and the column "{visible_line(name)}" '
                "holds numbers.",
                "Give a number, or leave it empty.",
            )
        )
    return pa.array([cell], pa.float64())


def asked_column(feature: FeatureColumn) -> AskedColumn:
    """What is asked for of a column."""
    is_date = feature.kind == "date"
    return AskedColumn(
        name=feature.name,
        kind=feature.kind,
        mean=feature.mean,
        least=None if is_date else feature.least,
        greatest=None if is_date else feature.greatest,
        categories=feature.categories,
        usual=shown_day(feature.first_day + feature.mean) if is_date else feature.usual,
    )
