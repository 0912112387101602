"""Where a device is on the PCI bus, as NVML, CUDA and the kernel write it."""

import pytest

from gpupanel.domain.pci import is_same_pci_device, pci_address, short_bus_id


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("00000000:01:00.0", "0000:01:00.0", True),
        ("00000000:C1:00.0", "0000:c1:00.0", True),
        ("00010000:01:00.0", "10000:01:00.0", True),
        ("00010000:01:00.0", "0000:01:00.0", True),  # cut off to the 4 digits of old drivers
        ("00000000:01:00.4", "0000:01:00.0", True),
        ("00000000:01:00.0", "01:00", True),
        ("00000000:01:01.0", "0000:01:00.0", False),
        ("00000000:01:00.0", "0000:02:00.0", False),
        ("00000000:01:00.0", "0001:01:00.0", False),
        ("00000000:01:00.0", None, None),
        ("00000000:01:00.0", "<undefined>", None),
        ("", "0000:01:00.0", None),
    ],
)
def test_that_ways_to_write_a_place_are_compared_by_what_they_mean(
    one: str, other: str | None, is_same: bool | None
) -> None:
    assert is_same_pci_device(one, other) is is_same
    assert is_same_pci_device(other, one) is is_same


def test_that_an_address_is_read_as_numbers() -> None:
    assert pci_address("00000000:C1:1f.7") == (0, 0xC1, 0x1F, 7)


def test_that_people_read_the_short_form() -> None:
    assert short_bus_id("00000000:C1:00.0") == "0000:c1:00.0"
    assert short_bus_id("00010000:01:00.0") == "10000:01:00.0"
    assert short_bus_id("somewhere") == "somewhere"
