"""Numbers as people read them."""

import math
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import gpupanel
from gpupanel.domain.number_text import (
    DASH,
    byte_size,
    count,
    duration,
    gibibytes,
    mebibytes,
    memory_size,
    number,
    number_range,
    rate,
    short_number,
    watt_hours,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (number(0.23414), "0.2341"),
        (number(1.2e-05), "1.2e-05"),
        (number(12646.4), "12,646"),
        (number(123456.0), "123,456"),
        (number(-5.5e8), "-5.50e+08"),
        (short_number(255.0), "255"),
        (short_number(0.5), "0.5"),
        (short_number(-0.25), "-0.25"),
        (short_number(0.0), "0"),
        (short_number(1e-05), "1e-05"),
        (short_number(1234567.8), "1,234,568"),
        (short_number(999.99999999), "1,000"),
        (short_number(123.456, 3), "123"),
        (short_number(1.25, 3), "1.25"),
        (short_number(1e12), "1e+12"),
        (short_number(math.inf), "inf"),
        (short_number(None), DASH),
        (number_range(0.0, 65535.0), "0 to 65,535"),
        (number(3.14159), "3.142"),
        (number(0.0), "0.0000"),
        (count(118_000), "118,000"),
        (mebibytes(11_388), "11,388 MiB"),
        (byte_size(1_023), "1,023 bytes"),
        (byte_size(1_536), "1.5 KiB"),
        (byte_size(3 << 40), "3,072.0 GiB"),
        (memory_size(512), "512 MiB"),
        (memory_size(8192), "8.0 GiB"),
        (memory_size(-2048.0), "-2.0 GiB"),
        (gibibytes(3174), "3.1"),
        (rate(118_000.4), "118,000 ex/s"),
        (rate(3.25), "3.2 ex/s"),
        (rate(1e300), "1.0e+300 ex/s"),
        (rate(-1e300), "-1.0e+300 ex/s"),
        (watt_hours(1e300), "1.0e+300 Wh"),
        (memory_size(1e300), "9.8e+296 GiB"),
        (mebibytes(1e300), "1.0e+300 MiB"),
        (duration(-1e300), "-1.0e+300 s"),
        (duration(41.0), "0:41"),
        (duration(3661.0), "1:01:01"),
        (duration(-61.0), "-1:01"),
    ],
)
def test_that_numbers_read_as_people_write_them(text: str, expected: str) -> None:
    assert text == expected


@pytest.mark.parametrize("write", [number, count, rate, duration, memory_size, gibibytes])
def test_that_what_is_not_known_is_a_dash(write: Callable[[None], str]) -> None:
    assert write(None) == DASH


@pytest.mark.parametrize("write", [number, rate, duration])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_that_what_is_no_number_is_a_dash(write: Callable[[float], str], value: float) -> None:
    assert write(value) == DASH


_PLAIN = re.compile(r"\{(?:\w+\.)*\w*_mib(?:\([^{}]*\))?\} MiB")


def test_that_no_size_in_mebibytes_is_written_without_its_thousands_set_apart() -> None:
    """By :func:`mebibytes`, :func:`count` or ``{size_mib:,}``."""
    root = Path(gpupanel.__file__).parent
    plain = {
        str(path.relative_to(root)): found
        for path in root.rglob("*.py")
        if (found := _PLAIN.findall(path.read_text(encoding="utf-8")))
    }
    assert plain == {}
