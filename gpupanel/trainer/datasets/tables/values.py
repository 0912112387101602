"""What the cells of a column are as numbers."""

from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Floats = npt.NDArray[np.float64]
MICROSECONDS_A_DAY = 86_400_000_000
_MICROSECONDS = pa.timestamp("us")
_DATE_FORMS = ("%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S")


def numbers_of(column: pa.Array, decimal: str) -> Floats | None:
    """The numbers in a column, NaN where a cell holds nothing; ``None``: one cell is no number.

    Args:
        column: Texts, or numbers of any type.
        decimal: What stands before the decimals of those in texts.
    """
    if isinstance(column, pa.DictionaryArray):
        return _of_dictionary(column, numbers_of(column.dictionary, decimal))
    if not is_text(column.type):
        return _as_floats(column)
    texts = column
    if decimal == ",":
        if pc.any(pc.match_substring(texts, ".")).as_py():
            return None
        texts = pc.replace_substring(texts, ",", ".")
    try:
        return _as_floats(texts)
    except pa.ArrowInvalid:
        pass
    try:
        return _as_floats(pc.utf8_trim_whitespace(texts))
    except pa.ArrowInvalid:
        return None


def days_of(column: pa.Array) -> Floats | None:
    """The dates in a column as days since 1970, likewise; ``None``: one cell is no date."""
    if isinstance(column, pa.DictionaryArray):
        return _of_dictionary(column, days_of(column.dictionary))
    found = _parsed(column) if is_text(column.type) else column
    if found is None:
        return None
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


def first_misfit(column: pa.Array, decimal: str, *, is_date: bool) -> tuple[int, str]:
    """The place and the text of the first cell that is no number, or no date.

    Of a dictionary it is the place in that.
    """
    texts = texts_of(column)
    for place, cell in enumerate(texts):
        one = pa.array([cell.as_py()], pa.string())
        fits = days_of(one) if is_date else numbers_of(one, decimal)
        if fits is None:
            return place, str(cell)
    return 0, str(texts[0])


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


def _parsed(column: pa.Array) -> pa.Array | None:
    texts = texts_of(column)
    for kind in (_MICROSECONDS, pa.timestamp("us", "UTC")):
        try:
            return texts.cast(kind)
        except pa.ArrowInvalid:
            continue
    for form in _DATE_FORMS:
        try:
            return pc.strptime(texts, format=form, unit="us")
        except pa.ArrowInvalid:
            continue
    return None


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
