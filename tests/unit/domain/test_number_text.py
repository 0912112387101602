"""Numbers as people read them."""

from collections.abc import Callable

import pytest

from gpupanel.domain.number_text import DASH, count, duration, number, rate


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (number(0.23414), "0.2341"),
        (number(1.2e-05), "1.2e-05"),
        (number(123456.0), "1.2e+05"),
        (number(3.14159), "3.142"),
        (number(0.0), "0.0000"),
        (count(118_000), "118,000"),
        (rate(118_000.4), "118,000 ex/s"),
        (rate(3.25), "3.2 ex/s"),
        (duration(41.0), "0:41"),
        (duration(3661.0), "1:01:01"),
        (duration(-61.0), "-1:01"),
    ],
)
def test_that_numbers_read_as_people_write_them(text: str, expected: str) -> None:
    assert text == expected


@pytest.mark.parametrize("write", [number, count, rate, duration])
def test_that_what_is_not_known_is_a_dash(write: Callable[[None], str]) -> None:
    assert write(None) == DASH


@pytest.mark.parametrize("write", [number, rate, duration])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_that_what_is_no_number_is_a_dash(write: Callable[[float], str], value: float) -> None:
    assert write(value) == DASH
