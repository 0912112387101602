"""Cells as names that keep every digit.

A number of 32 bits has seven digits: of two codes or identifiers that differ in the eighth it
makes one. What is compared and not calculated with is therefore a text.
"""

import contextlib
import re
from collections.abc import Callable, Iterable
from functools import partial

from gpupanel.domain.empty_words import EmptyWords
from gpupanel.domain.written_numbers import NumberForm, plain_number
from gpupanel.trainer.parts import table_cells

_PADDED = re.compile(r"0[0-9]+|0[1-9][.](19|20)[0-9]{2}")
_NUMBER = re.compile(r"[+-]?[0-9]+(?:[.]([0-9]+))?([eE][+-]?[0-9]+)?")
_DIGITS = re.compile(r"[0-9]+|(0[1-9]|1[0-2])[.](19|20)[0-9]{2}")
"""Of digits alone; or a month, such as 03.2021, which is no number either."""


def name_of_number(cell: object, form: NumberForm, empty: EmptyWords) -> str | None:
    """A number as the name of a class: 7, 7.0 and 007 are "7", and no digit is lost.

    Args:
        cell: A text or number of Python's.
        form: How those in texts are written.
        empty: Words that mean nothing.

    Raises:
        ValueError: It is no number.
    """
    return table_cells.name_of_number(cell, _reader(cell, form), empty.in_numbers)


def name_of_key(cell: object, empty: EmptyWords) -> str | None:
    """What marks rows that belong together: as it is written, whole numbers without decimals."""
    return table_cells.name_of_key(cell, empty.in_names)


def name_of_text(cell: object, empty: EmptyWords) -> str | None:
    """A category: a text in one form of Unicode, since two that look alike are alike."""
    plain = _reader(cell, NumberForm())
    return table_cells.name_of_text(cell, plain, empty.in_numbers, empty.in_names)


def _reader(cell: object, form: NumberForm) -> Callable[[str], str | None]:
    """What reads the number in a text; numbers of Python's are always written alike."""
    return partial(plain_number, form=form if isinstance(cell, str) else NumberForm())


def padded_codes(cells: Iterable[str]) -> int | None:
    """How many different codes have zeros before them, such as 01067; ``None``: they are none."""
    words = {cell.strip() for cell in cells}
    if not all(map(_DIGITS.fullmatch, words)) or not any(map(_PADDED.fullmatch, words)):
        return None
    return len(words)


def one_number_twice(cells: Iterable[str]) -> tuple[str, str] | None:
    """Two texts that are one number, and may be two versions or codes: 3.1 and 3.10, 1e3 and 1000.

    Of 1 and 1.00 nobody means two; and where decimals are filled up with zeros, all are.
    """
    words = {cell.strip() for cell in cells}
    with contextlib.suppress(ValueError):
        if len({*map(float, words)}) == len(words):
            return None  # as in most columns
    found: dict[tuple[float, bool], str] = {}
    for word in sorted(words):
        parts = _NUMBER.fullmatch(word)
        if parts is None:
            continue
        value, has_power = float(word), parts[2] is not None
        same = found.setdefault((value, has_power), word)
        has_decimals = bool(parts[1] and parts[1].strip("0"))
        if same != word and has_decimals and not has_power:
            return same, word
        if (value, not has_power) in found:
            return found[value, not has_power], word
    return None
