"""What the NVML door gives besides plain numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple


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
        reserved_mib: What the driver keeps for itself; drivers before 510 do not report it.
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


@dataclass(frozen=True, slots=True)
class GpuProcess:
    """An entry of one of NVML's process lists; its memory is ``None`` when NVML may not say."""

    pid: int
    memory_used_mib: int | None
