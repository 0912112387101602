"""Times as they are written, and how many epochs fit into one."""

import pytest

from gpupanel.domain.duration import seconds_of
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile_toml import dump_profile, parse_profile
from gpupanel.domain.time_limit import epochs_that_fit


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90m", 5400),
        ("8h", 28_800),
        ("1h30m", 5400),
        ("2d", 172_800),
        ("45s", 45),
        (" 1d 2h ", 93_600),
        ("1.5h", 5400),
    ],
)
def test_that_a_time_is_read_in_seconds(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "8", "h", "30m1h", "0h", "-1h", "8 hours", "9999999h"])
def test_that_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be a time in quotes"):
        seconds_of(text)


def test_that_a_limit_stays_in_the_profile_as_it_was_written() -> None:
    profile = parse_profile('[training]\ntime_limit = "1h30m"')
    assert profile.training.time_limit == "1h30m"
    assert profile.training.time_limit_s == 5400
    assert parse_profile(dump_profile(profile)) == profile
    assert parse_profile("").training.time_limit_s is None


@pytest.mark.parametrize("value", ['"soon"', "8"])
def test_that_a_profile_says_which_times_there_are(value: str) -> None:
    with pytest.raises(ProblemError) as caught:
        parse_profile(f"[training]\ntime_limit = {value}")
    (problem,) = caught.value.problems
    assert problem.field == "training.time_limit"
    assert problem.message == (
        f"training.time_limit is {value}, but Time limit must be a time in quotes, such as "
        '"90m", "8h", "1h30m" or "2d".'
    )


@pytest.mark.parametrize(
    ("limit_s", "trained_s", "each_s", "done", "expected"),
    [
        # Of a first epoch only that few more fit is believed: graphs are built in it.
        (1000, 20, None, 1, None),
        (100, 40, None, 1, 2),
        (100, 60, None, 1, 1),
        (100, 130, None, 1, 1),
        # As of several, each the first of a process.
        (1000, 100, None, 2, None),
        (100, 60, None, 2, 3),
        # Not before a twentieth of the limit.
        (1000, 40, 10, 3, None),
        (1000, 60, 10, 5, 97),
        (1000, 60, 1, 2, 100),
        (1000, 995, 10, 99, 99),
        (1000, 1200, 12, 99, 99),
        (1000, 60, 0, 2, 100),
    ],
)
def test_that_so_many_epochs_fit(
    limit_s: float, trained_s: float, each_s: float | None, done: int, expected: int | None
) -> None:
    assert epochs_that_fit(limit_s, trained_s, each_s, done, 100) == expected
