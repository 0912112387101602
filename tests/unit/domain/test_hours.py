"""Hours are read as a person means them, or refused; they are those of the wall clock."""

import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpupanel.domain.hours import (
    Hours,
    hours_of,
    hours_text,
    joint_hours,
    moment_text,
    until_text,
)
from gpupanel.domain.machine import MachineSettings
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import parse_profile

_DAY = 24 * 60
BERLIN = "Europe/Berlin"
MONDAY = datetime.fromisoformat("2026-11-30")


@pytest.fixture(autouse=True)
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", BERLIN)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def at(text: str, fold: int = 0) -> float:
    """Seconds since the epoch of a local time such as ``2026-11-30 22:00``."""
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(BERLIN), fold=fold).timestamp()


def local(moment_s: float | None) -> str | None:
    if moment_s is None:
        return None
    return datetime.fromtimestamp(moment_s, ZoneInfo(BERLIN)).strftime("%Y-%m-%d %H:%M")


@pytest.mark.parametrize(
    ("text", "open_at", "closed_at"),
    [
        ("22:00-07:00", ["2026-11-30 22:00", "2026-12-01 06:59"], ["2026-11-30 21:59"]),
        ("22-7", ["2026-11-30 22:00", "2026-12-01 06:59"], ["2026-12-01 07:00"]),
        (" 22.00 \N{EN DASH} 7.30 ", ["2026-12-01 07:29"], ["2026-12-01 07:30"]),
        ("08:00-12:00, 14:00-18:00", ["2026-11-30 14:00"], ["2026-11-30 12:00"]),
        ("Mon-Fri 19:00-07:00", ["2026-12-05 06:59"], ["2026-12-05 19:00", "2026-12-06 03:00"]),
        ("Mon-Fri 19:00-07:00, Sat-Sun", ["2026-12-05 12:00", "2026-12-06 23:59"], []),
        ("sunday 22:00-07:00", ["2026-12-06 22:00", "2026-12-07 06:59"], ["2026-12-07 07:00"]),
        ("Fri-Mon", ["2026-12-04 00:00", "2026-12-07 23:59"], ["2026-12-08 00:00"]),
        ("Tues 00:00-24:00", ["2026-12-01 23:59"], ["2026-12-02 00:00"]),
    ],
)
def test_that_hours_are_open_when_they_say_so(text, open_at, closed_at):
    hours = hours_of(text)

    assert all(hours.are_open(at(each)) for each in open_at)
    assert not any(hours.are_open(at(each)) for each in closed_at)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no span"),
        ("night", "no day"),
        ("at night", "no span"),
        ("10pm-6am", "no span"),
        ("22:00", "no span"),
        ("25:00-07:00", "no time of day"),
        ("22:60-07:00", "no time of day"),
        ("24:00-07:00", "next day"),
        ("22:00-22:00", "ends when it begins"),
        ("Mo 22:00-07:00", "no day"),
        ("Mon, Wed 10:00-12:00", "not clear"),
        ("Mon 10:00-12:00, 20:00-22:00", "names none"),
        ("22:00-07:00,", "no span"),
        ("22:00-07:00 " * 30, "characters"),
        ("\x1b[31m", r"\\x1b"),
    ],
)
def test_that_what_names_no_hours_or_can_be_read_in_two_ways_is_refused_by_name(text, why):
    with pytest.raises(ValueError, match=why):
        hours_of(text)


def test_that_a_profile_says_what_is_wrong_with_its_hours_and_what_can_be_written():
    with pytest.raises(Exception, match="ends when it begins") as refused:
        parse_profile('schema_version = 1\nhours = "7:00-07:00"\n')

    problem = refused.value.problems[0]
    assert problem.field == "hours"
    assert "22:00-07:00" in problem.hint
    assert "leave it out: any time" in problem.hint


def test_that_hours_of_a_profile_stay_as_they_were_written():
    assert Profile(hours="22-7").hours == "22-7"
    assert MachineSettings(hours="Sat-Sun").hours == "Sat-Sun"


def test_that_they_begin_and_end_at_the_next_edge():
    hours = hours_of("Mon-Fri 19:00-07:00, Sat-Sun")

    assert local(hours.open_s(at("2026-11-30 12:34"))) == "2026-11-30 19:00"
    assert local(hours.close_s(at("2026-11-30 20:00"))) == "2026-12-01 07:00"
    assert local(hours.open_s(at("2026-11-30 20:00"))) == "2026-11-30 20:00"
    # Friday's night goes on into Saturday after 07:00, and Sunday ends at midnight.
    assert local(hours.close_s(at("2026-12-04 20:00"))) == "2026-12-07 00:00"
    assert local(hours.close_s(at("2026-11-30 12:00"))) == "2026-11-30 12:00"


def test_that_a_night_from_sunday_into_monday_is_one_span():
    hours = hours_of("22:00-07:00")

    assert local(hours.close_s(at("2026-12-06 23:00"))) == "2026-12-07 07:00"


def test_that_the_whole_week_never_ends_and_nothing_never_begins():
    assert hours_of("Mon-Sun").close_s(at("2026-11-30 12:00")) is None
    assert hours_of("0-24").close_s(at("2026-11-30 12:00")) is None
    assert Hours(()).open_s(at("2026-11-30 12:00")) is None
    assert Hours(()).are_never


