"""How a text file with a table is written: found at several places of it.

pyarrow's own reader asks nobody: it takes a comma for granted, text in Windows-1252 for bytes, and
the first block for what all others are like.
"""

import codecs
import csv
import io
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from gpupanel.domain.table_data import MOST_COLUMNS, HeaderLine, TableData
from gpupanel.trainer.datasets.tables import problems

FIRST_BYTES = 2**20
"""Names and first rows stand in so many bytes."""
_PIECE_BYTES = 128 * 2**10
_PIECES = 6
_DELIMITERS = (",", ";", "\t", "|")
_DELIMITED_ROWS = 200
_SAMPLED_ROWS = 1000
"""Of each place."""
_UNDEFINED_IN_CP1252 = frozenset(b"\x81\x8d\x8f\x90\x9d")
_WITH_COMMA = re.compile(r"[+-]?\d+,\d+")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+")
_WITH_POINT = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True, slots=True)
class TextForm:
    """How a text file is written.

    Attributes:
        has_names: The first line names the columns.
    """

    delimiter: str
    decimal: str
    encoding: str
    has_names: bool

    @property
    def settings(self) -> dict[str, str]:
        """The same as a profile says it."""
        return {
            "delimiter": self.delimiter,
            "decimal": self.decimal,
            "encoding": self.encoding,
            "header": "first_line" if self.has_names else "none",
        }


@dataclass(frozen=True, slots=True)
class TextSample:
    """What a preview finds of a text file.

    Attributes:
        names: Of the columns, each another one.
        rows: Some, from several places; each has a cell for each column.
    """

    form: TextForm
    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


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
    pieces = _pieces(file)
    if not pieces[0].strip():
        raise problems.empty(path)
    encoding = data.encoding or _found_encoding(path, pieces)
    is_whole = len(pieces) == 1
    texts = [_decoded(piece, encoding) for piece in pieces]
    if not is_whole and not re.search(r"[\r\n]", texts[0]):
        raise problems.line_too_long(path, FIRST_BYTES)
    delimiter = data.delimiter or _found_delimiter(texts[0])
    rows = _rows(texts[0], delimiter, is_whole=is_whole)
    if not rows:
        raise problems.empty(path) if is_whole else problems.line_too_long(path, FIRST_BYTES)
    first, width = rows[0], len(rows[0])
    if width > MOST_COLUMNS:
        raise problems.too_many_columns(path, width, MOST_COLUMNS)
    for text in texts[1:]:
        rows += _rows(text.partition("\n")[2], delimiter, is_whole=False)
    full = [row for row in rows[1:] if len(row) == width]
    decimal = data.decimal or _found_decimal(cell for row in (first, *full) for cell in row)
    has_names = (
        _has_names(first, full, decimal)
        if data.header is None
        else (data.header is HeaderLine.FIRST)
    )
    return TextSample(
        TextForm(delimiter, decimal, encoding, has_names),
        column_names(first if has_names else [""] * width),
        tuple(map(tuple, full if has_names else [first, *full])),
    )


def column_names(names: Sequence[str]) -> tuple[str, ...]:
    """The names with each one another: a second "x" is called "x (2)", an empty one "column 3"."""
    taken: set[str] = set()
    given: list[str] = []
    for place, name in enumerate(names, 1):
        name = wanted = name.strip() or f"column {place}"
        number = 2
        while name in taken:
            name, number = f"{wanted} ({number})", number + 1
        taken.add(name)
        given.append(name)
    return tuple(given)


def _pieces(file: BinaryIO) -> list[bytes]:
    size = os.fstat(file.fileno()).st_size
    pieces = [file.read(FIRST_BYTES)]
    if size <= FIRST_BYTES:
        return pieces
    last = size - _PIECE_BYTES
    for place in range(1, _PIECES + 1):
        # UTF-16 has two bytes a letter, and seldom four.
        file.seek(max(FIRST_BYTES, last * place // _PIECES) // 4 * 4)
        pieces.append(file.read(_PIECE_BYTES))
    return pieces


def _found_encoding(path: Path, pieces: Iterable[bytes]) -> str:
    first, *_ = pieces = list(pieces)
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if any(b"\0" in piece for piece in pieces):
        odd, even = first[1:2000:2], first[0:2000:2]
        if odd.count(0) > 0.9 * len(odd) and not even.count(0):
            return "utf-16"  # without its mark, little end first
        raise problems.no_text(path)
    if all(_is_utf8(piece, is_first=piece is first) for piece in pieces):
        return "utf-8"
    undefined = any(_UNDEFINED_IN_CP1252 & set(piece) for piece in pieces)
    return "iso8859-15" if undefined else "cp1252"


def _is_utf8(piece: bytes, *, is_first: bool) -> bool:
    if not is_first:
        # It may begin in the middle of a letter, whose other bytes begin with the bits 10.
        begin = next((at for at, byte in enumerate(piece[:4]) if byte & 0xC0 != 0x80), 4)
        piece = piece[begin:]
    try:
        codecs.getincrementaldecoder("utf-8")().decode(piece)
    except UnicodeDecodeError:
        return False
    return True


def _decoded(piece: bytes, encoding: str) -> str:
    return piece.decode(encoding, errors="replace").removeprefix("\ufeff")


def _found_delimiter(text: str) -> str:
    """The one that cuts most rows into as many cells as each other."""
    best, found = (0.0, 0), ","
    for delimiter in _DELIMITERS:
        rows = _rows(text, delimiter, is_whole=False, most=_DELIMITED_ROWS)
        widths = [len(row) for row in rows]
        if not widths:
            continue
        width, count = Counter(widths).most_common(1)[0]
        score = (round(count / len(widths), 2), width)
        if width > 1 and score > best:
            best, found = score, delimiter
    return found


def _rows(
    text: str, delimiter: str, *, is_whole: bool, most: int = _SAMPLED_ROWS
) -> list[list[str]]:
    """The first rows of a text; the last one of a piece may be cut short, and is left out."""
    before = csv.field_size_limit(FIRST_BYTES)
    try:
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        rows = list(islice((row for row in lines if row), most))
    except csv.Error:
        return []  # the reader of the whole file says where
    finally:
        csv.field_size_limit(before)
    return rows if is_whole or len(rows) in (0, 1, most) else rows[:-1]


def _found_decimal(cells: Iterable[str]) -> str:
    commas = points = 0
    for cell in cells:
        stripped = cell.strip()
        points += _WITH_POINT.fullmatch(stripped) is not None
        is_thousands = _THOUSANDS.fullmatch(stripped) is not None
        commas += not is_thousands and _WITH_COMMA.fullmatch(stripped) is not None
    return "," if commas > points else "."


def _has_names(first: Sequence[str], rows: Sequence[Sequence[str]], decimal: str) -> bool:
    if any(is_number(cell, decimal) for cell in first):
        return False
    # Without a number anywhere, names and rows are alike: most tables have names.
    return any(cell.strip() for cell in first) or not rows


def is_number(cell: str, decimal: str) -> bool:
    """Whether a cell is a number as a person writes it."""
    text = cell.strip()
    if decimal == ",":
        text = "" if "." in text else text.replace(",", ".")
    return _NUMBER.fullmatch(text) is not None
