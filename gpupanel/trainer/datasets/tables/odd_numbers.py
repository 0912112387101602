"""Numbers of a column that are none, as they show: for missing values, days, and lost digits."""

import re
from datetime import date
from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
_FEWEST: Final = 10
"""Other numbers that a column must hold."""
_FAR: Final = 2.0
"""A number is far outside where it is so many times further away than the others are apart."""
_LEVELS: Final = 1000
"""Fewer steps from the least number to the greatest one are few digits."""
_NINES: Final = re.compile(r"-9+(\.9+)?|9{3,}(\.9+)?|9{2,}\.9+")
_EXTREMES: Final = (-32768.0, 32767.0, 65535.0, -(2.0**31), 2.0**31 - 1, 2.0**32 - 1, -999.25)
_ENDLESS: Final = 1e18
"""What is larger, such as 1e20 and -1.8e308, measures nothing."""
_ODD_DAYS: Final = frozenset(
    (date(*day) - date(1970, 1, 1)).days
    for day in (
        *((1, 1, 1), (1753, 1, 1), (1899, 12, 30), (1899, 12, 31), (1900, 1, 1), (1970, 1, 1)),
        *((2099, 12, 31), (2100, 1, 1), (2999, 12, 31), (9999, 1, 1), (9999, 12, 31)),
    )
)
"""First and last days that databases and spreadsheets know."""
_DAY: Final = 1e8
_DAY_WITH_TIME: Final = 1e14


class _End:
    """The least numbers of a column: the first, how often it stands there, and the next one."""

    def __init__(self) -> None:
        self.value, self.next, self.count = np.inf, np.inf, 0

    def take(self, values: Floats) -> None:
        least = float(values.min())
        if least > self.value and least >= self.next:
            return
        others = values[values > least]
        following = float(others.min()) if len(others) else np.inf
        count = len(values) - len(others)
        if least < self.value:
            self.value, self.count, self.next = least, count, min(self.value, following)
        elif least == self.value:
            self.count, self.next = self.count + count, min(self.next, following)
        else:
            self.next = min(self.next, least)


class OddNumbers:
    """What is odd about the numbers of a column, in constant memory."""

    def __init__(self) -> None:
        self._least, self._most = _End(), _End()
        self._count = 0
        self._are_days = True
        self._is_rounded = False

    def take(self, values: Floats) -> None:
        """Further values; NaN where a cell holds nothing."""
        is_held = np.isfinite(values)
        held = values if is_held.all() else values[is_held]
        if not len(held):
            return
        self._count += len(held)
        self._least.take(held)
        self._most.take(-held)
        self._are_days = self._are_days and _are_days(held)
        if not self._is_rounded:
            with np.errstate(over="ignore"):
                self._is_rounded = bool((held.astype(np.float32) != held).any())

    @property
    def are_days(self) -> bool:
        """Whether each is a day, as 20260131, or with a time, as 20260131235959."""
        return self._are_days and self._count >= _FEWEST and self._least.next < np.inf

    @property
    def is_rounded(self) -> bool:
        """Whether 32 bits keep few of the differences between them."""
        if not self._is_rounded or self._least.next == np.inf:
            return False
        least, most = self._least.value, -self._most.value
        with np.errstate(over="ignore", invalid="ignore"):
            step = float(np.spacing(np.float32(max(abs(least), abs(most)))))
        return most - least < _LEVELS * step

    def far(self, *, are_days: bool = False) -> tuple[float, int] | None:
        """A number or day that stands for a missing value, as it seems, and in how many cells."""
        least, most = self._least, self._most
        for value, end, other in ((least.value, least, most), (-most.value, most, least)):
            is_odd = value in _ODD_DAYS if are_days else _is_odd(value)
            if end.count < 2 or self._count - end.count < _FEWEST or not is_odd:
                continue
            apart = -other.value - end.next
            is_below = value < 0 <= least.next and not are_days
            if apart > 0 and (is_below or end.next - end.value > _FAR * apart):
                return value, end.count
        return None


def _is_odd(value: float) -> bool:
    """Whether programs and people write such a number for nothing."""
    shown = np.format_float_positional(value, trim="-")
    return bool(_NINES.fullmatch(shown)) or value in _EXTREMES or abs(value) >= _ENDLESS


def _are_days(values: Floats) -> bool:
    is_long = values >= _DAY
    if is_long.any() and not is_long.all():
        return False
    if is_long[0]:
        clock = values % 1e6
        if (values >= _DAY_WITH_TIME).any() or (clock >= 240_000).any():
            return False
        if (clock % 10_000 >= 6_000).any() or (clock % 100 >= 60).any():
            return False
        values = np.floor(values / 1e6)
    year, month, day = values // 10_000, values // 100 % 100, values % 100
    fits = (year >= 1900) & (year <= 2100) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
    return bool((fits & (values == np.floor(values))).all())
