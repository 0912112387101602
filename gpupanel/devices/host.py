"""The host: its processor, its memory, its disks."""

import os
import platform
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from gpupanel.domain.device import CPU_KEY, DeviceKind, PhysicalDevice
from gpupanel.domain.telemetry import DeviceReading, DiskReading

_BYTES_PER_MIB: Final = 2**20
_CPU_INFO: Final = Path("/proc/cpuinfo")
# Linux drivers that report the processor's own temperature, as psutil names them: Intel, AMD,
# AMD out of the kernel's tree, Arm boards.
_PROCESSOR_SENSORS: Final = ("coretemp", "k10temp", "zenpower", "cpu_thermal", "cpu-thermal")
# Where one driver reports several, these are of the whole package.
_PACKAGE_LABELS: Final = ("Package id 0", "Tctl", "Tdie")
TEMPERATURE_INTERVAL_S: Final = 4.0
"""How often to ask for the temperature: psutil reads each sensor of the machine for it, which are
hundreds of files where there are many cores."""


class Host:
    """The processor with its memory, as one physical device with the key ``cpu``.

    Utilization is that of the time between two readings, so one that follows within a clock tick
    has none.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Asks what does not change.

        Args:
            clock: Seconds that only grow.
        """
        self._clock = clock
        self._device = PhysicalDevice(
            key=CPU_KEY,
            kind=DeviceKind.CPU,
            name=_processor_name(),
            memory_total_mib=psutil.virtual_memory().total // _BYTES_PER_MIB,
            core_count=os.cpu_count(),
        )
        self._sensor = _processor_sensor()
        self._temperature_c: float | None = None
        self._felt_s: float | None = None
        self._cores = _core_seconds()

    @property
    def device(self) -> PhysicalDevice:
        """What does not change."""
        return self._device

    def read(self) -> DeviceReading:
        """What it does now."""
        memory = psutil.virtual_memory()
        total, cores = self._utilization_percent()
        return DeviceReading(
            key=CPU_KEY,
            # "Available" counts caches as free, which programs do get when they ask.
            memory_used_mib=(memory.total - memory.available) // _BYTES_PER_MIB,
            memory_free_mib=memory.available // _BYTES_PER_MIB,
            memory_total_mib=memory.total // _BYTES_PER_MIB,
            gpu_utilization_percent=total,
            core_utilization_percent=cores,
            temperature_c=self._temperature(),
        )

    def _temperature(self) -> float | None:
        if self._sensor is None:
            return None
        now_s = self._clock()
        if self._felt_s is None or now_s - self._felt_s >= TEMPERATURE_INTERVAL_S:
            self._felt_s, self._temperature_c = now_s, _temperature_c(self._sensor)
        return self._temperature_c

    def _utilization_percent(self) -> tuple[float | None, tuple[float, ...]]:
        """The utilization of all logical processors together, and of each."""
        before, now = self._cores, _core_seconds()
        if len(before) != len(now):
            # A processor was switched on or off; the next reading has it again.
            self._cores = now
            return None, ()
        spans = [after.since(core) for core, after in zip(before, now, strict=True)]
        together = _CoreSeconds(
            sum(span.busy_s for span in spans), sum(span.passed_s for span in spans)
        )
        if together.passed_s <= 0.0:
            return None, ()
        self._cores = now
        return together.percent, tuple(span.percent for span in spans)


def disk_reading(folder: Path) -> DiskReading | None:
    """How full the file system of a folder is, or of where the folder would be made.

    May last as long as the file system takes: for ever when it is that of a server that is gone.
    """
    there = folder.absolute()
    try:
        # Of a server that is gone, asking whether it is there is an error, too.
        while not there.exists() and there != there.parent:
            there = there.parent
        usage = shutil.disk_usage(there)
    except OSError:
        return None
    return DiskReading(
        path=str(folder),
        total_mib=usage.total // _BYTES_PER_MIB,
        free_mib=usage.free // _BYTES_PER_MIB,
    )


@dataclass(frozen=True, slots=True)
class _CoreSeconds:
    """Seconds that a logical processor was busy, and that passed for it."""

    busy_s: float
    passed_s: float

    def since(self, before: "_CoreSeconds") -> "_CoreSeconds":
        return _CoreSeconds(self.busy_s - before.busy_s, self.passed_s - before.passed_s)

    @property
    def percent(self) -> float:
        if self.passed_s <= 0.0:
            # One that sleeps so deeply that its time is not counted.
            return 0.0
        return round(min(100.0, max(0.0, 100.0 * self.busy_s / self.passed_s)), 1)


def _core_seconds() -> tuple[_CoreSeconds, ...]:
    # The whole is their sum: one reading of the kernel's counters for both.
    cores = []
    for times in psutil.cpu_times(percpu=True):
        # Linux counts the time of guests in user and nice already.
        guests = getattr(times, "guest", 0.0) + getattr(times, "guest_nice", 0.0)
        passed = sum(times) - guests
        busy = passed - times.idle - getattr(times, "iowait", 0.0)
        cores.append(_CoreSeconds(busy, passed))
    return tuple(cores)


def _processor_name() -> str:
    try:
        lines = _CPU_INFO.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    for line in lines:
        key, _, value = line.partition(":")
        if key.strip() == "model name" and value.strip():
            return " ".join(value.split())
    return platform.processor() or f"{platform.machine()} processor"


def _processor_sensor() -> str | None:
    """The sensor of the processor, or ``None`` where psutil knows none."""
    if not hasattr(psutil, "sensors_temperatures"):
        return None
    known = psutil.sensors_temperatures()
    return next((name for name in _PROCESSOR_SENSORS if known.get(name)), None)


def _temperature_c(sensor: str) -> float | None:
    readings = psutil.sensors_temperatures().get(sensor)
    if not readings:
        return None
    package = next((reading for reading in readings if reading.label in _PACKAGE_LABELS), None)
    chosen = package or max(readings, key=lambda reading: reading.current)
    return float(chosen.current)
