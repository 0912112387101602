"""What the NVML door gives besides plain numbers, and what it takes for garbage."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

_BYTES_PER_MIB: Final = 2**20
MOST_BYTES: Final = 2**50
"""More memory than any GPU has."""


class GarbageError(ValueError):
    """A reading that cannot be true: all bits set, 300 percent, more used than there is.

    Damaged boards, drivers that are just going away and some notebooks answer so, with success.
    """


class GpuUtilization(NamedTuple):
    """Percent of the last sample period (1/6 s to 1 s), each ``None`` when not known.

    Attributes:
        gpu_percent: With a kernel running.
        memory_percent: In which the GPU's memory was read or written.
    """

    gpu_percent: float | None
    memory_percent: float | None


@dataclass(frozen=True, slots=True)
class GpuMemory:
    """A GPU's memory, in MiB.

    Attributes:
        used_mib: What processes hold; with drivers before 510 also what the driver reserves.
        free_mib: What can still be taken.
        reserved_mib: What the driver keeps for itself; drivers before 510 do not tell.
    """

    total_mib: int
    used_mib: int
    free_mib: int
    reserved_mib: int | None = None


@dataclass(frozen=True, slots=True)
class NvLinks:
    """A GPU's NVLink connections that are up.

    Attributes:
        to_gpus: How many lead straight to a GPU, by its PCI bus id.
        to_switches: How many lead to an NVSwitch, behind which every GPU can be.
    """

    to_gpus: Mapping[str, int]
    to_switches: int


def memory_of_bytes(total: int, used: int, free: int, reserved: int | None = None) -> GpuMemory:
    """The memory in MiB.

    Raises:
        GarbageError: The parts do not fit into the whole.
    """
    parts = (used, free, reserved or 0)
    if not 0 < total < MOST_BYTES or max(parts) > total:
        raise GarbageError(f"{total=} {used=} {free=} {reserved=} bytes")
    return GpuMemory(mib(total), mib(used), mib(free), None if reserved is None else mib(reserved))


def mib(size: int) -> int:
    """Bytes in whole MiB."""
    return size // _BYTES_PER_MIB


def within(value: int, least: int, most: int) -> int:
    """The value itself.

    Raises:
        GarbageError: It is not between ``least`` and ``most``.
    """
    if not least <= value <= most:
        raise GarbageError(f"{value} is not between {least} and {most}")
    return value


def percent(value: int | None) -> float | None:
    """The part of a whole in percent; ``None`` for garbage."""
    return float(value) if value is not None and 0 <= value <= 100 else None
