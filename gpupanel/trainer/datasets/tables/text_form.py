"""How a text file with a table is written: found at several places of it.

pyarrow's own reader asks nobody: it takes a comma for granted, text in Windows-1252 for bytes, and
the first block for what all others are like.
"""

import csv
import io
import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from gpupanel.domain.problem import Problem
from gpupanel.domain.table_data import MOST_COLUMNS, HeaderLine, Quoting, TableData
from gpupanel.domain.written_numbers import is_number
from gpupanel.trainer.datasets.tables import problems
from gpupanel.trainer.datasets.tables.encoding_note import encoding_note
from gpupanel.trainer.datasets.tables.header_line import detected_header
from gpupanel.trainer.datasets.tables.spaced_cells import are_divided_by_spaces
from gpupanel.trainer.parts.table_cells import column_names
from gpupanel.trainer.parts.text_layout import (
    FIRST_BYTES,
    TextLayout,
    detected_encoding,
    detected_layout,
    pieces_of,
    rows_of,
    text_after,
)

_REPLACED = "\ufffd".encode()
"""What stands for bytes that are no text, where a file holds it itself."""
_SAMPLED_ROWS = 1000
"""How many rows are looked at in each place of the file."""


@dataclass(frozen=True, slots=True)
class TextForm:
    """How a text file is written.

    Attributes:
        has_names: The first line names the columns.
        has_quotes: A cell may stand in quotation marks; else these are letters.
        skipped: So many lines stand before the table.
    """

    delimiter: str
    decimal: str
    encoding: str
    has_names: bool
    has_quotes: bool = True
    skipped: int = 0

    @property
    def settings(self) -> dict[str, str]:
        """The same as a profile says it; what is as usual and rarely chosen is left out."""
        unusual = {} if self.has_quotes else {"quoting": "none"}
        if self.skipped:
            unusual["skip_lines"] = str(self.skipped)
        return {
            "delimiter": self.delimiter,
            "decimal": self.decimal,
            "encoding": self.encoding,
            "header": "first_line" if self.has_names else "none",
            **unusual,
        }


@dataclass(frozen=True, slots=True)
class TextSample:
    """What a preview finds of a text file.

    Attributes:
        names: Of the columns, each another one.
        rows: Some, from several places; each has a cell for each column.
        is_whole: There are no others.
        skipped: The lines before the table.
        unsure_line: The cells of the first line where nothing shows whether it names the columns.
        encoding_note: How it is read where its encoding was guessed.
    """

    form: TextForm
    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    is_whole: bool
    skipped: tuple[str, ...] = ()
    unsure_line: tuple[str, ...] = ()
    encoding_note: Problem | None = None


def sample_of_text(path: Path, file: BinaryIO, data: TableData) -> TextSample:
    """Read the beginning of a file, its end, and places in between.

    Args:
        path: Of the file, for the words.
        file: At its start.
        data: What a person chose of it.

    Raises:
        ProblemError: It is no table.
        OSError: It cannot be read.
    """
    pieces = pieces_of(file)
    if not pieces[0].strip():
        raise problems.empty(path)
    encoding = data.encoding or detected_encoding(pieces)
    if encoding is None:
        raise problems.no_text(path)
    is_whole = len(pieces) == 1
    texts = [_decoded(piece, encoding) for piece in pieces]
    if not is_whole and not re.search(r"[\r\n]", texts[0]):
        raise problems.line_too_long(path, FIRST_BYTES)
    layout = detected_layout(
        texts[0],
        is_number,
        is_whole=is_whole,
        delimiter=data.delimiter,
        has_quotes=None if data.quoting is None else data.quoting is Quoting.DOUBLE,
        skipped=data.skip_lines,
    )
    rows = _rows(text_after(texts[0], layout.skipped), layout, is_whole=is_whole)
    if data.delimiter is None and are_divided_by_spaces(texts[0], layout.delimiter, is_number):
        raise problems.divided_by_spaces(path, layout.delimiter)
    if not rows:
        raise problems.empty(path) if is_whole else problems.line_too_long(path, FIRST_BYTES)
    first = rows[0]
    if any("\ufffd" in name for name in first) and _REPLACED not in pieces[0]:
        raise problems.wrong_encoding(path, encoding, 0, "The names of columns cannot be read.")
    width = len(layout.names(first))
    if width > MOST_COLUMNS:
        raise problems.too_many_columns(path, width, MOST_COLUMNS)
    for text in texts[1:]:
        rows += _rows(text.partition("\n")[2], layout, is_whole=False)
    full = [row for row in rows[1:] if len(row) == width]
    has_names, is_unsure = detected_header(layout.names(first), full, is_number)
    if data.header is not None:
        has_names, is_unsure = data.header is HeaderLine.FIRST, False
    return TextSample(
        TextForm(
            layout.delimiter,
            data.decimal or ".",
            encoding,
            has_names,
            layout.has_quotes,
            layout.skipped,
        ),
        column_names(layout.names(first) if has_names else [""] * width),
        tuple(map(tuple, full if has_names else [first, *full])),
        is_whole and len(rows) < _SAMPLED_ROWS,
        tuple(islice(io.StringIO(texts[0]), layout.skipped)),
        tuple(first) if is_unsure else (),
        None if data.encoding else encoding_note(pieces, encoding),
    )


def _decoded(piece: bytes, encoding: str) -> str:
    return piece.decode(encoding, errors="replace").removeprefix("\ufeff")


def _rows(text: str, layout: TextLayout, *, is_whole: bool) -> list[list[str]]:
    """The first rows of a text; the last one of a piece may be cut short, and is left out."""
    try:
        lines = rows_of(text, layout.delimiter, has_quotes=layout.has_quotes)
        rows = list(islice(lines, _SAMPLED_ROWS))
    except csv.Error:
        return []  # the reader of the whole file says where
    return rows if is_whole or len(rows) in (0, 1, _SAMPLED_ROWS) else rows[:-1]
