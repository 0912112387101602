"""What is free of a device while something is tried on it, and what other processes take."""

import os
from dataclasses import dataclass
from typing import Final, Protocol

import psutil

from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.telemetry import DeviceProcess
from gpupanel.runs.readiness import MachineWatch
from gpupanel.runs.supervision.memory.reading import KernelCounters

_BYTES_PER_MIB: Final = 2**20


@dataclass(frozen=True, slots=True)
class FreeMemory:
    """The free memory of one device at one moment.

    Attributes:
        free_mib: What can still be taken; ``None``: not known.
        others_mib: What processes hold that this one has not started; ``None``: not known.
    """

    free_mib: int | None = None
    others_mib: int | None = None


class MemoryReader(Protocol):
    """Reads one device, always in the same thread."""

    interval_s: float
    """How long to wait between two readings."""

    def read(self) -> FreeMemory:
        """What is so now."""

    def close(self) -> None:
        """Read no more."""


def memory_reader(device: str) -> MemoryReader:
    """What reads the device with that key."""
    return _HostReader() if device == CPU_KEY else _GpuReader(device)


class _HostReader:
    interval_s = 0.1

    def __init__(self) -> None:
        self._counters = KernelCounters()

    def read(self) -> FreeMemory:
        free = self._counters.available_to(os.getpid())
        return FreeMemory(None if free is None else free // _BYTES_PER_MIB)

    def close(self) -> None:
        """Nothing is held open."""


class _GpuReader:
    interval_s = 0.25

    def __init__(self, key: str) -> None:
        self._key = key
        self._watch = MachineWatch()
        self._is_ours: dict[tuple[int, float | None], bool] = {}

    def read(self) -> FreeMemory:
        sample = self._watch.read().sample
        reading = None if sample is None else sample.reading(self._key)
        if reading is None:
            return FreeMemory()
        others = (each for each in reading.processes if not self._is_own(each))
        held = sum(each.memory_used_mib or 0 for each in others)
        return FreeMemory(reading.memory_free_mib, held)

    def close(self) -> None:
        self._watch.__exit__(None, None, None)

    def _is_own(self, process: DeviceProcess) -> bool:
        """Whether it descends from this process; a pid may be given out again."""
        identity = (process.pid, process.started_s)
        if identity not in self._is_ours:
            self._is_ours[identity] = _descends(process.pid)
        return self._is_ours[identity]


def _descends(pid: int) -> bool:
    try:
        return any(parent.pid == os.getpid() for parent in psutil.Process(pid).parents())
    except psutil.Error:
        return False  # it ended meanwhile, or is in another pid namespace
