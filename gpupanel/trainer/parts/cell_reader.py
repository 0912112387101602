"""Columns of a whole table as numbers, days and names."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gpupanel.domain.written_dates import DateEvidence, date_in
from gpupanel.domain.written_numbers import NumberEvidence, NumberForm, number_in, numbers_among
from gpupanel.trainer.parts.table_cells import (
    days_of,
    first_misfit,
    in_32_bits,
    is_text_type,
    name_of_key,
    name_of_number,
    name_of_text,
    numbers_of,
    without_numbers,
    without_words,
)

Written = Mapping[str, str]
"""How the numbers and dates of a column are written: what :class:`NumberForm` has, and the order of
day, month and year."""


class CellReader(NamedTuple):
    """Reads columns of cells.

    Attributes:
        empty: Words that mean that a cell of numbers or dates holds nothing.
        empty_names: Likewise a cell of names.
        decimal: What stands before decimals, for columns that do not show it.
        date_order: How day, month and year follow each other, likewise.
    """

    empty: Sequence[str]
    empty_names: Sequence[str]
    decimal: str | None
    date_order: str | None

    def with_words(self, empty_names: Sequence[str]) -> "CellReader":
        """The same with other words that mean nothing among names, and then among numbers."""
        empty = sorted({*self.empty, *empty_names})
        return self._replace(empty=empty, empty_names=empty_names)

    def written(self, cells: pa.Array) -> Written:
        """How numbers and dates in texts are written: one cell may show what the others mean."""
        evidence, of_dates = NumberEvidence(), DateEvidence()
        are_texts = is_text_type(cells.type)
        there = without_words(cells, self.empty).to_pylist() if are_texts else ()
        for cell, count in Counter(there).items():
            if cell is not None and not evidence.take(cell, count):
                of_dates.take(cell, count)
        form = evidence.found(self.decimal).form if are_texts else NumberForm()
        return {**form._asdict(), "date_order": of_dates.found(self.date_order).order}

    def numbers(self, cells: pa.Array, written: Written | None = None) -> npt.NDArray[np.float32]:
        """NaN where a cell holds nothing, or no finite number."""
        form = self._form(cells, written)
        cells = without_words(cells, self.empty)
        found = _held(numbers_of(cells, form), cells, partial(number_in, form=form))
        return in_32_bits(without_numbers(found, numbers_among(self.empty)))

    def days(
        self, cells: pa.Array, first: float | None = None, written: Written | None = None
    ) -> tuple[npt.NDArray[np.float32], float]:
        """Days since the first row's, or another day, and that day."""
        order = (written or self.written(cells))["date_order"]
        cells = without_words(cells, self.empty)
        found = _held(days_of(cells, order), cells, partial(date_in, order=order))
        if first is None:
            there = found[~np.isnan(found)]
            first = float(np.floor(there[0])) if len(there) else 0.0
        return (found - first).astype(np.float32), first

    def exact(self, cells: pa.Array, written: Written | None = None) -> list[str | None]:
        """Numbers as names that keep every digit."""
        form = self._form(cells, written)
        return _names(cells, partial(name_of_number, form=form, empty=self.empty))

    def texts(self, cells: pa.Array) -> list[str | None]:
        """The names of categories and classes."""
        words = {"empty": self.empty, "empty_names": self.empty_names}
        return _names(cells, partial(name_of_text, **words))

    def keys(self, cells: pa.Array) -> list[str | None]:
        """What marks rows that belong together."""
        return _names(cells, partial(name_of_key, empty_names=self.empty_names))

    def _form(self, cells: pa.Array, written: Written | None) -> NumberForm:
        written = written or self.written(cells)
        return NumberForm(written["decimal"], written["thousands"], written["unit"])


def _names(cells: pa.Array, name_of: Callable[[object], str | None]) -> list[str | None]:
    """The name of each cell, None where it holds nothing."""
    different = (cell for cell in pc.unique(cells).to_pylist() if cell is not None)
    known = {cell: name_of(cell) for cell in different}
    return [known.get(cell) for cell in cells.to_pylist()]


def _held(
    values: npt.NDArray[np.float64] | None, cells: pa.Array, read: Callable[[str], float | None]
) -> npt.NDArray[np.float64]:
    if values is None:
        _, text = first_misfit(cells, read)
        raise ValueError(f"A column of numbers or dates holds {text!r}.")
    return values
