"""Who holds a GPU, since when and until about when, in words."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from gpupanel.domain.gpu_claim import GpuClaim, claim_words

NOW_S = datetime(2026, 11, 29, 20, 15, tzinfo=UTC).timestamp()
SINCE_S = datetime(2026, 11, 29, 19, 5, tzinfo=UTC).timestamp()
UNTIL_S = datetime(2026, 11, 29, 21, 40, tzinfo=UTC).timestamp()
DAY_S = 86_400.0


@pytest.fixture(autouse=True)
def _greenwich(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_that_a_claim_says_who_since_when_and_until_about_when() -> None:
    claim = GpuClaim(user="ada", since_s=SINCE_S, until_s=UNTIL_S)
    assert claim.words(NOW_S) == "ada, since 19:05, free about 21:40"


def test_that_times_are_those_of_the_clock_on_the_wall(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "EST5")
    time.tzset()
    claim = GpuClaim(user="ada", since_s=SINCE_S, until_s=UNTIL_S)
    assert claim.words(NOW_S) == "ada, since 14:05, free about 16:40"


def test_that_times_of_another_day_have_its_date() -> None:
    claim = GpuClaim(user="ada", since_s=SINCE_S - DAY_S, until_s=UNTIL_S + DAY_S)
    assert claim.words(NOW_S) == "ada, since 2026-11-28 19:05, free about 2026-11-30 21:40"


def test_that_what_a_run_does_not_know_yet_is_left_out() -> None:
    assert GpuClaim(user="ada", since_s=SINCE_S).words(NOW_S) == "ada, since 19:05"


def test_that_a_beginning_to_come_and_an_end_that_is_past_are_left_out() -> None:
    claim = GpuClaim(user="ada", since_s=NOW_S + 1.0, until_s=NOW_S)
    assert claim.words(NOW_S) == "ada"


def test_that_a_user_whom_the_system_does_not_know_has_a_number() -> None:
    assert GpuClaim(user="65001", since_s=SINCE_S).words(NOW_S) == "user 65001, since 19:05"


def test_that_a_name_of_a_stranger_on_another_node_writes_nothing_on_the_terminal() -> None:
    words = GpuClaim(user="\x1b]0;ada\x07" + "a" * 500, since_s=SINCE_S).words(NOW_S)
    assert words.isprintable()
    assert len(words) < 100


@pytest.mark.parametrize("moment_s", [-1.0, 1e18, float("nan"), float("inf")])
def test_that_a_moment_beyond_all_calendars_is_refused(moment_s: float) -> None:
    with pytest.raises(ValueError, match="since_s"):
        GpuClaim(user="ada", since_s=moment_s)


def test_that_the_latest_moment_can_be_said() -> None:
    latest = GpuClaim(user="ada", since_s=SINCE_S, until_s=2.0**33)
    assert latest.words(NOW_S).endswith("free about 2242-03-16 12:56")


def test_that_several_claims_to_one_gpu_are_named_and_of_many_the_first_ones() -> None:
    claims = [GpuClaim(user=name, since_s=SINCE_S) for name in ("ada", "bob", "cyd", "dee", "eve")]
    assert claim_words((), NOW_S) == ""
    assert claim_words(claims[:2], NOW_S) == "ada, since 19:05; bob, since 19:05"
    assert claim_words(claims[:3], NOW_S).count(";") == 2
    assert claim_words(claims, NOW_S).endswith("cyd, since 19:05; 2 others")
