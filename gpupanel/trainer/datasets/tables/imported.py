"""A table as rows of numbers in a file of its own, and what is known of its columns.

Each column is one float32: a number; a date as days since the first row's; a category as its
number in the order in which categories were met; NaN where a cell holds nothing. What a model is
given is made of them when they are read (:mod:`gpupanel.trainer.datasets.tables.rows`), so that the
same file serves whatever target, columns and missing values are chosen.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import BinaryIO, Final, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gpupanel.domain.empty_words import EmptyWords
from gpupanel.domain.value import Value
from gpupanel.domain.written_dates import date_in
from gpupanel.domain.written_numbers import number_in
from gpupanel.trainer.datasets.tables.odd_numbers import OddNumbers
from gpupanel.trainer.datasets.tables.row_numbers import RowNumbers
from gpupanel.trainer.datasets.tables.values import have_zeros_before
from gpupanel.trainer.datasets.tables.written import CellForm
from gpupanel.trainer.parts.table_cells import (
    codes_of_cells,
    days_of,
    first_misfit,
    in_32_bits,
    name_of_key,
    name_of_number,
    name_of_text,
    numbers_of,
    without_numbers,
    without_words,
)

Kind = Literal["number", "category", "date", "text", "class", "key"]
"""A class is a number that names one; a key marks rows that belong together."""
MOST_KEYS: Final = 2**24
"""Different ones of a column: their numbers are kept in 32 bits, which distinguish so many."""
MOST_NAMES: Final = 10_000
"""A column of texts with more different ones is no category that is predicted, either."""
_MOST_NAME_BYTES: Final = 4 * 2**20
"""The most bytes of all names of a column together: longer ones are texts."""
_MOST_WORDS: Final = 5


class ColumnFacts(Value):
    """What is known of a column over the whole table.

    Attributes:
        name: Its name.
        kind: What it holds; texts are too many different ones to be a category, and so are
            classes without names.
        missing: Cells that hold nothing.
        infinite: Of them those that hold an infinite number, or one that 32 bits cannot hold.
        mean: Of a number or date, as it is in the file; 0 where there is none.
        least: The smallest number or date, likewise; ``None``: there is none, or an import of
            another version did not keep it.
        greatest: The largest one, likewise.
        first_day: Of dates: the day that is 0, in days since 1970.
        names: Of categories and classes, by their numbers.
        counts: How often each occurs.
        is_constant: All that it holds is the same.
        is_counting: Every number is whole and greater than the one before, as that of a row.
        is_permutation: It holds each number from a first to a last one once, in some order.
        is_whole: Every cell holds a whole number.
        far: A number, or a day since 1970, that stands for a missing value, as it seems, and in how
            many cells.
        are_days: Every number is a day, as 20260131.
        is_rounded: 32 bits keep few of the differences between the numbers.
        is_padded: Some of its texts are digits with zeros before them, such as 01067.
        empty_words: Words that were taken for nothing, and in how many cells; the most frequent.
    """

    name: str
    kind: Kind
    missing: int = 0
    infinite: int = 0
    mean: float = 0.0
    least: float | None = None
    greatest: float | None = None
    first_day: float = 0.0
    names: tuple[str, ...] = ()
    counts: tuple[int, ...] = ()
    is_constant: bool = False
    is_counting: bool = False
    is_permutation: bool = False
    is_whole: bool = False
    far: tuple[float, int] | None = None
    are_days: bool = False
    is_rounded: bool = False
    is_padded: bool = False
    empty_words: tuple[tuple[str, int], ...] = ()


class MisfitError(Exception):
    """A cell that is not of its column's kind.

    Attributes:
        row: Of the cell, from 0.
        is_last: No other cell of the column holds anything after it, as far as was read.
    """

    def __init__(
        self, row: int, column: str, text: str, kind: Kind, *, is_last: bool = False
    ) -> None:
        super().__init__(f"{column}: {text}")
        self.row, self.column, self.text, self.kind = row, column, text, kind
        self.is_last = is_last


class _Numbers:
    """A column of numbers, or of dates."""

    def __init__(self, name: str, kind: Kind, written: CellForm, empty: EmptyWords) -> None:
        self._name, self._kind, self._written, self._empty = name, kind, written, empty
        self._missing = self._infinite = self._count = 0
        self._sum = 0.0
        self._least, self._most = np.inf, -np.inf
        self._first_day: float | None = None
        self._is_counting, self._last = kind == "number", -np.inf
        self._row_numbers, self._odd = RowNumbers(), OddNumbers()
        self._is_padded = False

    def take(self, cells: pa.Array, row: int) -> npt.NDArray[np.float32]:
        is_date = self._kind == "date"
        written = self._written
        cells = without_words(cells, self._empty.in_numbers)
        self._is_padded = self._is_padded or (not is_date and have_zeros_before(cells))
        values = days_of(cells, written.date_order) if is_date else numbers_of(cells, written.form)
        if values is None:
            reads_date = partial(date_in, order=written.date_order)
            reads_number = partial(number_in, form=written.form)
            place, text = first_misfit(cells, reads_date if is_date else reads_number)
            after = cells.slice(place + 1)
            is_last = after.null_count == len(after)
            raise MisfitError(row + place, self._name, text, self._kind, is_last=is_last)
        if not is_date:
            values = without_numbers(values, self._empty.numbers)
        held = ~np.isnan(values)
        self._row_numbers.take(values)
        self._odd.take(values)
        if is_date:
            if self._first_day is None and held.any():
                self._first_day = float(np.floor(values[held][0]))
            values = values - (self._first_day or 0.0)
        numbers = in_32_bits(values)
        self._infinite += int((np.isnan(numbers) & held).sum())
        self._gather(numbers)
        return numbers

    def _gather(self, numbers: npt.NDArray[np.float32]) -> None:
        held = numbers[~np.isnan(numbers)]
        self._missing += len(numbers) - len(held)
        self._count += len(held)
        if not len(held):
            return
        self._sum += float(held.sum(dtype=np.float64))
        self._least = min(self._least, float(held.min()))
        self._most = max(self._most, float(held.max()))
        if self._is_counting:
            rises = held[0] > self._last and bool((np.diff(held) > 0).all())
            self._is_counting = rises and bool((held == np.floor(held)).all())
            self._last = float(held[-1])

    def facts(self) -> ColumnFacts:
        return ColumnFacts(
            name=self._name,
            kind=self._kind if self._count else "text",
            missing=self._missing,
            infinite=self._infinite,
            mean=self._sum / self._count if self._count else 0.0,
            least=self._least if self._count else None,
            greatest=self._most if self._count else None,
            first_day=self._first_day or 0.0,
            is_constant=self._least == self._most,
            is_counting=self._is_counting and self._count > 1 and not self._missing,
            is_permutation=self._kind == "number" and self._row_numbers.are_permutation,
            is_whole=self._kind == "number" and self._row_numbers.are_whole,
            far=self._odd.far(are_days=self._kind == "date"),
            are_days=self._kind == "number" and self._odd.are_days,
            is_rounded=self._kind == "number" and self._odd.is_rounded,
            is_padded=self._is_padded,
        )


NameOf = Callable[[object], str | None]


class _Names:
    """A column of which each different cell is a name, as long as they are not too many.

    Args:
        name: Of the column.
        kind: What it holds.
        name_of: The name of a cell, ``None`` where it holds nothing.
        empty: Words that mean nothing.
    """

    def __init__(self, name: str, kind: Kind, name_of: NameOf, empty: EmptyWords) -> None:
        self._name, self._kind, self._name_of, self._empty = name, kind, name_of, empty
        self._numbers: dict[str, int] = {}
        self._counts = np.zeros(0, np.int64)
        self._words: Counter[str] = Counter()
        self._bytes = self._missing = 0
        self._are_texts = False

    def take(self, cells: pa.Array, row: int) -> npt.NDArray[np.float32]:
        if self._are_texts:
            return self._texts(cells)
        if not isinstance(cells, pa.DictionaryArray):
            cells = cells.dictionary_encode()
        codes = codes_of_cells(cells)
        met, counts = np.unique(codes, return_counts=True)
        numbers = np.full(len(cells.dictionary) + 1, np.nan, np.float32)
        for code, count in zip(met.tolist(), counts.tolist(), strict=True):
            if code >= 0:
                cell = cells.dictionary[code].as_py()
                numbers[code] = self._number(cell, count, row, codes, code)
        found = numbers[codes]
        held = found[~np.isnan(found)].astype(np.int64)
        self._missing += len(found) - len(held)
        counted = np.bincount(held, minlength=len(self._numbers))
        counted[: len(self._counts)] += self._counts
        self._counts = counted
        self._are_texts = self._are_too_many()
        return found

    def _number(
        self, cell: object, count: int, row: int, codes: npt.NDArray[np.int64], code: int
    ) -> float:
        try:
            name = None if cell is None else self._name_of(cell)
        except ValueError:
            place = int(np.argmax(codes == code))
            raise MisfitError(row + place, self._name, str(cell), "number") from None
        if name is None:
            if isinstance(cell, str) and cell.strip():
                self._words[cell.strip()] += count
            return np.nan
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = len(self._numbers)
            self._bytes += len(name)
        return number

    def _texts(self, cells: pa.Array) -> npt.NDArray[np.float32]:
        """Which cells hold something; texts are not counted any more."""
        cells = without_words(cells, self._empty.in_names)
        if isinstance(cells, pa.DictionaryArray):
            of_values = np.asarray(cells.dictionary.is_null())
            is_missing = np.append(of_values, True)[codes_of_cells(cells)]
        else:
            is_missing = np.asarray(cells.is_null())
        self._missing += int(is_missing.sum())
        return np.where(is_missing, np.nan, 0.0).astype(np.float32)

    def _are_too_many(self) -> bool:
        if self._kind == "key":
            return len(self._numbers) > MOST_KEYS
        return len(self._numbers) > MOST_NAMES or self._bytes > _MOST_NAME_BYTES

    def facts(self) -> ColumnFacts:
        # A column of nothing but "NA" holds nothing.
        names = self._numbers.keys()
        is_empty = not names or (len(names) == 1 and names <= self._empty.unsure)
        is_known = not is_empty and not self._are_texts
        has_names = is_known and self._kind != "key"
        return ColumnFacts(
            name=self._name,
            kind=self._kind if is_known or self._kind == "class" else "text",
            missing=self._missing + (0 if is_known or self._are_texts else int(self._counts.sum())),
            names=tuple(self._numbers) if has_names else (),
            counts=tuple(self._counts.tolist()) if has_names else (),
            is_constant=len(self._numbers) == 1,
            empty_words=tuple(self._words.most_common(_MOST_WORDS)),
        )


def _column(name: str, kind: Kind, written: CellForm, empty: EmptyWords) -> _Names | _Numbers:
    match kind:
        case "number" | "date":
            return _Numbers(name, kind, written, empty)
        case "class":
            name_of: NameOf = partial(name_of_number, form=written.form, empty=empty.in_numbers)
        case "key":
            name_of = partial(name_of_key, empty_names=empty.in_names)
        case _:
            words = {"empty": empty.in_numbers, "empty_names": empty.in_names}
            kind, name_of = "category", partial(name_of_text, **words)
    return _Names(name, kind, name_of, empty)


def import_rows(
    batches: Iterable[pa.RecordBatch],
    columns: Iterable[tuple[str, Kind]],
    written: Mapping[str, CellForm],
    empty: EmptyWords,
    file: BinaryIO,
    progress: Callable[[int], None],
) -> tuple[int, tuple[ColumnFacts, ...]]:
    """Write the rows as numbers, in constant memory.

    Args:
        batches: The rows, with these columns in this order.
        columns: The name of each and what it holds.
        written: How numbers and dates in texts are written, by the names of their columns.
        empty: Words that mean that a cell holds nothing.
        file: Taken from where it is.
        progress: Called with how many rows are done.

    Returns:
        How many rows there are, and what is known of the columns.

    Raises:
        MisfitError: A cell is not of its column's kind.
        ProblemError: The rows cannot be read.
        OSError: Nor written.
    """
    named = list(columns)
    kept = [_column(name, kind, written.get(name, CellForm()), empty) for name, kind in named]
    rows = 0
    for batch in batches:
        block = np.empty((batch.num_rows, len(kept)), np.float32)
        for place, (column, cells) in enumerate(zip(kept, batch.columns, strict=True)):
            block[:, place] = column.take(cells, rows)
        file.write(block.data)
        rows += batch.num_rows
        progress(rows)
    return rows, tuple(column.facts() for column in kept)
