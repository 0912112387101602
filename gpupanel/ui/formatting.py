"""Numbers as people read them; what is not known is a dash."""

import math

DASH = "\N{EN DASH}"
"""Shown for a reading that there is none of."""

_MIB_PER_GIB = 1024


def mib(value: float | None) -> str:
    """A size in mebibytes: ``8192`` is "8.0 GiB", ``512`` is "512 MiB"."""
    if value is None:
        return DASH
    if abs(value) < _MIB_PER_GIB:
        return f"{value:,.0f} MiB"
    return f"{gib_number(value)} GiB"


def gib_number(value: float | None) -> str:
    """A size in mebibytes as a bare number of gibibytes, for "3.1 / 24.0 GiB"."""
    return DASH if value is None else f"{value / _MIB_PER_GIB:,.1f}"


def percent(value: float | None) -> str:
    """Percent from 0 to 100: "87 %"."""
    return DASH if value is None else f"{value:.0f} %"


def fraction(value: float | None) -> str:
    """A fraction from 0 to 1 as percent with one decimal: ``0.9512`` is "95.1 %"."""
    return DASH if value is None else f"{value * 100.0:.1f} %"


def celsius(value: float | None) -> str:
    """A temperature: "71 °C"."""
    return DASH if value is None else f"{value:.0f} °C"


def watts(value: float | None) -> str:
    """A power: "390 W"."""
    return DASH if value is None else f"{value:.0f} W"


def count(value: int | None) -> str:
    """A whole number with thousands set apart: "118,000"."""
    return DASH if value is None else f"{value:,}"


def rate(value: float | None) -> str:
    """Examples per second: "118,000 ex/s"; slow ones keep a decimal."""
    if value is None or not math.isfinite(value):
        return DASH
    return f"{value:,.1f} ex/s" if value < 10.0 else f"{value:,.0f} ex/s"


def number(value: float | None) -> str:
    """A measured number such as a loss, with four significant digits: "0.2341", "1.2e-05"."""
    if value is None or not math.isfinite(value):
        return DASH
    size = abs(value)
    if size != 0.0 and (size < 1e-3 or size >= 1e5):
        return f"{value:.1e}"
    decimals = 4 if size < 1.0 else max(0, 3 - int(math.log10(size)))
    return f"{value:.{decimals}f}"


def duration(seconds: float | None) -> str:
    """A span of time: ``41`` is "0:41", ``3661`` is "1:01:01"."""
    if seconds is None or not math.isfinite(seconds):
        return DASH
    sign = "-" if seconds <= -0.5 else ""
    whole = round(abs(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, second = divmod(rest, 60)
    if hours:
        return f"{sign}{hours}:{minutes:02}:{second:02}"
    return f"{sign}{minutes}:{second:02}"


def short_device_name(name: str) -> str:
    """A device's name without its maker: "NVIDIA GeForce RTX 4090" is "RTX 4090"."""
    for maker in ("NVIDIA ", "GeForce ", "Intel(R) ", "AMD "):
        name = name.removeprefix(maker)
    return name.replace("(TM)", "").replace("(R)", "").strip() or DASH


def device_labels(names: tuple[str, ...]) -> tuple[str, ...]:
    """Short names that distinguish devices: equal ones get a number, "RTX 3090 #2"."""
    short = [short_device_name(name) for name in names]
    labels: list[str] = []
    for position, name in enumerate(short):
        if short.count(name) == 1:
            labels.append(name)
        else:
            labels.append(f"{name} #{short[: position + 1].count(name)}")
    return tuple(labels)
