"""What the cells of a column are as numbers."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gpupanel.domain.written_dates import date_in
from gpupanel.domain.written_numbers import SHARES, NumberForm, number_in
from gpupanel.trainer.datasets.tables.written import CellForm

Floats = npt.NDArray[np.float64]
MICROSECONDS_A_DAY = 86_400_000_000
_MICROSECONDS = pa.timestamp("us")


def numbers_of(column: pa.Array, form: NumberForm) -> Floats | None:
    """The numbers in a column, NaN where a cell holds nothing; ``None``: one cell is no number.

    Args:
        column: Texts, or numbers of any type.
        form: How those in texts are written.
    """
    if isinstance(column, pa.DictionaryArray):
        return _of_dictionary(column, numbers_of(column.dictionary, form))
    if not is_text(column.type):
        return _as_floats(column)
    quick = _quick_numbers(column, form)
    return quick if quick is not None else _each(column, lambda cell: number_in(cell, form))


def _quick_numbers(column: pa.Array, form: NumberForm) -> Floats | None:
    """Where all cells are as programs write them; Python takes ten times as long."""
    if form.unit in SHARES or form.decimal not in ".,":
        return None
    if form.decimal == ",":
        if pc.any(pc.match_substring(column, ".")).as_py():
            return None
        column = pc.replace_substring(column, ",", ".")
    try:
        return _as_floats(column)
    except pa.ArrowInvalid:
        return None


def days_of(column: pa.Array, order: str) -> Floats | None:
    """The dates in a column as days since 1970, likewise; ``None``: one cell is no date.

    Args:
        column: Texts, or dates of any type.
        order: In which day, month and year follow each other in texts.
    """
    if isinstance(column, pa.DictionaryArray):
        return _of_dictionary(column, days_of(column.dictionary, order))
    if is_number(column.type):
        # A day as 20260131: not a time in microseconds.
        try:
            column = column.cast(pa.int64()).cast(pa.string())
        except pa.ArrowInvalid:
            return None
    found = _quick_dates(column) if is_text(column.type) else column
    if found is None:
        return _each(column, lambda cell: date_in(cell, order))
    try:
        stamps = pc.cast(found, _MICROSECONDS, safe=False).cast(pa.int64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    return _as_floats(stamps) / MICROSECONDS_A_DAY


def shown_day(days: float) -> str:
    """A day as people write it."""
    try:
        return datetime.fromtimestamp(days * 86_400, UTC).strftime("%Y-%m-%d")
    except (OverflowError, ValueError, OSError):
        return f"day {days:g}"


def texts_of(column: pa.Array) -> pa.Array:
    """The cells as texts; those of a dictionary each once."""
    if isinstance(column, pa.DictionaryArray):
        column = column.dictionary
    return column if column.type == pa.string() else column.cast(pa.string())


def cells_of(column: pa.Array) -> Iterator[tuple[str, int]]:
    """Each different text of a column that is no empty one, and how often it occurs."""
    if isinstance(column, pa.DictionaryArray):
        # Not decoded: a small file may hold a long text very often.
        codes = codes_of(column)
        held = np.bincount(codes[codes >= 0], minlength=len(column.dictionary)).tolist()
        values = column.dictionary.to_pylist()
        return ((cell, count) for cell, count in zip(values, held, strict=True) if count and cell)
    counts = pc.value_counts(column)
    pairs = zip(counts.field("values").to_pylist(), counts.field("counts").to_pylist(), strict=True)
    return ((cell, count) for cell, count in pairs if cell is not None)


def have_zeros_before(column: pa.Array) -> bool:
    """Whether a text of a column is digits with zeros before them."""
    if not is_text(column.type):
        return False
    texts = texts_of(column)
    first = texts.filter(pc.starts_with(texts, "0"))  # a regular expression takes far longer
    return bool(pc.any(pc.match_substring_regex(first, r"^0[0-9]+\s*$")).as_py())


def first_misfit(column: pa.Array, written: CellForm, *, is_date: bool) -> tuple[int, str]:
    """The place and the text of the first cell that is no number, or no date."""
    texts = texts_of(column)
    for place, cell in enumerate(texts.to_pylist()):
        if cell is None:
            continue
        fits = date_in(cell, written.date_order) if is_date else number_in(cell, written.form)
        if fits is None:
            if isinstance(column, pa.DictionaryArray):
                place = int(np.argmax(codes_of(column) == place))
            return place, cell
    return 0, str(texts[0])


def read_as(cell: str, kind: str, written: CellForm) -> str:
    """How a cell of numbers or dates is read, as programs write it; empty: it is not read."""
    if kind == "date":
        days = date_in(cell, written.date_order)
        if days is None:
            return ""
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=days)
        return moment.strftime("%Y-%m-%d" if days == int(days) else "%Y-%m-%d %H:%M:%S")
    number = number_in(cell, written.form)
    return "" if number is None else f"{number!r}".removesuffix(".0")


def is_text(kind: pa.DataType) -> bool:
    """Whether cells of that type are texts."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def is_number(kind: pa.DataType) -> bool:
    """Whether cells of that type are numbers; true and false are 1 and 0."""
    types = pa.types
    known = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    return bool(known or types.is_boolean(kind) or types.is_null(kind))


def is_date(kind: pa.DataType) -> bool:
    """Whether cells of that type are dates."""
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def _quick_dates(column: pa.Array) -> pa.Array | None:
    """Where all cells have ISO's form, and all or none a time zone."""
    texts = texts_of(column)
    for kind in (_MICROSECONDS, pa.timestamp("us", "UTC")):
        try:
            return texts.cast(kind)
        except pa.ArrowInvalid:
            continue
    return None


def _each(column: pa.Array, read: Callable[[str], float | None]) -> Floats | None:
    """What is read in each text; ``None``: one of them is not of that kind."""
    coded = column.dictionary_encode()
    found = [np.nan if text is None else read(text) for text in coded.dictionary.to_pylist()]
    if None in found:
        return None
    return np.append(np.asarray(found, np.float64), np.nan)[codes_of(coded)]


def _of_dictionary(column: pa.DictionaryArray, values: Floats | None) -> Floats | None:
    if values is None:
        return None
    codes = codes_of(column)
    # The last one is for cells that hold nothing.
    return np.append(values, np.nan)[codes]


def codes_of(column: pa.DictionaryArray) -> npt.NDArray[np.int64]:
    """Which of the dictionary's values each cell holds; -1: it holds nothing."""
    codes = column.indices.cast(pa.int64()).fill_null(-1)
    return np.asarray(codes.to_numpy(zero_copy_only=False), np.int64)


def _as_floats(column: pa.Array) -> Floats:
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    floats = column.cast(pa.float64(), safe=False)
    return np.asarray(floats.to_numpy(zero_copy_only=False), np.float64)
