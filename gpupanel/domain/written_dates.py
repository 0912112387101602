"""Dates as people write them: 2024-01-31, 2024-W05-3, 31.1.2024, 1/31/24, 31 Jan 2024.

Which of the day and the month a column writes first is found in all of its cells
(:class:`DateEvidence`), and each cell is then read in that order alone (:func:`date_in`). The
exported script and ``predict.py`` contain this file's text, so that all of them read a cell alike:
it needs nothing but Python's standard library.
"""

import re
from collections import Counter
from datetime import date, datetime, time, timedelta
from typing import NamedTuple

ORDERS = ("dmy", "mdy", "ymd")
"""Day, month and year as they follow each other."""
LONGEST_DATE = 64
"""Letters of a cell; what is longer is no date."""
_FIRST_OF_1900 = 69
"""Years of two digits are from 1969 to 2068, as C and Python take them."""
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_FLAGS = re.ASCII | re.IGNORECASE
_YEAR_FIRST = re.compile(
    r"(?P<year>\d{4})(?:([-/.])(?P<month>\d\d?)\2(?P<day>\d\d?)|-(?P<only>\d\d))"
)
_DIGITS = re.compile(
    r"(?P<day>(?:19|20|21)\d\d(?:0[1-9]|1[0-2])[0-3]\d)(?:T?(?P<clock>\d{6}))?(?:\.0*)?", re.ASCII
)
"""As programs write a day without marks, with or without a time; a number may end in .0 there."""
_SEASON = re.compile(r"\d\d(\d\d)[-/](\d\d)", re.ASCII)
"""Of a year and the next one, such as 2012-13; two of them are not two months of a year."""
_WEEK = re.compile(r"(\d{4})(-?)W(\d\d)(?:\2([1-7]))?", re.ASCII)
_NUMBERS = re.compile(r"(\d\d?)([-/.])(\d\d?)\2(\d{4}|\d\d)", re.ASCII)
_DAY_AND_NAME = re.compile(rf"(?P<day>\d\d?)[-/. ]*{_MONTH}[-/., ]*(?P<year>\d{{4}}|\d\d)", _FLAGS)
_NAME_AND_DAY = re.compile(rf"{_MONTH} *(?P<day>\d\d?)(?:,? +|, *)(?P<year>\d{{4}}|\d\d)", _FLAGS)
_WITH_TIME = re.compile(
    r"(?P<date>.*?)(?:(?:T|,? +)(?P<hour>\d\d?)(?::(?P<minute>\d\d)(?::(?P<second>\d\d)"
    r"(?:\.(?P<fraction>\d{1,9}))?)?)?(?: ?(?P<half>[AP])\.?M\.?)?"
    r" ?(?P<zone>Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?)?",
    re.ASCII | re.IGNORECASE,
)
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - what is written without a zone has none
_MICROSECOND = timedelta(microseconds=1)
_MICROSECONDS_A_DAY = 86_400_000_000

DateReadings = dict[str, float]
"""Days since 1970 by the order in which the cell means that; by an empty one in every order."""


class FoundDates(NamedTuple):
    """How a column of dates is written, as far as its cells show it.

    Attributes:
        order: Of the column, one of several where that is not sure; empty: every cell has its year
            first, a week or the name of a month.
        misfits: How many cells are no date in that order.
        is_sure: No other order would give other dates.
        is_known: A cell shows the order.
        example: A cell that is not in ISO's form, or may mean two dates.
    """

    order: str
    misfits: int
    is_sure: bool
    is_known: bool
    example: str


def dates_in(cell: str) -> DateReadings | None:
    """What a cell may mean; empty: a date that does not exist; ``None``: it is no date."""
    text = cell.strip()
    digits = None if len(text) > LONGEST_DATE else _DIGITS.fullmatch(text)
    if digits:
        day, clock = digits["day"], digits["clock"] or "000000"
        text = f"{day[:4]}-{day[4:6]}-{day[6:]} {clock[:2]}:{clock[2:4]}:{clock[4:]}"
    found = None if len(text) > LONGEST_DATE else _WITH_TIME.fullmatch(text)
    if found is None:
        return None
    days = _days(found["date"])
    # Two digits behind a date may be its year, or an hour: a clock shows minutes.
    has_clock = found["minute"] or found["half"] or "T" in text.upper()
    if days is None or (found["hour"] and not has_clock):
        return None
    offset = _offset(found)
    if offset is None:
        return {}
    readings: DateReadings = {}
    for order, day in days.items():
        try:
            moment = datetime.combine(day, time()) + offset
        except OverflowError:
            continue
        readings[order] = (moment - _EPOCH) // _MICROSECOND / _MICROSECONDS_A_DAY
    return readings


def date_in(cell: str, order: str) -> float | None:
    """Days since 1970 in a cell of a column that is written so; ``None``: it is no date."""
    readings = dates_in(cell) or {}
    return readings.get("", readings.get(order))


