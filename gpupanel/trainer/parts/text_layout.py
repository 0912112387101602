"""Where in a text the rows of a table are: its encoding, its delimiter, its first line, its quotes.

It stands beside an exported model, too, since ``predict.py`` reads a file as training does: it
needs nothing but Python's standard library.
"""

import codecs
import csv
import io
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import BinaryIO, Literal

FIRST_BYTES = 2**20
"""Names and first rows stand in so many bytes."""
LONGEST_CELL = 2**20
_PIECE_BYTES = 128 * 2**10
_PIECES = 6
DELIMITERS = (",", ";", "\t", "|")
_DELIMITED_ROWS = 200
_MOST_SKIPPED = 100
_FEW_DIFFERENT = 20
_UNDEFINED_IN_CP1252 = frozenset(b"\x81\x8d\x8f\x90\x9d")
_SEPARATOR = re.compile(r"sep=([,;\t|])\r?\n", re.IGNORECASE)
"""Spreadsheets write and read a first line that names the delimiter."""

IsNumber = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class TextLayout:
    """Where the rows of a table are in a text.

    Attributes:
        has_quotes: A cell may stand in quotation marks; else these are letters.
        skipped: So many lines stand before the table.
        row_names: The cells before those that the first line names: 1 where it has one less.
        unnamed: The cells after them, which hold nothing.
    """

    delimiter: str
    has_quotes: bool
    skipped: int
    row_names: int = 0
    unnamed: int = 0

    def names(self, first: Sequence[str]) -> list[str]:
        """The names of all columns, as the first line has them; empty ones where it has none."""
        return [*[""] * self.row_names, *first, *[""] * self.unnamed]


def pieces_of(file: BinaryIO) -> list[bytes]:
    """The beginning of a file, and where it is longer places in between and its end.

    Args:
        file: At its start.

    Raises:
        OSError: It cannot be read.
    """
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


def detected_encoding(pieces: Iterable[bytes]) -> str | None:
    """In which encoding pieces of a text are; ``None``: they are no text.

    Args:
        pieces: Of a file, the first one at its start.
    """
    first, *_ = pieces = list(pieces)
    if first.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return None
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if any(b"\0" in piece for piece in pieces):
        # Without its mark: letters of Latin have one byte that is 0, and it comes last or first.
        odd, even = first[1:2000:2], first[0:2000:2]
        for encoding, zeros, others in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
            if zeros.count(0) > 0.9 * len(zeros) and not others.count(0):
                return encoding
        return None
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


def detected_layout(
    text: str,
    is_number: IsNumber,
    *,
    is_whole: bool,
    delimiter: str | None = None,
    has_quotes: bool | None = None,
    skipped: int | None = None,
) -> TextLayout:
    """Where the rows of a table are.

    Args:
        text: The beginning of a file.
        is_number: Whether a cell is a number.
        is_whole: It is all of it.
        delimiter: As it was chosen; ``None``: found.
        has_quotes: Whether cells may stand in quotation marks; ``None``: found.
        skipped: How many lines stand before the table; ``None``: found.
    """
    said = _SEPARATOR.match(text)
    if said is not None and skipped is None:
        skipped, delimiter = 1, delimiter or said[1]
    lines = text_after(text, skipped or 0)
    if delimiter is None:
        delimiter = _detected_delimiter(lines, is_number, has_quotes=has_quotes is not False)
    if has_quotes is None:
        has_quotes = not _are_letters(lines, delimiter, is_number, is_whole=is_whole)
    rows = list(islice(_numbered_rows(lines, delimiter, has_quotes=has_quotes), _DELIMITED_ROWS))
    if not is_whole and 1 < len(rows) < _DELIMITED_ROWS:
        rows.pop()
    if skipped is None:
        skipped = _lines_before(rows, is_number)
        rows = [row for row in rows if row[0] > skipped]
    if skipped:
        # Empty lines that follow hold no names, either.
        after = islice(io.StringIO(text, newline=""), skipped, None)
        skipped += sum(1 for _ in takewhile(lambda line: not line.strip("\r\n"), after))
    before, unnamed = _nameless(rows, is_number)
    return TextLayout(delimiter, has_quotes, skipped, before, unnamed)


def text_after(text: str, lines: int) -> str:
    """The text without its first lines, whatever ends them."""
    if not lines:
        return text
    return "".join(islice(io.StringIO(text, newline=""), lines, None))


def rows_of(text: str, delimiter: str, *, has_quotes: bool) -> Iterator[list[str]]:
    """The cells of each line that holds something.

    Raises:
        csv.Error: It is no such text.
    """
    return (row for _, row in _numbered_rows(text, delimiter, has_quotes=has_quotes))


def _numbered_rows(
    text: str, delimiter: str, *, has_quotes: bool
) -> Iterator[tuple[int, list[str]]]:
    """Each row with the number of its last line, from 1; none after one that is no row."""
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if has_quotes else csv.QUOTE_NONE
    # A field's limit is Python's, for all readers.
    before = csv.field_size_limit(LONGEST_CELL)
    try:
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting)
        for row in lines:
            if row:
                yield lines.line_num, row
    finally:
        csv.field_size_limit(before)


