"""Names of equal devices."""

import pytest

from gpupanel.domain.device_names import gathered, make, numbered
from tests.fakes.devices import TWO_UNEQUAL


def test_that_equal_names_get_a_number_and_lose_it_again() -> None:
    names = numbered(["RTX 3090", "RTX 3060", "RTX 3090"])
    assert names == ("RTX 3090 #1", "RTX 3060", "RTX 3090 #2")
    assert [make(name) for name in names] == ["RTX 3090", "RTX 3060", "RTX 3090"]


@pytest.mark.parametrize(
    ("meant", "called"),
    [
        (("A #1", "A #2", "B"), ("A", "B")),
        (("A #2",), ("A #2",)),
        (("B", "A #1"), ("B", "A #1")),
    ],
)
def test_that_a_make_stands_once_where_all_of_it_are_meant(
    meant: tuple[str, ...], called: tuple[str, ...]
) -> None:
    assert gathered(meant, ("A #1", "A #2", "B")) == called


def test_that_an_inventory_numbers_equal_devices_and_leaves_others_as_they_are() -> None:
    assert TWO_UNEQUAL.numbered() is TWO_UNEQUAL
    devices = [
        each.model_copy(update={"name": "RTX 3090"}) if each.is_gpu else each
        for each in TWO_UNEQUAL.devices
    ]
    equal = TWO_UNEQUAL.model_copy(update={"devices": tuple(devices)})
    assert [gpu.name for gpu in equal.numbered().gpus] == ["RTX 3090 #1", "RTX 3090 #2"]
    assert equal.name_of("GPU-3060") == "RTX 3090 #2"
    assert equal.name_of("GPU-none") == "GPU-none"
