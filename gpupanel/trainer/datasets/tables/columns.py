"""What each column of a table holds, as far as some rows show it."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from gpupanel.domain.empty_words import EmptyWords
from gpupanel.domain.table_data import MOST_COLUMNS, TableData
from gpupanel.trainer.datasets.tables import problems
from gpupanel.trainer.datasets.tables.exact_names import padded_codes
from gpupanel.trainer.datasets.tables.imported import Kind
from gpupanel.trainer.datasets.tables.text_form import TextSample, column_names, is_number
from gpupanel.trainer.datasets.tables.values import is_date, is_text
from gpupanel.trainer.datasets.tables.values import is_number as is_number_type

_DATE = re.compile(
    r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d(:?\d\d)?)?)?"
    r"|\d{1,2}\.\d{1,2}\.\d{4}( \d\d:\d\d(:\d\d)?)?"
)
_MOST_MISFITS = 0.1
"""A column of texts with so few that are no numbers is one of numbers with slips of the pen."""
_FEW_DIFFERENT = 20
_NOT_FINITE = re.compile(r"[+-]?(inf|infinity)", re.IGNORECASE)

Columns = tuple[tuple[str, Kind], ...]


def columns_of_text(sample: TextSample, empty: EmptyWords) -> Columns:
    """The columns of a text file by what their cells hold.

    Args:
        sample: Some rows.
        empty: Words that mean that a cell holds nothing.
    """
    return tuple(
        (name, _kind(cells, sample.form.decimal)) for name, cells in _held_cells(sample, empty)
    )


def padded_columns(sample: TextSample, empty: EmptyWords) -> dict[str, int]:
    """Of columns of digits with zeros before them: how many different ones are seen, by name."""
    counts = ((name, padded_codes(cells)) for name, cells in _held_cells(sample, empty))
    return {name: count for name, count in counts if count is not None}


def columns_of_schema(path: Path, schema: pa.Schema) -> tuple[Columns, tuple[str, ...]]:
    """The columns of a Parquet file by their types, and the names of those that are not read.

    Raises:
        ProblemError: There are too many.
    """
    if len(schema) > MOST_COLUMNS:
        raise problems.too_many_columns(path, len(schema), MOST_COLUMNS)
    names = column_names(schema.names)
    kinds = [_kind_of_type(each) for each in schema.types]
    # Of two that have the same name Parquet's reader knows neither.
    is_one = [schema.names.count(name) == 1 and "." not in name for name in schema.names]
    readable = [kind is not None and one for kind, one in zip(kinds, is_one, strict=True)]
    found = tuple(
        (name, kind)
        for name, kind, is_read in zip(names, kinds, readable, strict=True)
        if is_read and kind is not None
    )
    left_out = [name for name, is_read in zip(names, readable, strict=True) if not is_read]
    return found, tuple(left_out)


def with_chosen(
    path: Path, columns: Columns, data: TableData, known: Mapping[str, Kind]
) -> Columns:
    """The columns with what a person chose of them, or a training found.

    Args:
        path: Of the file, for the words.
        columns: As they seem.
        data: What was chosen.
        known: What columns held when a model was trained, by name.

    Raises:
        ProblemError: A column that was named is not there.
    """
    chosen: dict[str, Kind] = dict(known)
    lists: Iterable[tuple[str, Kind, Sequence[str] | None]] = (
        ("numbers", "number", data.numbers),
        ("categories", "category", data.categories),
        ("dates", "date", data.dates),
    )
    names = tuple(name for name, _ in columns)
    for key, kind, named in lists:
        for name in named or ():
            if name not in names and name not in known:
                raise problems.unknown_column(path, name, names, f"data.{key}")
            chosen[name] = kind
    return tuple((name, chosen.get(name, kind)) for name, kind in columns)


def _held_cells(sample: TextSample, empty: EmptyWords) -> Iterator[tuple[str, list[str]]]:
    """The cells of each column that hold something, if they are numbers or dates."""
    columns = zip(*sample.rows, strict=True) if sample.rows else [()] * len(sample.names)
    for name, cells in zip(sample.names, columns, strict=True):
        words = ((cell, cell.strip()) for cell in cells)
        yield name, [cell for cell, word in words if word and word not in empty.in_numbers]


def _kind(held: list[str], decimal: str) -> Kind:
    if not held:
        return "category"  # whatever may come is one, if it is not too many
    numbers = sum(
        is_number(cell, decimal) or _NOT_FINITE.fullmatch(cell.strip()) is not None for cell in held
    )
    misfits = len(held) - numbers
    if not misfits:
        return "number"
    if misfits <= _MOST_MISFITS * len(held) and len(set(held)) > _FEW_DIFFERENT:
        return "number"
    if all(_DATE.fullmatch(cell) for cell in held):
        return "date"
    return "category"


def _kind_of_type(kind: pa.DataType) -> Kind | None:
    if is_number_type(kind):
        return "number"
    if is_date(kind):
        return "date"
    return "category" if is_text(kind) else None
