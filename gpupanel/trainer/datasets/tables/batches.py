"""Rows of a table, some at a time: from a text file or from Parquet, with pyarrow.

A column is a column of texts here, however numbers stand in it: what it holds is decided by
:mod:`gpupanel.trainer.datasets.tables.values`. Those of Parquet have types of their own.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from gpupanel.domain.problem import ProblemError
from gpupanel.domain.written_numbers import is_number
from gpupanel.trainer.datasets.data_problems import data_problem
from gpupanel.trainer.datasets.tables import problems
from gpupanel.trainer.datasets.tables.text_form import TextForm
from gpupanel.trainer.parts.table_files import TABLE_BLOCK_BYTES, reading_of_text

_BATCH_ROWS = 32_768
_BUFFER_BYTES = 2**20
_FEW_DIFFERENT = 100
_BLOCK_WORDS = "straddling object"
_WIDTH_WORDS = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")


def text_batches(
    path: Path,
    file: BinaryIO,
    form: TextForm,
    column_count: int,
    *,
    may_hold_rows: bool = False,
) -> Iterator[pa.RecordBatch]:
    """The rows of a text file; columns are called by their numbers from 0.

    Args:
        path: Of the file, for the words.
        file: At its start.
        form: How it is written.
        column_count: How many cells each row has.
        may_hold_rows: A cell in quotation marks may hold lines that look like rows.

    Raises:
        ProblemError: A line is cut short, too long, of another encoding, or part of a cell.
        OSError: It cannot be read.
    """
    reading = reading_of_text(
        column_count,
        form.delimiter,
        form.encoding,
        has_quotes=form.has_quotes,
        names_lines=int(form.has_names),
        skipped=form.skipped,
    )
    # One after the other: that way the number of a bad line is known.
    reading["read_options"].use_threads = False
    row, batch = 0, None
    try:
        reader = pyarrow.csv.open_csv(file, **reading)
        for batch in reader:
            if form.has_quotes and not may_hold_rows:
                _check_cells(path, batch, row, form.delimiter)
            row += batch.num_rows
            yield batch
    except (pa.ArrowException, ValueError) as error:
        raise _text_problem(path, form, row, error) from error
    if batch is not None:
        _check_closed(path, batch, row)


def _text_problem(path: Path, form: TextForm, row: int, error: Exception) -> ProblemError:
    words = str(error)
    width = _WIDTH_WORDS.search(words)
    if width:
        line, expected, actual = map(int, width.groups())
        return problems.ragged(path, line, expected, actual)
    if _BLOCK_WORDS in words:
        return problems.line_too_long(path, TABLE_BLOCK_BYTES, row)
    if isinstance(error, UnicodeError) or "UTF8" in words:
        return problems.wrong_encoding(path, form.encoding, row, words)
    return data_problem(
        "data_file_damaged",
        f"{path} cannot be read as a table; row {row:,} is the last that can.",
        "Check the line after it; data.delimiter and data.encoding say how the file is written.",
        detail=f"{type(error).__name__}: {words}",
    )


def _check_closed(path: Path, batch: pa.RecordBatch, row: int) -> None:
    """A quotation mark that is never closed makes one cell of all that follows: the last one."""
    for column in batch.columns:
        cell = column[len(column) - 1].as_py() if len(column) else None
        if cell is not None and cell.count("\n") > 1 and cell.endswith("\n"):
            raise data_problem(
                "table_quote_open",
                f"A quotation mark in row {row:,} of {path} is never closed: one cell holds all "
                f"{cell.count(chr(10)):,} lines that follow.",
                "Close it, or remove it.",
            )


def _check_cells(path: Path, batch: pa.RecordBatch, row: int, delimiter: str) -> None:
    """Refuse a cell that holds lines of which each is a row, by its width and what it holds."""
    width = len(batch.columns)
    for column in batch.columns:
        for place in pc.indices_nonzero(pc.match_substring(column, "\n")).to_pylist():
            cell = column[place].as_py()
            if place == len(column) - 1 and cell.endswith("\n"):
                continue  # it is never closed, as it seems, which is said of it
            inner = cell.splitlines()[1:-1]
            rows = [line.split(delimiter) for line in inner if line]
            if not rows or any(len(each) != width for each in rows):
                continue
            by_column = zip(batch.columns, zip(*rows, strict=True), strict=True)
            fits = [_fits(each, cells) for each, cells in by_column]
            is_sure = True in fits or delimiter == "\t" or width > 2
            if is_sure and False not in fits:
                raise problems.quote_stray(path, row + place + 1, len(rows))


def _fits(column: pa.Array, cells: Sequence[str]) -> bool | None:
    """Whether these are cells of a column of few values; ``None``: it may hold anything."""
    held = pc.unique(column).to_pylist()
    if len(held) > _FEW_DIFFERENT:
        return None
    single = [cell for cell in held if cell and "\n" not in cell]
    if single and all(map(is_number, single)):
        return all(is_number(cell) or not cell for cell in cells)
    return {*held, ""}.issuperset(cells)


def open_parquet(path: Path, file: BinaryIO) -> pyarrow.parquet.ParquetFile:
    """A Parquet file whose description can be read.

    Raises:
        ProblemError: It is damaged, or none.
    """
    try:
        return pyarrow.parquet.ParquetFile(
            file, buffer_size=_BUFFER_BYTES, pre_buffer=False, memory_map=False
        )
    except (pa.ArrowException, OSError, ValueError) as error:
        raise parquet_damaged(path, error) from error


def parquet_batches(
    path: Path, file: BinaryIO, columns: tuple[int, ...], rows: int = _BATCH_ROWS
) -> Iterator[pa.RecordBatch]:
    """The rows of a Parquet file.

    Args:
        path: Of the file, for the words.
        file: Of which reading begins anew.
        columns: The places of those that are read, which are not nested.
        rows: How many at a time.

    Raises:
        ProblemError: It is damaged.
    """
    opened = open_parquet(path, file)
    try:
        names = opened.schema_arrow.names
        wanted = [names[place] for place in columns]
        for batch in opened.iter_batches(rows, columns=wanted, use_threads=False):
            # With "a" its reader gives "a.b", too: the part b of a structure a is called so.
            yield batch if batch.schema.names == wanted else batch.select(wanted)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise parquet_damaged(path, error) from error


def parquet_damaged(path: Path, error: Exception) -> ProblemError:
    """The problem of a Parquet file that is not what it says."""
    return data_problem(
        "data_file_damaged",
        f"{path} is truncated or is not a Parquet file.",
        "Get or write the file again; an interrupted copy looks like this.",
        detail=f"{type(error).__name__}: {error}",
    )
