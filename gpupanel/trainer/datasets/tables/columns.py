"""What each column of a table holds, as far as some rows show it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from gpupanel.domain.empty_words import EmptyWords
from gpupanel.domain.table_data import MOST_COLUMNS, TableData
from gpupanel.trainer.datasets.tables import problems
from gpupanel.trainer.datasets.tables.exact_names import one_number_twice, padded_codes
from gpupanel.trainer.datasets.tables.imported import Kind
from gpupanel.trainer.datasets.tables.text_form import TextSample
from gpupanel.trainer.datasets.tables.values import is_date
from gpupanel.trainer.datasets.tables.written_columns import ColumnEvidence, evidence_of
from gpupanel.trainer.parts.table_cells import column_names, is_number_type, is_text_type

Columns = tuple[tuple[str, Kind], ...]


def evidence_of_text(sample: TextSample, empty: EmptyWords) -> dict[str, ColumnEvidence]:
    """What the cells of each column of a text file show.

    Args:
        sample: Some rows.
        empty: Words that mean that a cell holds nothing.
    """
    return {name: evidence_of(cells) for name, cells in _held_cells(sample, empty)}


def padded_columns(sample: TextSample, empty: EmptyWords) -> dict[str, int]:
    """Of columns of digits with zeros before them: how many different ones are seen, by name."""
    counts = ((name, padded_codes(cells)) for name, cells in _held_cells(sample, empty))
    return {name: count for name, count in counts if count is not None}


def ambiguous_columns(sample: TextSample, empty: EmptyWords) -> dict[str, tuple[str, str]]:
    """Two texts that are one number, such as 3.1 and 3.10, of each column that has such."""
    pairs = ((name, one_number_twice(cells)) for name, cells in _held_cells(sample, empty))
    return {name: pair for name, pair in pairs if pair is not None}


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
    is_one = [schema.names.count(name) == 1 for name in schema.names]
    readable = [kind is not None and one for kind, one in zip(kinds, is_one, strict=True)]
    found = tuple(
        (name, kind)
        for name, kind, is_read in zip(names, kinds, readable, strict=True)
        if is_read and kind is not None
    )
    left_out = [name for name, is_read in zip(names, readable, strict=True) if not is_read]
    return found, tuple(left_out)


def chosen_kinds(
    path: Path, names: Sequence[str], data: TableData, known: Mapping[str, Kind]
) -> dict[str, Kind]:
    """What a person says that columns hold, or a training found.

    Args:
        path: Of the file, for the words.
        names: Of its columns.
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
    for key, kind, named in lists:
        for name in named or ():
            if name not in names and name not in known:
                raise problems.unknown_column(path, name, tuple(names), f"data.{key}")
            chosen[name] = kind
    return chosen


def _held_cells(sample: TextSample, empty: EmptyWords) -> Iterator[tuple[str, list[str]]]:
    """The cells of each column that hold something, if they are numbers or dates."""
    columns = zip(*sample.rows, strict=True) if sample.rows else [()] * len(sample.names)
    for name, cells in zip(sample.names, columns, strict=True):
        words = ((cell, cell.strip()) for cell in cells)
        yield name, [cell for cell, word in words if word and word not in empty.in_numbers]


def _kind_of_type(kind: pa.DataType) -> Kind | None:
    if is_number_type(kind):
        return "number"
    if is_date(kind):
        return "date"
    return "category" if is_text_type(kind) else None
