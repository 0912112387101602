"""Numbers as people read them; what is not known is a dash."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.device_names import numbered
from gpupanel.domain.number_text import DASH as DASH
from gpupanel.domain.number_text import count as count
from gpupanel.domain.number_text import duration as duration
from gpupanel.domain.number_text import gibibytes, memory_size, short_number
from gpupanel.domain.number_text import number as number
from gpupanel.domain.number_text import rate as rate
from gpupanel.domain.number_text import watt_hours as watt_hours

_SETTING_DIGITS = 4
"""Of a value that may have been drawn from a range; its profile has all."""

mib = memory_size
gib_number = gibibytes


def percent(value: float | None) -> str:
    """Percent from 0 to 100: "87 %"."""
    return DASH if value is None else f"{value:.0f} %"


def fraction(value: float | None) -> str:
    """A fraction from 0 to 1 as percent with one decimal: ``0.9512`` is "95.1 %"."""
    return DASH if value is None else f"{value * 100.0:.1f} %"


def setting_number(value: float | None) -> str:
    """A setting's number beside others, with four significant digits: "0.0003162", "12,646"."""
    return short_number(value, _SETTING_DIGITS)


def celsius(value: float | None) -> str:
    """A temperature: "71 °C"."""
    return DASH if value is None else f"{value:.0f} °C"


def watts(value: float | None) -> str:
    """A power: "390 W"."""
    return DASH if value is None else f"{value:.0f} W"


def time_of_day(time_s: float) -> str:
    """A moment, seconds since the epoch, by the clock on the wall: "10:15:02"."""
    return _by_the_clock(time_s, "%H:%M:%S")


def day_and_time(time_s: float | None) -> str:
    """A moment, seconds since the epoch: "2026-11-21 10:15"."""
    return DASH if time_s is None else _by_the_clock(time_s, "%Y-%m-%d %H:%M")


def _by_the_clock(time_s: float, form: str) -> str:
    try:
        return datetime.fromtimestamp(time_s).astimezone().strftime(form)
    except (OverflowError, OSError, ValueError):
        return DASH  # a clock beyond all calendars


def day(time_s: float) -> str:
    """A moment, seconds since the epoch, as it is said: "today at 10:15", "on 2026-11-21"."""
    try:
        moment = datetime.fromtimestamp(time_s).astimezone()
    except (OverflowError, OSError, ValueError):
        return DASH  # a clock beyond all calendars
    today = datetime.now().astimezone().date()
    for name, date in (("today", today), ("yesterday", today - timedelta(days=1))):
        if moment.date() == date:
            return f"{name} at {moment:%H:%M}"
    return f"on {moment:%Y-%m-%d}"


def short_device_name(name: str) -> str:
    """A device's name without its maker: "NVIDIA GeForce RTX 4090" is "RTX 4090"."""
    for maker in ("NVIDIA ", "GeForce ", "Intel(R) ", "AMD "):
        name = name.removeprefix(maker)
    return name.replace("(TM)", "").replace("(R)", "").strip() or DASH


def device_labels(names: tuple[str, ...]) -> tuple[str, ...]:
    """Short names that distinguish devices: equal ones get a number, "RTX 3090 #2"."""
    return numbered([short_device_name(name) for name in names])


def labels_of(devices: Sequence[PhysicalDevice], *, with_node: bool = True) -> tuple[str, ...]:
    """Short names that distinguish devices, also those of several nodes: "RTX 3090 #2 · beta".

    Args:
        devices: Of this machine, or of the nodes of a cluster.
        with_node: Name the node of each; else equal ones of different nodes have one name.
    """
    short = [short_device_name(device.name) for device in devices]
    labels = numbered(short, [device.node for device in devices])
    if not with_node:
        return labels
    return tuple(
        f"{label} \N{MIDDLE DOT} {device.node}" if device.node else label
        for label, device in zip(labels, devices, strict=True)
    )
