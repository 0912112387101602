"""Cells as names that keep every digit.

A number of 32 bits has seven digits: of two codes or identifiers that differ in the eighth it
makes one. What is compared and not calculated with is therefore a text.
"""

import contextlib
import re
import unicodedata
from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from gpupanel.domain.empty_words import EmptyWords
from gpupanel.domain.written_numbers import NumberForm, plain_number
from gpupanel.trainer.datasets.tables.values import is_text

_WHOLE = re.compile(r"([+-]?)([0-9]+)(?:[.]0*)?")
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
    if isinstance(cell, str):
        word = cell.strip()
        if not word or word in empty.in_numbers:
            return None
        plain = plain_number(word, form)
        if plain is None:
            raise ValueError(cell)
        found = _WHOLE.fullmatch(plain)
        if found is None:
            name = _shown(float(plain))
            return None if name in empty.in_numbers else name
        digits = found[2].lstrip("0") or "0"
        name = f"-{digits}" if found[1] == "-" and digits != "0" else digits
        return None if name in empty.in_numbers else name
    if isinstance(cell, bool):
        return str(int(cell))
    if isinstance(cell, float):
        return name_of_number(shown, NumberForm(), empty) if (shown := _shown(cell)) else None
    # A whole number, or one of so many decimals.
    return name_of_number(str(cell), NumberForm(), empty)


def name_of_key(cell: object, empty: EmptyWords) -> str | None:
    """What marks rows that belong together: as it is written, whole numbers without decimals."""
    if isinstance(cell, float):
        return _shown(cell)
    if not isinstance(cell, str):
        return str(cell)
    name = name_of_text(cell.strip(), empty)
    whole = None if name is None else _WHOLE.fullmatch(name)
    return name if whole is None else whole[1].removeprefix("+") + whole[2]


def name_of_text(cell: object, empty: EmptyWords) -> str | None:
    """A category: a text in one form of Unicode, since two that look alike are alike."""
    if isinstance(cell, bool):
        return str(cell)  # as pandas writes it to a text file
    if not isinstance(cell, str):
        return name_of_number(cell, NumberForm(), empty)
    word = cell.strip()
    if not word or word in empty.in_names:
        return None
    return unicodedata.normalize("NFC", cell)


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


def without_words(cells: pa.Array, words: frozenset[str]) -> pa.Array:
    """Texts with nothing in place of white space alone and of these words; others as they are."""
    if isinstance(cells, pa.DictionaryArray):
        # Decoded it may be larger than memory.
        values = without_words(cells.dictionary, words)
        return pa.DictionaryArray.from_arrays(cells.indices, values)
    if not is_text(cells.type):
        return cells
    empty = pa.array(["", *words], pa.string())
    if cells.type != pa.string():
        cells = cells.cast(pa.string())
    is_empty = pc.is_in(pc.utf8_trim_whitespace(cells), empty)
    if not pc.any(is_empty).as_py():
        return cells
    return pc.if_else(is_empty, pa.scalar(None, pa.string()), cells)


def _shown(value: float) -> str | None:
    if value != value or value in (float("inf"), float("-inf")):
        return None
    return str(int(value)) if value == int(value) else str(value)
