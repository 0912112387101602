"""What the cells of a column are as numbers."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gpupanel.domain.written_dates import date_in
from gpupanel.domain.written_numbers import number_in
from gpupanel.trainer.datasets.tables.written import CellForm
from gpupanel.trainer.parts.table_cells import codes_of_cells, is_text_type, texts_of_cells


def shown_day(days: float) -> str:
    """A day as people write it."""
    try:
        return datetime.fromtimestamp(days * 86_400, UTC).strftime("%Y-%m-%d")
    except (OverflowError, ValueError, OSError):
        return f"day {days:g}"


def cells_of(column: pa.Array) -> Iterator[tuple[str, int]]:
    """Each different text of a column that is no empty one, and how often it occurs."""
    if isinstance(column, pa.DictionaryArray):
        # Not decoded: a small file may hold a long text very often.
        codes = codes_of_cells(column)
        held = np.bincount(codes[codes >= 0], minlength=len(column.dictionary)).tolist()
        values = column.dictionary.to_pylist()
        return ((cell, count) for cell, count in zip(values, held, strict=True) if count and cell)
    counts = pc.value_counts(column)
    pairs = zip(counts.field("values").to_pylist(), counts.field("counts").to_pylist(), strict=True)
    return ((cell, count) for cell, count in pairs if cell is not None)


def have_zeros_before(column: pa.Array) -> bool:
    """Whether a text of a column is digits with zeros before them."""
    if not is_text_type(column.type):
        return False
    texts = texts_of_cells(column)
    first = texts.filter(pc.starts_with(texts, "0"))  # a regular expression takes far longer
    return bool(pc.any(pc.match_substring_regex(first, r"^0[0-9]+\s*$")).as_py())


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


def is_date(kind: pa.DataType) -> bool:
    """Whether cells of that type are dates."""
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))
