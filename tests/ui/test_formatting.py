from datetime import datetime

import pytest

from gpupanel.domain.device import DeviceKind, PhysicalDevice
from gpupanel.ui import formatting
from gpupanel.ui.formatting import DASH


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (formatting.mib(8192), "8.0 GiB"),
        (formatting.mib(512), "512 MiB"),
        (formatting.mib(1_048_576), "1,024.0 GiB"),
        (formatting.gib_number(3174), "3.1"),
        (formatting.percent(86.6), "87 %"),
        (formatting.fraction(0.9512), "95.1 %"),
        (formatting.celsius(71.4), "71 °C"),
        (formatting.watts(389.7), "390 W"),
        (formatting.count(118_000), "118,000"),
        (formatting.rate(118_000.4), "118,000 ex/s"),
        (formatting.rate(2.345), "2.3 ex/s"),
        (formatting.number(0.23412), "0.2341"),
        (formatting.number(12.3456), "12.35"),
        (formatting.number(1234.56), "1,235"),
        (formatting.number(0.0000123), "1.2e-05"),
        (formatting.number(0.0), "0.0000"),
        (formatting.duration(41), "0:41"),
        (formatting.duration(59.6), "1:00"),
        (formatting.duration(3661), "1:01:01"),
        (formatting.duration(-5), "-0:05"),
    ],
)
def test_that_numbers_read_as_people_write_them(text, expected):
    assert text == expected


@pytest.mark.parametrize(
    "write",
    [
        formatting.mib,
        formatting.gib_number,
        formatting.percent,
        formatting.fraction,
        formatting.celsius,
        formatting.watts,
        formatting.count,
        formatting.rate,
        formatting.number,
        formatting.duration,
    ],
)
def test_that_what_is_not_known_is_a_dash(write):
    assert write(None) == DASH


@pytest.mark.parametrize("write", [formatting.rate, formatting.number, formatting.duration])
@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_that_what_is_no_number_is_a_dash(write, value):
    assert write(value) == DASH


def test_that_device_names_lose_their_maker_and_equal_ones_get_a_number():
    names = ("NVIDIA GeForce RTX 3090", "NVIDIA GeForce RTX 3090", "AMD Ryzen 9 7950X")
    assert formatting.device_labels(names) == ("RTX 3090 #1", "RTX 3090 #2", "Ryzen 9 7950X")


def test_that_equal_devices_of_different_nodes_are_told_apart_by_their_nodes() -> None:
    def gpu(key: str, node: str | None) -> PhysicalDevice:
        return PhysicalDevice(key=key, kind=DeviceKind.GPU, name="NVIDIA H100", node=node)

    devices = (gpu("1", "alpha"), gpu("2", "beta"), gpu("3", "beta"), gpu("4", None))
    assert formatting.labels_of(devices) == (
        "H100 · alpha",
        "H100 #1 · beta",
        "H100 #2 · beta",
        "H100",
    )
    assert formatting.labels_of(devices, with_node=False) == ("H100", "H100 #1", "H100 #2", "H100")


def test_that_a_moment_is_said_as_people_say_it() -> None:
    noon_s = datetime.now().astimezone().replace(hour=12, minute=5).timestamp()
    assert formatting.day(noon_s) == "today at 12:05"
    assert formatting.day(noon_s - 86_400) == "yesterday at 12:05"
    assert formatting.day(1_790_000_000 - 86_400 * 365).startswith("on 2025-09-")
    assert formatting.day(1e30) == DASH