def _some_rows(text: str, delimiter: str, *, has_quotes: bool) -> list[list[str]]:
    try:
        return list(islice(rows_of(text, delimiter, has_quotes=has_quotes), _DELIMITED_ROWS))
    except csv.Error:
        return []  # the reader of the whole file says where


def _detected_delimiter(text: str, is_number: IsNumber, *, has_quotes: bool) -> str:
    """The one that cuts most rows into as many cells as each other, of which few hold another one.

    The commas of 1,5;2,5 stand in numbers; where it is cut at these, semicolons stand in no number.
    """
    best, found = (0.0, 0.0, 0), ","
    for delimiter in DELIMITERS:
        rows = _some_rows(text, delimiter, has_quotes=has_quotes)
        rows = rows[:-1] if 1 < len(rows) < _DELIMITED_ROWS else rows
        if not rows:
            continue
        width, count = Counter(map(len, rows)).most_common(1)[0]
        cells = [cell for row in rows for cell in row]
        whole = sum(_is_whole(cell, delimiter, is_number) for cell in cells)
        score = (round(count / len(rows), 2), round(whole / len(cells), 2), width)
        if width > 1 and score > best:
            best, found = score, delimiter
    return found


def _is_whole(cell: str, delimiter: str, is_number: IsNumber) -> bool:
    """Whether no other delimiter may cut a cell."""
    return not any(each in cell for each in DELIMITERS if each != delimiter) or is_number(cell)


def _lines_before(rows: Sequence[tuple[int, list[str]]], is_number: IsNumber) -> int:
    """How many lines stand before a table: those with at most half as many cells as its rows."""
    widths = [len(row) for _, row in rows]
    if not widths:
        return 0
    width, count = Counter(widths).most_common(1)[0]
    first = next(place for place, cells in enumerate(widths) if cells == width)
    if width < 2 or not 0 < first <= _MOST_SKIPPED:
        first = 0
    if max(widths[:first], default=0) > width / 2 or count < 0.9 * (len(rows) - first):
        return 0
    # Spreadsheets save a title with as many delimiters as a row has.
    while width > 2 and first + 1 < len(rows) and _is_title(rows[first][1], rows[first + 1][1]):
        first += 1
    if not first:
        return 0
    if len(rows[first - 1][1]) > 1 and any(map(is_number, rows[first][1])):
        return 0  # the names of columns with a delimiter missing, as it seems
    line, row = rows[first]
    return line - 1 - sum(cell.count("\n") for cell in row)


def _is_title(row: Sequence[str], after: Sequence[str]) -> bool:
    held, held_after = ([cell for cell in each if cell.strip()] for each in (row, after))
    return len(held) <= 1 and len(held_after) > 1 and bool(row[0].strip() or not held)


def _nameless(rows: Sequence[tuple[int, list[str]]], is_number: IsNumber) -> tuple[int, int]:
    """How many cells of each row have no name: of those before the first name, and after all."""
    if len(rows) < 2:
        return 0, 0
    (_, first), *others = rows
    if any(len(row) != len(first) + 1 for _, row in others) or any(map(is_number, first)):
        return 0, 0
    if not any(row[-1].strip() for _, row in others):
        return 0, 1
    # A quotation mark behind a space is a letter: such a cell may be cut in two.
    if any(cell.count('"') % 2 for _, row in others for cell in row if cell[:1] == " "):
        return 0, 0
    names = {row[0] for _, row in others}
    are_names = len(names) == len(others) and all(cell.strip() for cell in first)
    return int(are_names and len({*first}) == len(first)), 0


def _are_letters(text: str, delimiter: str, is_number: IsNumber, *, is_whole: bool) -> bool:
    """Whether quotation marks are letters: with them cells hold lines, and each line is a row."""
    try:
        quoted = list(rows_of(text, delimiter, has_quotes=True))
        lines = list(rows_of(text, delimiter, has_quotes=False))
    except csv.Error:
        return False
    lines = lines if is_whole or len(lines) < 2 else lines[:-1]
    single = [row for row in quoted if not any("\n" in cell or "\r" in cell for cell in row)]
    if len(single) == len(quoted) or not single:
        return False
    width = len(single[0])
    if width < 2 or any(len(row) != width for row in (*single, *lines)):
        return False
    # The columns of which it is known what they hold: each line holds that, too.
    fits = [_fits(single, lines, place, is_number) for place in range(width)]
    is_sure = delimiter == "\t" or width > 2
    return False not in fits and (True in fits or is_sure)


def _fits(
    single: Sequence[Sequence[str]],
    lines: Sequence[Sequence[str]],
    place: int,
    is_number: IsNumber,
) -> bool | None:
    """Whether a cell of each line is one of its column; ``None``: it may hold anything."""
    held = {row[place] for row in single[1:]}
    cells = (row[place] for row in lines[1:])
    if held and all(map(is_number, held)):
        return all(map(is_number, cells))
    if len(held) <= _FEW_DIFFERENT and len(held) <= len(single) / 2:
        return held.issuperset(cells)
    return None
