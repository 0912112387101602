"""How the columns of a table write numbers and dates, found in their cells."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa

from gpupanel.domain.empty_words import EmptyWords
from gpupanel.domain.table_data import ORDER_OF_SETTING, TableData
from gpupanel.domain.written_dates import DateEvidence, FoundDates
from gpupanel.domain.written_numbers import FoundNumbers, NumberEvidence
from gpupanel.trainer.datasets.tables.empty_cells import is_word_for_nothing
from gpupanel.trainer.datasets.tables.imported import Kind
from gpupanel.trainer.datasets.tables.loose_cells import Look, look_of
from gpupanel.trainer.datasets.tables.values import cells_of
from gpupanel.trainer.datasets.tables.written import CellForm

_MOST_MISFITS = 0.1
"""A column with so few cells that are no numbers is one of numbers with typing errors."""
_MANY_FIT = 0.8
"""A column of categories of which so many are numbers or dates looks like these."""
_FEW_DIFFERENT = 20
_MOST_KEPT = 1000
_LEAST_NUMBERS = 10
_SOME_FIT = 0.2
"""A column of which so many are numbers, and all other cells one word, looks like numbers."""

SETTING_OF_ORDER: Final = {order: setting for setting, order in ORDER_OF_SETTING.items()}


@dataclass(frozen=True, slots=True)
class ColumnLook:
    """What the cells of a column look like.

    Attributes:
        example: A number or date that is written otherwise than programs write it.
        unclear: One that may mean two numbers or dates, where no other cell shows which.
        seems: A column of categories that looks like one of numbers or dates.
        word: Its only text without a digit: it may mean that a cell is empty.
        word_rows: In how many rows that stands.
        are_saved_as_texts: All of its texts are such, in a file that has a type for these.
    """

    kind: Kind
    written: CellForm
    example: str = ""
    unclear: str = ""
    seems: Kind | None = None
    word: str = ""
    word_rows: int = 0
    are_saved_as_texts: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether its numbers or dates are as programs write them, or it has none."""
        return not (self.example or self.unclear or self.seems)


