"""Where a device is on the PCI bus, whoever writes it down."""

import re
from functools import lru_cache
from typing import Final

_ADDRESS: Final = re.compile(
    r"(?:(?P<domain>[0-9a-f]{1,8}):)?"
    r"(?P<bus>[0-9a-f]{1,2}):(?P<device>[0-9a-f]{1,2})(?:\.(?P<function>[0-7]))?",
    re.IGNORECASE,
)
"""NVML writes the domain with 8 digits (``00000000:01:00.0``), CUDA and the kernel with 4."""


@lru_cache(maxsize=256)  # asked of the same few GPUs with each sample
def pci_address(written: str | None) -> tuple[int, int, int, int] | None:
    """Domain, bus, device and function; ``None`` for what is no PCI bus id."""
    found = None if written is None else _ADDRESS.fullmatch(written.strip())
    if found is None:
        return None
    domain, bus, device, function = (int(part or "0", 16) for part in found.groups())
    return domain, bus, device, function


def is_same_pci_device(one: str | None, other: str | None) -> bool | None:
    """Whether two PCI bus ids mean the same device; ``None`` when one of them is not known.

    Only the part counts that every way to write them keeps: some have room for 16 bits of the
    domain, and CUDA's always end with function 0.
    """
    first, second = pci_address(one), pci_address(other)
    if first is None or second is None:
        return None
    return _kept(*first) == _kept(*second)


@lru_cache(maxsize=256)
def short_bus_id(written: str) -> str:
    """A PCI bus id as CUDA and the kernel write it: ``0000:01:00.0``; anything else as it is."""
    address = pci_address(written)
    if address is None:
        return written
    domain, bus, device, function = address
    return f"{domain:04x}:{bus:02x}:{device:02x}.{function:x}"


def _kept(domain: int, bus: int, device: int, _function: int) -> tuple[int, int, int]:
    return domain & 0xFFFF, bus, device
