"""Tables as pyarrow reads them: each cell of a text as it is written."""

import csv
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from gpupanel.trainer.parts.table_cells import column_names

TABLE_BLOCK_BYTES = 2**20
"""What is read at once; no line may be longer."""


def reading_of_text(
    columns: int,
    delimiter: str,
    encoding: str,
    *,
    has_quotes: bool = True,
    names_lines: int = 0,
    skipped: int = 0,
) -> dict[str, Any]:
    """What pyarrow's readers of a text are given; columns are called by their numbers from 0.

    Args:
        columns: How many cells each row has.
        delimiter: What stands between them.
        encoding: Of the file.
        has_quotes: A cell may stand in quotation marks; else these are letters.
        names_lines: So many rows hold names: 1, or 0.
        skipped: So many lines stand before the table.
    """
    names = [str(place) for place in range(columns)]
    return {
        "read_options": arrow_csv.ReadOptions(
            column_names=names,
            skip_rows=skipped,
            skip_rows_after_names=names_lines,
            encoding=encoding,
            block_size=TABLE_BLOCK_BYTES,
        ),
        "parse_options": arrow_csv.ParseOptions(
            delimiter=delimiter,
            quote_char='"' if has_quotes else False,
            newlines_in_values=has_quotes,
        ),
        "convert_options": arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            # Which words mean nothing depends on what a column holds.
            null_values=[""],
            strings_can_be_null=True,
        ),
    }


def text_columns(
    path: str,
    delimiter: str,
    encoding: str,
    *,
    has_quotes: bool = True,
    has_names: bool = True,
    skipped: int = 0,
) -> dict[str, pa.Array]:
    """The cells of all columns of a text file, as texts, by their names.

    Args:
        path: Of the file.
        delimiter: As :func:`reading_of_text` is given it, like the others.
        encoding: Likewise.
        has_quotes: Likewise.
        has_names: A line names the columns, all of them or all but one.
        skipped: Likewise.
    """
    with_mark = "utf-8-sig" if encoding == "utf-8" else encoding
    quoting: Any = csv.QUOTE_MINIMAL if has_quotes else csv.QUOTE_NONE
    with Path(path).open(encoding=with_mark, newline="") as file:
        lines = csv.reader(islice(file, skipped, None), delimiter=delimiter, quoting=quoting)
        names = next(row for row in lines if row)
        if has_names:
            skipped += lines.line_num
            first = next((row for row in lines if row), [])
            if len(first) == len(names) + 1:  # a cell of each row has no name
                names = ["", *names] if first[-1].strip() else [*names, ""]
    reading = reading_of_text(
        len(names), delimiter, encoding, has_quotes=has_quotes, skipped=skipped
    )
    table = arrow_csv.read_csv(path, **reading)
    return _by_name(names if has_names else [""] * len(names), table)


def parquet_columns(path: str) -> dict[str, pa.Array]:
    """The cells of all columns of a Parquet file, by their names."""
    table = parquet.read_table(path)
    return _by_name(table.column_names, table)


def _by_name(names: list[str], table: pa.Table) -> dict[str, pa.Array]:
    columns = (each.combine_chunks() for each in table.columns)
    return dict(zip(column_names(names), columns, strict=True))