@dataclass(slots=True)
class ColumnEvidence:
    """What the cells of a column show."""

    numbers: NumberEvidence = field(default_factory=NumberEvidence)
    dates: DateEvidence = field(default_factory=DateEvidence)
    loose: Counter[Look] = field(default_factory=Counter)
    example: str = ""
    different: set[str] = field(default_factory=set)
    words: Counter[str] = field(default_factory=Counter)

    def take(self, cell: str, count: int = 1) -> None:
        """A cell that holds something, and how often it occurs."""
        if len(self.different) < _MOST_KEPT:
            self.different.add(cell)
        if not self.numbers.take(cell, count) and not self.dates.take(cell, count):
            word, look = cell.strip(), look_of(cell)
            if (len(self.words) < 2 or word in self.words) and is_word_for_nothing(word):
                self.words[word] += count
            self.loose[look] += count
            if look:
                self.example = self.example or cell

    @property
    def _few_misfits(self) -> float:
        is_varied = len(self.different) > _FEW_DIFFERENT
        return _MOST_MISFITS * self.numbers.held if is_varied else 0.0

    def look(
        self, decimal: str | None, order: str | None, chosen: Kind | None = None
    ) -> ColumnLook:
        """What the column holds.

        Args:
            decimal: What stands before decimals elsewhere in the table, where that is known.
            order: In which order dates are written elsewhere in the table, likewise.
            chosen: What a person or a trained model says that it holds.
        """
        numbers = self.numbers.found(decimal)
        dates = self.dates.found(order)
        kind = chosen or self._kind(numbers, dates)
        written = CellForm(
            decimal=numbers.form.decimal,
            thousands=numbers.form.thousands,
            unit=numbers.form.unit,
            date_order=dates.order,
        )
        if kind in ("number", "class", "date"):
            found = dates if kind == "date" else numbers
            unclear = "" if found.is_sure else found.example
            return ColumnLook(kind, written, found.example, unclear)
        seems, example = (None, "") if chosen else self._seems(numbers, dates)
        (word, rows), *others = self.words.most_common() or [("", 0)]
        if others or not seems:
            word, rows = "", 0
        return ColumnLook(kind, written, example, "", seems, word, rows)

    def shows_decimal(self) -> str | None:
        """The mark before decimals that its cells show; ``None``: they do not."""
        found = self.numbers.found()
        is_number = self.numbers.held and found.misfits <= self._few_misfits
        return found.form.decimal if is_number and found.is_known else None

    def shows_order(self) -> str | None:
        """The order of dates that its cells show, likewise."""
        found = self.dates.found()
        return found.order if self.dates.shaped and found.is_known else None

    def _kind(self, numbers: FoundNumbers, dates: FoundDates) -> Kind:
        held = self.numbers.held
        if held and numbers.misfits <= self._few_misfits:
            return "number"
        if self.dates.are_seasons:
            return "category"
        fitting = self.dates.held - dates.misfits
        if self.dates.shaped and self.dates.shaped == held and 2 * fitting >= held:
            return "date"
        if held and held - fitting <= self._few_misfits:
            return "date"
        return "category"  # whatever may come is one, if it is not too many

    def _seems(self, numbers: FoundNumbers, dates: FoundDates) -> tuple[Kind | None, str]:
        many = _MANY_FIT * self.numbers.held
        if not self.numbers.held or self.dates.are_seasons:
            return None, ""
        are_numbers = self.numbers.held - self.dates.held
        example = numbers.example or next(iter(sorted(self.different)))
        if are_numbers >= many:
            return "number", example
        if self.loose["measure"] + are_numbers >= many:
            return "number", self.example
        if self.dates.shaped + self.loose["date"] >= many:
            return "date", dates.example or self.example or example
        are_varied = len(self.different) > _FEW_DIFFERENT
        if are_varied and self.loose["number"] + self.loose["measure"] + are_numbers >= many:
            return "number", self.example
        least = max(_LEAST_NUMBERS, _SOME_FIT * self.numbers.held)
        is_one_word = len(self.words) == 1 and self.words.total() == self.dates.held
        if is_one_word and are_numbers >= least and len(self.different) > _LEAST_NUMBERS:
            return "number", example
        return None, ""


def looks_of(
    data: TableData,
    columns: Sequence[str],
    evidence: Mapping[str, ColumnEvidence],
    chosen: Mapping[str, Kind],
) -> tuple[dict[str, ColumnLook], str, str | None]:
    """What the columns of a text file hold, the mark before decimals, and the order of dates.

    Args:
        data: What a person chose.
        columns: The names of all.
        evidence: Of each.
        chosen: What some are known to hold.
    """
    numbered = [
        evidence[name] for name in columns if chosen.get(name, "number") in ("number", "class")
    ]
    decimals = [mark for each in numbered if (mark := each.shows_decimal())]
    orders = {order for name in columns if (order := evidence[name].shows_order())}
    is_one = len(set(decimals)) == 1
    decimal = data.decimal or (decimals[0] if is_one else None)
    order = ORDER_OF_SETTING[data.date_order] if data.date_order else None
    if order is None and len(orders) == 1:
        (order,) = orders
    looks = {name: evidence[name].look(decimal, order, chosen.get(name)) for name in columns}
    return looks, decimal or ".", order


def evidence_of(cells: Iterable[str]) -> ColumnEvidence:
    """What these cells show, each of which holds something."""
    found = ColumnEvidence()
    for cell, count in Counter(cells).items():
        found.take(cell, count)
    return found


def complete_evidence(
    batches: Iterable[pa.RecordBatch], places: Sequence[int], empty: EmptyWords
) -> tuple[ColumnEvidence, ...]:
    """What all cells of some columns of texts show.

    Args:
        batches: All rows.
        places: Of these columns.
        empty: Words that mean that a cell holds nothing.

    Raises:
        ProblemError: The rows cannot be read.
    """
    found = tuple(ColumnEvidence() for _ in places)
    for batch in batches:
        for place, evidence in zip(places, found, strict=True):
            for cell, count in cells_of(batch.column(place)):
                word = cell.strip()
                if word and word not in empty.in_numbers:
                    evidence.take(cell, count)
    return found
