"""Features of a table's rows: how training makes them of its columns, and of other rows then."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gpupanel.domain.written_numbers import THOUSANDS_MARKS
from gpupanel.trainer.parts.cell_reader import CellReader, Written

LearnedColumn = dict[str, Any]
"""A column that is learned from: its name, its kind, and how features are made of it."""


def learned_columns(
    reader: CellReader,
    table: Mapping[str, pa.Array],
    numbers: Sequence[str],
    categories: Sequence[str],
    dates: Sequence[str],
    most: int,
) -> Iterator[LearnedColumn]:
    """How features are made of a table's columns: of those that hold something.

    Args:
        reader: Of the cells.
        table: The cells by their columns.
        numbers: The names of columns of numbers.
        categories: Likewise.
        dates: Likewise.
        most: A column of more categories is not learned from.
    """
    for name, cells in table.items():
        if name in (*numbers, *dates):
            written = reader.written(cells)
            kind = "number" if name in numbers else "date"
            found, first_day = _amounts(reader, cells, kind, None, written)
            held = found[~np.isnan(found)]
            if len(held):
                mean = float(held.mean(dtype=np.float64))
                made = {"mean": mean, "first_day": first_day, "written": written}
                yield {"name": name, "kind": kind, **made}
        elif name in categories:
            names = sorted({each for each in reader.texts(cells) if each is not None})
            if 0 < len(names) <= most:
                yield {"name": name, "kind": "category", "categories": names}


def made_features(
    reader: CellReader,
    columns: Sequence[LearnedColumn],
    table: Mapping[str, pa.Array],
    *,
    as_chosen: bool = False,
) -> tuple[npt.NDArray[np.float32], list[npt.NDArray[np.bool_]]]:
    """The features of rows, shape [rows, features], and of each column which cells it lacks.

    Args:
        reader: Of the cells.
        columns: How they are made: as the rows that were trained on have shown it.
        table: The cells by their columns.
        as_chosen: The mark before decimals and the order of dates were chosen for these rows.
    """
    made, is_missing = [], []
    for column in columns:
        cells = table[column["name"]]
        if column["kind"] == "category":
            names = reader.texts(cells)
            is_missing.append(np.array([name is None for name in names]))
            is_one = [[name == each for each in column["categories"]] for name in names]
            made.append(np.array(is_one, np.float32))
            continue
        # Written as the rows that were trained on: what that means was found in these.
        written = column.get("written")
        written = written_as_chosen(reader, written) if as_chosen else written
        values, _ = _amounts(reader, cells, column["kind"], column.get("first_day"), written)
        is_missing.append(np.isnan(values))
        filled = np.where(is_missing[-1], np.float32(column["mean"]), values)
        made.append(filled[:, np.newaxis])
    return np.concatenate(made, axis=1), is_missing


def written_as_chosen(reader: CellReader, written: Written | None) -> Written | None:
    """As training found it, but for what was chosen for these rows."""
    if written is None:
        return None
    if reader.decimal is not None and reader.decimal != written["decimal"]:
        marks = THOUSANDS_MARKS.replace(reader.decimal, "")
        written = {**written, "decimal": reader.decimal, "thousands": marks}
    if reader.date_order is not None and written["date_order"]:
        written = {**written, "date_order": reader.date_order}
    return written


def are_of_categories(columns: Sequence[LearnedColumn]) -> npt.NDArray[np.bool_]:
    """Of each feature whether a column of categories became it."""
    widths = [len(each.get("categories", [""])) for each in columns]
    return np.repeat([each["kind"] == "category" for each in columns], widths)


def _amounts(
    reader: CellReader,
    cells: pa.Array,
    kind: str,
    first_day: float | None,
    written: Written | None,
) -> tuple[npt.NDArray[np.float32], float]:
    if kind == "date":
        return reader.days(cells, first_day, written)
    return reader.numbers(cells, written), 0.0
