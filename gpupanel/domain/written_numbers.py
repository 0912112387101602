"""Numbers as people write them: 1,234.5, 1.234,5, 1 234,5, 1'234.5, 12,34,567, $5, (5), 5 %.

How a column writes its numbers is found in all of its cells (:class:`NumberEvidence`), and each
cell is then read in that form alone (:func:`number_in`). The exported script and ``predict.py``
contain this file's text, so that all of them read a cell alike: it needs nothing but Python's
standard library.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

DECIMAL_MARKS = (".", ",", "\u066b")
"""The last one is of Arabic."""
THOUSANDS_MARKS = ",. '\u066c"
"""A space stands for every kind of space, an apostrophe for every kind of apostrophe."""
SHARES = ("%", "\u2030", "\u066a")
"""Signs without which a number means another one, unlike that of a currency."""
_USUAL_CODES = (
    "USD EUR GBP CHF JPY CNY INR AUD NZD SEK NOK DKK PLN CZK HUF BRL ZAR RUB KRW MXN "
    "RS. FR. KR. РУБ."
)
"""Of currencies: they may stand before an amount without a space. Others are names then: TRY1."""
_OTHER_CODES = (
    "AED AFN ALL AMD AOA ARS AZN BAM BBD BDT BGN BHD BND BOB BTC BWP BYN BZD CAD CLP CNH COP CRC "
    "CUP DOP DZD EGP ETB FJD GEL GHS GTQ HKD HNL HRK IDR ILS IQD IRR ISK JMD JOD KES KGS KHR KWD "
    "KZT LAK LBP LKR LYD MAD MDL MKD MMK MNT MOP MUR MYR MZN NAD NGN NIO NPR OMR PAB PEN PGK PHP "
    "PKR PYG QAR RMB RON RSD RWF SAR SDG SGD SYP THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX UYU "
    "UZS VES VND XAF XOF YER ZMW FR FT KČ KR LEI RM RP RS TL ZŁ РУБ 元 円 원"
)
USUAL_CODES, OTHER_CODES = (frozenset(codes.split()) for codes in (_USUAL_CODES, _OTHER_CODES))
LONGEST_NUMBER = 100
"""Letters of a cell; what is longer is no number, unless it is written as Python writes it."""
_PLAIN = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_STARTS_WITH_DIGIT = re.compile(r"[+-]?[0-9]+([.][0-9]*)?([eE][+-]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[+-]?(inf|infinity|nan)", re.ASCII | re.IGNORECASE)
_UNIT = r"[^\W\d_]{0,4}[^\w\s.,'()+-]|[^\W\d_]{1,4}\.?"
_PARTS = re.compile(
    rf"(?P<first>[+-])? ?(?P<before>{_UNIT})?(?P<space> )?(?P<second>[+-])? ?(?P<open>\()? ?"
    r"(?P<body>[0-9.,\u066b\u066c' ]*[0-9][.,]?(?:[eE][+-]?[0-9]+)?) ?"
    rf"(?P<close>\))? ?(?P<behind>{_UNIT})? ?(?P<last>[+-])?"
)
_GROUPED = re.compile(
    "|".join(
        rf"[1-9][0-9]{{0,2}}(?:{mark}[0-9]{{3}})+|[1-9][0-9]?(?:{mark}[0-9]{{2}})+{mark}[0-9]{{3}}"
        for mark in map(re.escape, THOUSANDS_MARKS)
    )
)
_ALIKE = {
    **{wide: chr(wide - 0xFEE0) for wide in range(0xFF01, 0xFF5F)},
    **dict.fromkeys(map(ord, "\u2212\u2010\u2011\u2013\ufe63"), "-"),
    **dict.fromkeys(map(ord, "\u2018\u2019\u02bc\u00b4"), "'"),
    **dict.fromkeys(map(ord, "\u00a0\u2007\u2009\u200a\u202f\u3000"), " "),
    **dict.fromkeys(map(ord, "\u200b\u200c\u200d\u200e\u200f\u2060\u061c\ufeff"), ""),
}

Marks = tuple[tuple[str, str], ...]
"""What a cell may be: its mark before the decimals, and that between groups of digits."""
_NO_MARKS: Marks = (("", ""),)
_POINT: Marks = ((".", ""),)
_POINT_OR_GROUP: Marks = ((".", ""), ("", "."))


class NumberForm(NamedTuple):
    """How the numbers of a column are written.

    Attributes:
        decimal: What stands before the decimals.
        thousands: Every character that may stand between groups of digits.
        unit: The sign of a currency, in capital letters, or of percent; empty: none.
    """

    decimal: str = "."
    thousands: str = ""
    unit: str = ""


class NumberParts(NamedTuple):
    """What a cell consists of that is a number.

    Attributes:
        readings: What it may mean: the mark before the decimals, that between groups, and the
            number as Python writes it; a mark is empty where none of its kind is there.
    """

    is_negative: bool
    unit: str
    readings: tuple[tuple[str, str, str], ...]


class FoundNumbers(NamedTuple):
    """How a column of numbers is written, as far as its cells show it.

    Attributes:
        form: Of the column, one of several where that is not sure.
        misfits: How many cells are no number in that form.
        is_sure: No other form would give other numbers.
        is_known: A cell shows which mark is which.
        example: A cell that is written otherwise than Python does, or may mean two numbers.
    """

    form: NumberForm
    misfits: int
    is_sure: bool
    is_known: bool
    example: str


def alike(cell: str) -> str:
    """A cell with one character for all that look like it: digits, spaces, signs of minus."""
    text = cell.strip()
    if text.isascii():
        return text
    text = "".join(
        str(unicodedata.decimal(each)) if unicodedata.decimal(each, -1) >= 0 else each
        for each in text.translate(_ALIKE)
    )
    return text.strip()


def parts_of_number(cell: str) -> NumberParts | None:
    """What a cell consists of; ``None``: it is no number that people write so."""
    text = alike(cell)
    if len(text) > LONGEST_NUMBER:
        return None
    is_bracketed = text.startswith("(") and text.endswith(")")
    found = _PARTS.fullmatch(text[1:-1].strip() if is_bracketed else text)
    if found is None or (found["open"] is None) != (found["close"] is None):
        return None
    unit = _unit(found["before"] or "", found["behind"] or "", is_near=not found["space"])
    signs = [found[each] for each in ("first", "second", "last") if found[each]]
    signs += ["-"] * (is_bracketed + (found["open"] is not None))
    readings = tuple(_readings(found["body"].strip()))
    if unit is None or len(signs) > 1 or not readings:
        return None
    return NumberParts("-" in signs, unit, readings)


def is_number(cell: str) -> bool:
    """Whether a cell is a number by itself: with a unit it may be a name, such as Top 10."""
    text = cell.strip()
    if _PLAIN.fullmatch(text):
        return True
    parts = parts_of_number(text)
    return parts is not None and not parts.unit


def is_not_finite(cell: str) -> bool:
    """Whether a cell is a word for infinity or no number."""
    return _NOT_FINITE.fullmatch(cell.strip()) is not None


def all_numbers(cells: Iterable[str]) -> bool:
    """Whether each cell is a finite number, as people write them."""
    evidence = NumberEvidence()
    return all(evidence.take(cell) and not is_not_finite(cell) for cell in cells)


def numbers_among(words: Iterable[str]) -> tuple[float, ...]:
    """Those of some words that are numbers, such as -999."""
    return tuple(float(word) for word in words if _STARTS_WITH_DIGIT.fullmatch(word))


def number_in(cell: str, form: NumberForm) -> float | None:
    """The number in a cell of a column that is written so; ``None``: it is none."""
    plain = plain_number(cell, form)
    return None if plain is None else float(plain)


def plain_number(cell: str, form: NumberForm) -> str | None:
    """The number of a cell as Python writes it, with every digit; ``None``: it is none."""
    text = cell.strip()
    if form.unit not in SHARES and form.decimal == "." and _PLAIN.fullmatch(text):
        return text
    if _NOT_FINITE.fullmatch(text):
        return text
    parts = parts_of_number(text)
    if parts is None or parts.unit not in (
        (form.unit,) if form.unit in SHARES else ("", form.unit)
    ):
        return None
    for decimal, thousands, digits in parts.readings:
        if decimal in ("", form.decimal) and thousands in ("", *form.thousands):
            return f"-{digits}" if parts.is_negative else digits
    return None


class NumberEvidence:
    """What the cells of a column show of how its numbers are written."""

    def __init__(self) -> None:
        self.held = 0
        self._finite = 0
        self._marks: Counter[Marks] = Counter()
        self._units: Counter[str] = Counter()
        self._examples: dict[Marks, str] = {}
        self._odd = ""

    def take(self, cell: str, count: int = 1) -> bool:
        """Take a cell that holds something, so often; whether it may be a number."""
        self.held += count
        text = cell.strip()
        if _NOT_FINITE.fullmatch(text):
            return True
        self._finite += count
        marks, unit = _plain_marks(text), ""
        if marks is None:
            parts = parts_of_number(text)
            if parts is None:
                return False
            marks = tuple((decimal, thousands) for decimal, thousands, _ in parts.readings)
            unit, self._odd = parts.unit, self._odd or cell
        self._marks[marks] += count
        self._units[unit] += count
        self._examples.setdefault(marks, cell)
        return True

    def found(self, decimal: str | None = None) -> FoundNumbers:
        """How the column is written.

        Args:
            decimal: What stands before decimals elsewhere in the table, for a column that does not
                show it; ``None``: that is not known.
        """
        marks = [mark for mark in DECIMAL_MARKS if mark in ".," or self._has(mark)]
        fitting = {mark: self._fitting(mark) for mark in marks}
        most = max(fitting.values())
        likely = [mark for mark in marks if fitting[mark] == most]
        unclear = [each for each in self._marks if len(each) > 1]
        is_unclear = len(likely) > 1 and bool(unclear)
        chosen = decimal if decimal in likely else likely[0]
        is_sure = not is_unclear or decimal in likely
        unit, units = self._detected_unit()
        form = NumberForm(chosen, self._thousands(chosen), unit)
        # Of a cell that does not fit both its mark and its unit may be wrong.
        misfits = max(self._finite - most, self._finite - units)
        example = self._examples[unclear[0]] if is_unclear else self._odd
        is_known = not is_unclear and (self._has(".") or self._has(","))
        return FoundNumbers(form, misfits, is_sure, is_known, example)

    def _has(self, mark: str) -> bool:
        return any(mark in pair for each in self._marks for pair in each)

    def _fitting(self, decimal: str) -> int:
        return sum(count for marks, count in self._marks.items() if _fitting_marks(marks, decimal))

    def _thousands(self, decimal: str) -> str:
        used = {pair[1] for marks in self._marks for pair in _fitting_marks(marks, decimal)[:1]}
        return "".join(mark for mark in THOUSANDS_MARKS if mark in used)

    def _detected_unit(self) -> tuple[str, int]:
        """The unit of the column, and how many cells are numbers with it."""
        bare = self._units[""]
        named = [(count, unit) for unit, count in self._units.items() if unit]
        count, unit = max(named, default=(0, ""))
        if unit in SHARES:
            return (unit, count) if count > bare else ("", bare)
        return unit, bare + count


def detected_forms(
    columns: Iterable[Iterable[str]], decimal: str | None = None
) -> list[FoundNumbers]:
    """How columns of a table are written, where one may show what another one means.

    Args:
        columns: The cells of each that hold something.
        decimal: What stands before decimals, where a person said it.
    """
    evidence = []
    for cells in columns:
        evidence.append(NumberEvidence())
        for cell, count in Counter(cells).items():
            evidence[-1].take(cell, count)
    shown = {found.form.decimal for each in evidence if (found := each.found()).is_known}
    if decimal is None and len(shown) == 1:
        (decimal,) = shown
    return [each.found(decimal) for each in evidence]


def meanings_of(cell: str) -> dict[str, str]:
    """The numbers that a cell may be, by the mark before the decimals that each takes."""
    parts = parts_of_number(cell)
    sign = "-" if parts and parts.is_negative else ""
    return {
        decimal or {".": ",", ",": "."}.get(thousands, "."): sign + digits
        for decimal, thousands, digits in (parts.readings if parts else ())
    }


def _plain_marks(text: str) -> Marks | None:
    """The same, quickly, of what is written as Python writes it."""
    if not _PLAIN.fullmatch(text):
        return None
    whole, point, decimals = text.lstrip("+-").partition(".")
    if not point:
        return _NO_MARKS
    may_be_group = len(decimals) == 3 and 0 < len(whole) < 4 and whole[0] != "0"
    return _POINT_OR_GROUP if may_be_group and decimals.isdecimal() else _POINT


def _fitting_marks(marks: Marks, decimal: str) -> list[tuple[str, str]]:
    return [each for each in marks if each[0] in ("", decimal) and each[1] != decimal]


def _unit(before: str, behind: str, *, is_near: bool) -> str | None:
    """The unit of an amount, empty without one; ``None``: what stands there is none."""
    if before and behind:
        return None
    unit = (before or behind).upper()
    if not unit or unit in SHARES or unicodedata.category(unit[-1]) == "Sc" or unit in USUAL_CODES:
        return unit
    return unit if unit in OTHER_CODES and (behind or not is_near) else None


def _readings(body: str) -> list[tuple[str, str, str]]:
    mantissa, letter, exponent = body.replace("E", "e").partition("e")
    power = letter + exponent
    if mantissa.isdecimal():
        return [("", "", mantissa + power)]
    found = []
    for mark in DECIMAL_MARKS:
        whole, there, decimals = mantissa.partition(mark)
        is_fraction = decimals.isdecimal() if decimals else bool(whole)
        if there and is_fraction:
            if whole.isdecimal() or not whole:
                found.append((mark, "", f"{whole or '0'}.{decimals or '0'}{power}"))
            elif _GROUPED.fullmatch(whole) and not power:
                found.append((mark, _mark_in(whole), f"{_digits(whole)}.{decimals or '0'}"))
    if _GROUPED.fullmatch(mantissa) and not power:
        found.append(("", _mark_in(mantissa), _digits(mantissa)))
    return found


def _mark_in(grouped: str) -> str:
    return next(each for each in grouped if each in THOUSANDS_MARKS)


def _digits(grouped: str) -> str:
    return grouped.replace(_mark_in(grouped), "")
