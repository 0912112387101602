"""Numbers as people read them; what is not known is a dash."""

import math

DASH = "\N{EN DASH}"
"""Shown for a reading that there is none of."""

MIB_PER_GIB = 1024
_BEYOND_MEASURE = 1e15
"""Nobody measures so much, but a damaged file may say so: with 300 digits no row would hold it."""


def count(value: int | None) -> str:
    """A whole number with thousands set apart: "118,000"."""
    return DASH if value is None else f"{value:,}"


def memory_size(mib: float | None) -> str:
    """A size in mebibytes: ``8192`` is "8.0 GiB", ``512`` is "512 MiB"."""
    if mib is None:
        return DASH
    return mebibytes(mib) if abs(mib) < MIB_PER_GIB else f"{gibibytes(mib)} GiB"


def byte_size(count: int) -> str:
    """Bytes as people read them: ``1536`` is "1.5 KiB"."""
    if count < 1024:
        return f"{count:,} bytes"
    size = count / 1024.0
    for unit in ("KiB", "MiB"):
        if size < 1024.0:
            return f"{size:,.1f} {unit}"
        size /= 1024.0
    return f"{size:,.1f} GiB"


def mebibytes(mib: float) -> str:
    """A size in mebibytes that a person can set, or compare with one: "11,388 MiB"."""
    return f"{_grouped(mib, 0)} MiB"


def gibibytes(mib: float | None) -> str:
    """A size in mebibytes as a bare number of gibibytes, for "3.1 / 24.0 GiB"."""
    return DASH if mib is None else _grouped(mib / MIB_PER_GIB, 1)


def rate(value: float | None) -> str:
    """Examples per second: "118,000 ex/s"; slow ones keep a decimal."""
    if value is None or not math.isfinite(value):
        return DASH
    return f"{_grouped(value, 1 if value < 10.0 else 0)} ex/s"


def watt_hours(value: float | None) -> str:
    """An energy with three significant digits: "0.0123 Wh", "12.4 Wh", "1,230 Wh"."""
    if value is None or not math.isfinite(value):
        return DASH
    decimals = max(0, 2 - math.floor(math.log10(value))) if 0.0 < value < 1000.0 else 0
    return f"{_grouped(value, min(decimals, 6))} Wh"


def number(value: float | None) -> str:
    """A measured number such as a loss, with four significant digits: "0.2341", "1.2e-05".

    From 1,000 on all digits before the point are kept, up to a million: "12,646", "5.50e+08".
    """
    if value is None or not math.isfinite(value):
        return DASH
    size = abs(value)
    if size != 0.0 and size < 1e-3:
        return f"{value:.1e}"
    if size >= 1e6:
        return f"{value:.2e}"
    decimals = 4 if size < 1.0 else max(0, 3 - int(math.log10(size)))
    return f"{value:,.{decimals}f}"


def short_number(value: float | None, digits: int = 6) -> str:
    """A number as it was measured or typed, without zeros at its end: "0.5", "12,646", "1e-05".

    Args:
        value: Not-a-number and infinity are said by their names.
        digits: At most so many significant ones; those before the point are kept up to a billion.
    """
    if value is None:
        return DASH
    if not math.isfinite(value) or not 1.0 <= abs(value) < 1e9:
        return f"{value:.{digits}g}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if decimals else text


def number_range(least: float, greatest: float) -> str:
    """Both ends as :func:`short_number` has them: "0 to 12,646"."""
    return f"{short_number(least)} to {short_number(greatest)}"


def duration(seconds: float | None) -> str:
    """A span of time: ``41`` is "0:41", ``3661`` is "1:01:01"."""
    if seconds is None or not math.isfinite(seconds):
        return DASH
    if abs(seconds) >= _BEYOND_MEASURE:
        return f"{seconds:.1e} s"
    sign = "-" if seconds <= -0.5 else ""
    whole = round(abs(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, second = divmod(rest, 60)
    if hours:
        return f"{sign}{hours}:{minutes:02}:{second:02}"
    return f"{sign}{minutes}:{second:02}"


def _grouped(value: float, decimals: int) -> str:
    return f"{value:.1e}" if abs(value) >= _BEYOND_MEASURE else f"{value:,.{decimals}f}"