def test_that_a_night_is_an_hour_shorter_or_longer_where_the_clock_is_set():
    hours = hours_of("22:00-07:00")

    spring, autumn = at("2026-03-28 22:00"), at("2026-10-24 22:00")
    assert hours.close_s(spring) == spring + 8 * 3600
    assert hours.close_s(autumn) == autumn + 10 * 3600
    assert hours.open_s(at("2026-03-28 12:00")) == spring


def test_that_hours_in_the_hour_that_is_passed_over_begin_when_the_clock_shows_them():
    # On 29 March 2026 the clock goes from 02:00 to 03:00.
    assert local(hours_of("02:30-04:00").open_s(at("2026-03-29 00:10"))) == "2026-03-29 03:00"
    assert local(hours_of("02:15-02:45").open_s(at("2026-03-29 00:10"))) == "2026-03-30 02:15"


def test_that_hours_in_the_hour_that_comes_twice_are_open_twice():
    # On 25 October 2026 the clock goes from 03:00 to 02:00.
    hours = hours_of("02:00-02:30")

    first, again = at("2026-10-25 02:00"), at("2026-10-25 02:00", fold=1)
    assert hours.close_s(first) == first + 1800
    assert hours.open_s(first + 1800) == again


def test_that_hours_of_both_are_those_that_both_have():
    both = joint_hours("22:00-07:00", "Mon-Fri")

    assert both is not None
    assert both.are_open(at("2026-12-01 03:00"))
    assert not both.are_open(at("2026-12-05 03:00"))
    assert local(both.open_s(at("2026-12-05 03:00"))) == "2026-12-07 00:00"
    assert joint_hours() is None
    assert joint_hours(None, None) is None
    assert joint_hours(None, "22-7") == hours_of("22-7")
    never = joint_hours("22:00-07:00", "08:00-20:00")
    assert never is not None
    assert never.are_never


def test_that_a_moment_is_said_as_short_as_nobody_mistakes_it():
    now = at("2026-11-30 12:00")

    assert moment_text(at("2026-11-30 22:00"), now) == "22:00"
    assert moment_text(at("2026-12-01 07:00"), now) == "07:00"
    assert moment_text(at("2026-12-01 12:00"), now) == "Tue 12:00"
    assert until_text(at("2026-11-30 22:00"), now) == " until 22:00"
    assert until_text(None, now) == ""
    assert until_text(now, now) == ""
    assert hours_text(at("2026-11-30 22:00"), now) == "hours begin 22:00"
    assert hours_text(None, now) == hours_text(now, now) == ""


_MINUTES = st.integers(0, 7 * _DAY - 1)


@st.composite
def texts(draw: st.DrawFn) -> str:
    days = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
    parts = []
    for _ in range(draw(st.integers(1, 3))):
        begin = draw(st.integers(0, _DAY - 1))
        end = draw(st.integers(0, _DAY).filter(lambda minute, begin=begin: minute != begin))
        first, last = draw(st.sampled_from(days)), draw(st.sampled_from(days))
        times = "-".join(f"{minute // 60:02}:{minute % 60:02}" for minute in (begin, end))
        parts.append(f"{first}-{last} {times}")
    return ", ".join(parts)


@settings(max_examples=60, deadline=None)
@given(texts(), st.integers(0, 400 * _DAY), st.integers(0, 59))
def test_that_the_next_edge_is_the_first_minute_at_which_it_is_otherwise(text, minute, second):
    hours = hours_of(text)
    now_s = at("2026-01-05 00:00") + minute * 60 + second
    is_open = hours.are_open(now_s)

    edge = hours.close_s(now_s) if is_open else hours.open_s(now_s)

    if edge is None:
        assert is_open
        assert hours.spans == ((0, 7 * _DAY),)
        return
    assert edge % 60 == 0
    assert hours.are_open(edge) is not is_open
    between = (*range(int(now_s // 60 + 1) * 60, int(edge), 11 * 60), edge - 60.0)
    assert all(hours.are_open(each) is is_open for each in between if each > now_s)


@settings(max_examples=60, deadline=None)
@given(texts(), texts(), st.integers(0, 30 * _DAY))
def test_that_joint_hours_are_open_where_both_are(one, other, minute):
    moment = at("2026-03-20 00:00") + minute * 60
    joint = hours_of(one).and_also(hours_of(other))

    assert joint.are_open(moment) is (
        hours_of(one).are_open(moment) and hours_of(other).are_open(moment)
    )
    assert all(begin < end for begin, end in joint.spans)
    assert all(before[1] <= after[0] for before, after in pairwise(joint.spans))


def test_that_a_week_of_minutes_agrees_with_the_calendar():
    hours = hours_of("Mon-Fri 19:00-07:00, Sat 08:00-12:00")
    for minute in range(0, 7 * _DAY, 7):
        moment = MONDAY + timedelta(minutes=minute)
        night = moment.hour >= 19 and moment.weekday() < 5
        morning = moment.hour < 7 and moment.weekday() in (1, 2, 3, 4, 5)
        saturday = moment.weekday() == 5 and 8 <= moment.hour < 12
        assert hours.are_open(at(str(moment))) is (night or morning or saturday)


@given(st.text(alphabet="0123456789:-,. MonTueSat\u0665\u00b2\t", max_size=40) | st.text())
def test_that_any_text_is_hours_or_refused(text):
    spans = ((0, 1),)
    with suppress(ValueError):
        spans = hours_of(text).spans
    assert spans
    assert all(0 <= begin < end <= 7 * _DAY for begin, end in spans)