class DateEvidence:
    """What the cells of a column show of the order in which its dates are written."""

    def __init__(self) -> None:
        self.held = self.shaped = 0
        self._orders: Counter[tuple[str, ...]] = Counter()
        self._odd = self._unclear = ""
        self._has_undotted = False
        self._seasons: set[str] = set()
        self._has_others = False

    def take(self, cell: str, count: int = 1) -> bool:
        """Take a cell that holds something, so often; whether it looks like a date."""
        self.held += count
        if _is_season(cell):
            self._seasons = self._seasons if len(self._seasons) > 1 else {*self._seasons, cell}
        else:
            self._has_others = True
        readings = dates_in(cell)
        if readings is None:
            return False
        self.shaped += count
        self._orders[tuple(readings)] += count
        if not _YEAR_FIRST.match(cell.strip()):
            self._odd = self._odd or cell
        if len(set(readings.values())) > 1:
            self._unclear = self._unclear or cell
            self._has_undotted |= "." not in cell
        return True

    @property
    def are_seasons(self) -> bool:
        """Whether each cell is a year and the next one: 2007-08, 2008-09, and no month."""
        return len(self._seasons) > 1 and not self._has_others

    def found(self, order: str | None = None) -> FoundDates:
        """How the column is written.

        Args:
            order: That of the table, for a column that does not show its own; ``None``: it is not
                known. Then dates with points have the day first, and no others.
        """
        if not any(any(orders) for orders in self._orders):
            fitting = self._orders[("",)]
            return FoundDates(
                "", self.held - fitting, is_sure=True, is_known=False, example=self._odd
            )
        fitting_of = {each: self._fitting(each) for each in ORDERS}
        most = max(fitting_of.values())
        likely = [each for each in ORDERS if fitting_of[each] == most]
        is_unclear = len(likely) > 1 and bool(self._unclear)
        chosen = order if order in likely else likely[0]
        is_sure = not is_unclear or order in likely or not self._has_undotted
        example = self._unclear if is_unclear else self._odd
        is_known = len(likely) == 1
        return FoundDates(chosen, self.held - most, is_sure, is_known, example)

    def _fitting(self, order: str) -> int:
        return sum(
            count for orders, count in self._orders.items() if order in orders or "" in orders
        )


def _is_season(cell: str) -> bool:
    found = _SEASON.fullmatch(cell.strip())
    return found is not None and (int(found[1]) + 1) % 100 == int(found[2])


def _days(text: str) -> dict[str, date] | None:
    """The days that a date without a time may mean, likewise."""
    found = _YEAR_FIRST.fullmatch(text)
    if found:
        month, day = found["month"] or found["only"], found["day"] or "1"
        return _only("", found["year"], month, day)
    found = _WEEK.fullmatch(text)
    if found:
        year, _, week, day = found.groups()
        try:
            return {"": date.fromisocalendar(int(year), int(week), int(day or 1))}
        except ValueError:
            return {}
    found = _DAY_AND_NAME.fullmatch(text) or _NAME_AND_DAY.fullmatch(text)
    if found:
        month = str(_MONTHS.index(found["name"][:3].lower()) + 1)
        return _only("", found["year"], month, found["day"])
    found = _NUMBERS.fullmatch(text)
    if not found:
        return None
    first, _, second, third = found.groups()
    days = {**_only("dmy", third, second, first), **_only("mdy", third, first, second)}
    return (
        days
        if len(third) == 4 or len(first) == 1
        else {**days, **_only("ymd", first, second, third)}
    )


def _only(order: str, year: str, month: str, day: str) -> dict[str, date]:
    """The day that the numbers give in this order; empty if there is no such day."""
    number = int(year)
    if len(year) == 2:
        number += 1900 if number >= _FIRST_OF_1900 else 2000
    try:
        return {order: date(number, int(month), int(day))}
    except ValueError:
        return {}


def _offset(found: re.Match[str]) -> timedelta | None:
    """The offset from midnight to the time in UTC; ``None``: there is no such time."""
    hour, minute, second = (int(found[each] or 0) for each in ("hour", "minute", "second"))
    half = (found["half"] or "").lower()
    if half and not 1 <= hour <= 12:
        return None
    hour = hour % 12 + 12 * (half == "p") if half else hour
    if hour > 23 or minute > 59 or second > 59:
        return None
    microseconds = int((found["fraction"] or "0")[:6].ljust(6, "0"))
    clock = timedelta(hours=hour, minutes=minute, seconds=second, microseconds=microseconds)
    zone = (found["zone"] or "Z").upper().replace(":", "")
    if zone in ("Z", "UTC", "GMT"):
        return clock
    east = timedelta(hours=int(zone[1:3]), minutes=int(zone[3:] or 0))
    return clock + east if zone[0] == "-" else clock - east
