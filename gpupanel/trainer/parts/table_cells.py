"""Cells of a table's columns as numbers, days and names."""

import re
import unicodedata
from collections.abc import Callable, Collection, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gpupanel.domain.written_dates import date_in
from gpupanel.domain.written_numbers import SHARES, NumberForm, number_in, plain_number

Float64s = npt.NDArray[np.float64]
MICROSECONDS = pa.timestamp("us")
MICROSECONDS_A_DAY = 86_400_000_000
WHOLE_NUMBER = re.compile(r"([+-]?)([0-9]+)(?:[.]0*)?")


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


def is_text_type(kind: pa.DataType) -> bool:
    """Whether cells of that type are texts."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def is_number_type(kind: pa.DataType) -> bool:
    """Whether cells of that type are numbers; true and false are 1 and 0."""
    types = pa.types
    known = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    return bool(known or types.is_boolean(kind) or types.is_null(kind))


def without_words(cells: pa.Array, words: Collection[str]) -> pa.Array:
    """Texts with nothing in place of white space alone and of these words; others as they are."""
    if isinstance(cells, pa.DictionaryArray):
        # Decoded it may be larger than memory.
        values = without_words(cells.dictionary, words)
        return pa.DictionaryArray.from_arrays(cells.indices, values)
    if not is_text_type(cells.type):
        return cells
    empty = pa.array(["", *words], pa.string())
    if cells.type != pa.string():
        cells = cells.cast(pa.string())
    is_empty = pc.is_in(pc.utf8_trim_whitespace(cells), empty)
    if not pc.any(is_empty).as_py():
        return cells
    return pc.if_else(is_empty, pa.scalar(None, pa.string()), cells)


def numbers_of(column: pa.Array, form: NumberForm) -> Float64s | None:
    """The numbers in a column, NaN where a cell holds nothing; ``None``: one cell is no number.

    Where texts may be as programs write numbers, they are read ten times as fast.

    Args:
        column: Texts, or numbers of any type.
        form: How those in texts are written.
    """
    if isinstance(column, pa.DictionaryArray):
        return _of_dictionary(column, numbers_of(column.dictionary, form))
    if not is_text_type(column.type):
        return _as_floats(column)
    quick = None if form.unit in SHARES else _quick_numbers(column, form.decimal)
    return quick if quick is not None else _read_each(column, lambda cell: number_in(cell, form))


def first_misfit(column: pa.Array, read: Callable[[str], float | None]) -> tuple[int, str]:
    """The place and the text of the first cell in which nothing is read."""
    texts = texts_of_cells(column)
    for place, cell in enumerate(texts.to_pylist()):
        if cell is not None and read(cell) is None:
            if isinstance(column, pa.DictionaryArray):
                place = int(np.argmax(codes_of_cells(column) == place))
            return place, cell
    return 0, str(texts[0])


def _quick_numbers(column: pa.Array, decimal: str) -> Float64s | None:
    """Where all cells are as programs write them."""
    if decimal not in (".", ","):
        return None
    if decimal == ",":
        if pc.any(pc.match_substring(column, ".")).as_py():
            return None
        column = pc.replace_substring(column, ",", ".")
    try:
        return _as_floats(column)
    except pa.ArrowInvalid:
        return None


def days_of(column: pa.Array, order: str) -> Float64s | None:
    """The dates in a column as days since 1970, likewise; ``None``: one cell is no date.

    Args:
        column: Texts, or dates of any type.
        order: In which day, month and year follow each other in texts.
    """
    if isinstance(column, pa.DictionaryArray):
        return _of_dictionary(column, days_of(column.dictionary, order))
    if is_number_type(column.type):
        # A day as 20260131: not a time in microseconds.
        try:
            column = column.cast(pa.int64()).cast(pa.string())
        except pa.ArrowInvalid:
            return None
    found = _quick_dates(column) if is_text_type(column.type) else column
    if found is None:
        return _read_each(column, lambda cell: date_in(cell, order))
    try:
        stamps = pc.cast(found, MICROSECONDS, safe=False).cast(pa.int64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    return _as_floats(stamps) / MICROSECONDS_A_DAY


def _quick_dates(column: pa.Array) -> pa.Array | None:
    """Where all cells have ISO's form, and all or none a time zone."""
    texts = texts_of_cells(column)
    for kind in (MICROSECONDS, pa.timestamp("us", "UTC")):
        try:
            return texts.cast(kind)
        except pa.ArrowInvalid:
            continue
    return None


