"""Hours of a week in which something may work, as people write them: ``Mon-Fri 19:00-07:00``.

Hours are those of the wall clock: where it is set forward or back for summer, a span begins and
ends when the clock shows that, and lasts an hour less or more.
"""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Final

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from gpupanel.domain.visible_text import visible_beginning

_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_LEAST_LETTERS: Final = 3
_DAY: Final = 24 * 60
_WEEK: Final = 7 * _DAY
_LONGEST: Final = 200
"""Characters: each day with a few spans."""
_MINUTE_S: Final = 60
_TIME: Final = r"\d{1,2}(?:[:.]\d{2})?"
_SPAN: Final = re.compile(
    rf"(?P<days>[a-z]+(?:\s*-\s*[a-z]+)?)?\s*(?:(?P<begin>{_TIME})\s*-\s*(?P<end>{_TIME}))?"
)
ALLOWED: Final = (
    'hours in quotes, such as "22:00-07:00", "Mon-Fri 19:00-07:00, Sat-Sun" or '
    '"Sat 08:00-12:00, Sat 14:00-18:00", with 24 hours to the day'
)


@dataclass(frozen=True, slots=True)
class Hours:
    """Spans of a week.

    Attributes:
        spans: Their first minutes, and those after their last ones, counted from Monday 0:00; in
            order, and none meets the next one.
    """

    spans: tuple[tuple[int, int], ...]

    @property
    def are_never(self) -> bool:
        """Whether there is no minute among them."""
        return not self.spans

    def are_open(self, now_s: float) -> bool:
        """Whether a moment is among them: seconds since the epoch (UTC)."""
        return self._has(_minute_of_week(now_s))

    def open_s(self, now_s: float) -> float | None:
        """The first moment from then on that is among them; ``None``: none is."""
        return self._first_s(now_s, is_open=True)

    def close_s(self, now_s: float) -> float | None:
        """The first moment from then on that is not among them; ``None``: each is."""
        return self._first_s(now_s, is_open=False)

    def and_also(self, others: "Hours") -> "Hours":
        """The hours that are among both."""
        both = (
            (max(begin, other_begin), min(end, other_end))
            for begin, end in self.spans
            for other_begin, other_end in others.spans
        )
        return Hours(tuple(sorted(span for span in both if span[0] < span[1])))

    def _has(self, minute: int) -> bool:
        return any(begin <= minute < end for begin, end in self.spans)

    def _first_s(self, now_s: float, *, is_open: bool) -> float | None:
        if self.are_open(now_s) == is_open:
            return now_s
        edges = {(begin if is_open else end) % _WEEK for begin, end in self.spans}
        # Where one span follows another there is no edge: Sunday's night goes on on Monday.
        edges = {minute for minute in edges if self._has(minute) == is_open}
        if not edges:
            return None
        this_minute_s = now_s // _MINUTE_S * _MINUTE_S
        minute = _minute_of_week(now_s)
        wait = min((edge - minute) % _WEEK for edge in edges)
        first_s = this_minute_s + wait * _MINUTE_S
        if _offset_s(first_s) == _offset_s(now_s):
            return first_s
        # The clock is set meanwhile: an edge may come twice, or be passed over.
        later = (this_minute_s + minutes * _MINUTE_S for minutes in range(1, 2 * _WEEK))
        return next((each for each in later if self.are_open(each) == is_open), None)


def hours_of(text: str) -> Hours:
    """The hours that a text names.

    Raises:
        ValueError: It names none; the message says why.
    """
    if len(text) > _LONGEST:
        raise ValueError(f"it has more than {_LONGEST} characters")
    parts = [each.strip() for each in text.replace("\N{EN DASH}", "-").split(",")]
    read = [_Written.of(visible_beginning(part)) for part in parts]
    _check_meant_alike(read)
    minutes = sorted(span for each in read for span in each.spans())
    return Hours(tuple(_joined(minutes)))


def joint_hours(*texts: str | None) -> Hours | None:
    """The hours that are among all of these; ``None``: none of them bounds anything.

    Raises:
        ValueError: One of the texts names no hours.
    """
    joint: Hours | None = None
    for text in texts:
        if text is not None:
            joint = hours_of(text) if joint is None else joint.and_also(hours_of(text))
    return joint


def moment_text(moment_s: float, now_s: float) -> str:
    """A moment to come, as short as nobody mistakes it: "22:00", or "Mon 22:00".

    Args:
        moment_s: Seconds since the epoch (UTC).
        now_s: The present one, likewise.
    """
    is_near = moment_s - now_s < _DAY * _MINUTE_S
    local = time.localtime(moment_s)
    clock = f"{local.tm_hour:02}:{local.tm_min:02}"
    return clock if is_near else f"{_DAYS[local.tm_wday][:_LEAST_LETTERS].capitalize()} {clock}"


