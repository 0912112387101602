"""Columns of texts that look like numbers, and may be codes, versions or identifiers.

A number of 32 bits has seven digits: of two that differ in the eighth it makes one. What is
compared and not calculated with is therefore a name, which keeps every digit.
"""

import contextlib
import re
from collections.abc import Iterable

_PADDED = re.compile(r"0[0-9]+|0[1-9][.](19|20)[0-9]{2}")
_NUMBER = re.compile(r"[+-]?[0-9]+(?:[.]([0-9]+))?([eE][+-]?[0-9]+)?")
_DIGITS = re.compile(r"[0-9]+|(0[1-9]|1[0-2])[.](19|20)[0-9]{2}")
"""Of digits alone; or a month, such as 03.2021, which is no number either."""


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