def texts_of_cells(column: pa.Array) -> pa.Array:
    """The cells as texts; those of a dictionary each once."""
    if isinstance(column, pa.DictionaryArray):
        column = column.dictionary
    return column if column.type == pa.string() else column.cast(pa.string())


def codes_of_cells(column: pa.DictionaryArray) -> npt.NDArray[np.int64]:
    """Which of the dictionary's values each cell holds; -1: it holds nothing."""
    codes = column.indices.cast(pa.int64()).fill_null(-1)
    return np.asarray(codes.to_numpy(zero_copy_only=False), np.int64)


def _read_each(column: pa.Array, read: Callable[[str], float | None]) -> Float64s | None:
    """What is read in each text; ``None``: one of them is not of that kind."""
    coded = column.dictionary_encode()
    found = [np.nan if text is None else read(text) for text in coded.dictionary.to_pylist()]
    if None in found:
        return None
    return np.append(np.asarray(found, np.float64), np.nan)[codes_of_cells(coded)]


def _of_dictionary(column: pa.DictionaryArray, values: Float64s | None) -> Float64s | None:
    if values is None:
        return None
    # The last one is for cells that hold nothing.
    return np.append(values, np.nan)[codes_of_cells(column)]


def _as_floats(column: pa.Array) -> Float64s:
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    floats = column.cast(pa.float64(), safe=False)
    return np.asarray(floats.to_numpy(zero_copy_only=False), np.float64)


def without_numbers(values: Float64s, empty: Sequence[float]) -> Float64s:
    """The values with NaN in place of those that mean nothing, such as -999."""
    return np.where(np.isin(values, empty), np.nan, values) if len(empty) else values


def in_32_bits(values: Float64s) -> npt.NDArray[np.float32]:
    """The values with NaN in place of those that are infinite, or that 32 bits cannot hold."""
    with np.errstate(over="ignore"):
        numbers = values.astype(np.float32)
    numbers[np.isinf(numbers)] = np.nan
    return numbers


def name_of_number(cell: object, form: NumberForm, empty: Collection[str]) -> str | None:
    """A number as the name of a class: 7, 7.0 and 007 are "7", and no digit is lost.

    Args:
        cell: A text or number of Python's.
        form: How those in texts are written.
        empty: Words that mean nothing.

    Returns:
        ``None`` where the cell holds nothing.

    Raises:
        ValueError: It is no number.
    """
    if isinstance(cell, bool):
        return str(int(cell))
    if isinstance(cell, float):
        shown = _shown(cell)
        return None if shown is None else name_of_number(shown, NumberForm(), empty)
    word = str(cell).strip()  # of a whole number, or of one of so many decimals, too
    if not word or word in empty:
        return None
    number = plain_number(word, form if isinstance(cell, str) else NumberForm())
    if number is None:
        raise ValueError(cell)
    found = WHOLE_NUMBER.fullmatch(number)
    if found is None:
        name = _shown(float(number))
    else:
        digits = found[2].lstrip("0") or "0"
        name = f"-{digits}" if found[1] == "-" and digits != "0" else digits
    return None if name in empty else name


def _shown(value: float) -> str | None:
    if not np.isfinite(value):
        return None
    return str(int(value)) if value == int(value) else str(value)


def name_of_text(cell: object, empty: Collection[str], empty_names: Collection[str]) -> str | None:
    """A category: a text in one form of Unicode, since two that look alike are alike.

    Args:
        cell: Of any type of Python's.
        empty: Words that mean nothing among numbers.
        empty_names: Likewise among names.
    """
    if isinstance(cell, bool):
        return str(cell)  # as pandas writes it to a text file
    if not isinstance(cell, str):
        return name_of_number(cell, NumberForm(), empty)
    word = cell.strip()
    if not word or word in empty_names:
        return None
    return unicodedata.normalize("NFC", cell)


def name_of_key(cell: object, empty_names: Collection[str]) -> str | None:
    """What marks rows that belong together: as it is written, whole numbers without decimals."""
    if isinstance(cell, float):
        return _shown(cell)
    if not isinstance(cell, str):
        return str(cell)
    word = cell.strip()
    if not word or word in empty_names:
        return None
    name = unicodedata.normalize("NFC", word)
    whole = WHOLE_NUMBER.fullmatch(name)
    return name if whole is None else whole[1].removeprefix("+") + whole[2]