def until_text(moment_s: float | None, now_s: float) -> str:
    """What stands behind "suspended" or "waiting": " until 22:00"; empty: nobody knows.

    Args:
        moment_s: To which it lasts, seconds since the epoch (UTC).
        now_s: The present one, likewise; after the other it is not known any more, either.
    """
    if moment_s is None or moment_s <= now_s:
        return ""
    return f" until {moment_text(moment_s, now_s)}"


def hours_text(begin_s: float | None, now_s: float) -> str:
    """What is said of a run whose hours have ended: "hours begin 22:00"; empty: nothing.

    Args:
        begin_s: When they begin again, seconds since the epoch (UTC); ``None``: nobody knows.
        now_s: The present moment, likewise.
    """
    if begin_s is None or begin_s <= now_s:
        return ""
    return f"hours begin {moment_text(begin_s, now_s)}"


@dataclass(frozen=True, slots=True)
class _Written:
    """One part between commas.

    Attributes:
        text: As it was written.
        days: On which it begins, from 0 for Monday; ``None``: it names none.
        clock: From which minute of the day until which; ``None``: all of it.
    """

    text: str
    days: tuple[int, ...] | None
    clock: tuple[int, int] | None

    @classmethod
    def of(cls, text: str) -> "_Written":
        found = _SPAN.fullmatch(text.lower())
        if not text or found is None:
            raise ValueError(f"“{text}” is no span of hours")
        days = None if found["days"] is None else _days(found["days"])
        if found["begin"] is None:
            return cls(text, days, None)
        begin, end = _minute(found["begin"]), _minute(found["end"])
        if begin == _DAY:
            raise ValueError(f"in “{text}” a span begins at 24:00; 00:00 of the next day is meant?")
        if begin == end:
            raise ValueError(
                f"“{text}” ends when it begins; a whole day is 00:00-24:00, or its name alone"
            )
        return cls(text, days, (begin, end))

    def spans(self) -> Iterator[tuple[int, int]]:
        """In minutes of the week; one that goes on into Monday is in two pieces."""
        begin, end = self.clock or (0, _DAY)
        for day in range(7) if self.days is None else self.days:
            first = day * _DAY + begin
            last = day * _DAY + end + (_DAY if end < begin else 0)
            yield first, min(last, _WEEK)
            if last > _WEEK:
                yield 0, last - _WEEK


def _check_meant_alike(parts: list[_Written]) -> None:
    """Refuse what can be read in two ways: a day, or times, that the next part may belong to."""
    names_days = [each for each in parts if each.days is not None]
    bare = next((each for each in parts if each.days is None), None)
    if names_days and bare is not None:
        raise ValueError(f"“{bare.text}” stands beside days, and names none; write its days, too")
    for whole, after in pairwise(parts):
        if whole.clock is None and after.clock is not None:
            raise ValueError(
                f"“{whole.text}, {after.text}”: whether “{whole.text}” is a whole day is not "
                f"clear; write its hours, too, such as {whole.text} 00:00-24:00"
            )


def _days(text: str) -> tuple[int, ...]:
    names = [_day(each.strip()) for each in text.split("-")]
    first, last = names[0], names[-1]
    return tuple((first + each) % 7 for each in range((last - first) % 7 + 1))


def _day(name: str) -> int:
    for number, day in enumerate(_DAYS):
        if len(name) >= _LEAST_LETTERS and day.startswith(name):
            return number
    raise ValueError(f"“{name}” is no day; days are Mon, Tue, Wed, Thu, Fri, Sat, Sun")


def _minute(text: str) -> int:
    hour, _, minute = text.replace(".", ":").partition(":")
    minutes = int(hour) * 60 + int(minute or 0)
    if minutes > _DAY or int(minute or 0) >= 60:
        raise ValueError(f"“{text}” is no time of day; they go from 00:00 to 24:00")
    return minutes


def _joined(spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    begin, end = spans[0]
    for next_begin, next_end in spans[1:]:
        if next_begin > end:
            yield begin, end
            begin = next_begin
        end = max(end, next_end)
    yield begin, end


def _minute_of_week(moment_s: float) -> int:
    local = time.localtime(moment_s)
    return local.tm_wday * _DAY + local.tm_hour * 60 + local.tm_min


def _offset_s(moment_s: float) -> int:
    return time.localtime(moment_s).tm_gmtoff


class IsHours:
    """Marks a text of a profile as hours; it stays as it was written."""

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """The schema of the text, checked."""
        return core_schema.no_info_after_validator_function(_checked, handler(source))


def _checked(text: str) -> str:
    hours_of(text)
    return text


HoursText = Annotated[str, IsHours()]
"""Hours as they were written."""
