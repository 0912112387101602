"""The host: its processor and its memory."""

import os
import platform
from pathlib import Path
from typing import Final

import psutil

from gpupanel.domain.device import CPU_KEY, DeviceKind, PhysicalDevice
from gpupanel.domain.telemetry import DeviceReading

_BYTES_PER_MIB: Final = 2**20
_CPU_INFO: Final = Path("/proc/cpuinfo")
# Linux drivers that report the processor's own temperature, as psutil names them: Intel, AMD,
# AMD out of the kernel's tree, Arm boards.
_PROCESSOR_SENSORS: Final = ("coretemp", "k10temp", "zenpower", "cpu_thermal", "cpu-thermal")
# Where one driver reports several, these are of the whole package.
_PACKAGE_LABELS: Final = ("Package id 0", "Tctl", "Tdie")


class Host:
    """The processor with its memory, as one physical device with the key ``cpu``.

    Utilization is that of the time between two readings, so the first one that follows within a
    clock tick has none.
    """

    def __init__(self) -> None:
        self._device = PhysicalDevice(
            key=CPU_KEY,
            kind=DeviceKind.CPU,
            name=_processor_name(),
            memory_total_mib=psutil.virtual_memory().total // _BYTES_PER_MIB,
            core_count=os.cpu_count(),
        )
        self._sensor = _processor_sensor()
        self._busy_s, self._passed_s = _cpu_seconds()

    @property
    def device(self) -> PhysicalDevice:
        """What does not change."""
        return self._device

    def read(self) -> DeviceReading:
        """What it does now."""
        memory = psutil.virtual_memory()
        return DeviceReading(
            key=CPU_KEY,
            # "Available" counts caches as free, which programs do get when they ask.
            memory_used_mib=(memory.total - memory.available) // _BYTES_PER_MIB,
            memory_free_mib=memory.available // _BYTES_PER_MIB,
            memory_total_mib=memory.total // _BYTES_PER_MIB,
            gpu_utilization_percent=self._utilization_percent(),
            temperature_c=None if self._sensor is None else _temperature_c(self._sensor),
        )

    def _utilization_percent(self) -> float | None:
        busy_s, passed_s = _cpu_seconds()
        busy, passed = busy_s - self._busy_s, passed_s - self._passed_s
        if passed <= 0.0:
            return None
        self._busy_s, self._passed_s = busy_s, passed_s
        return round(min(100.0, max(0.0, 100.0 * busy / passed)), 1)


def _cpu_seconds() -> tuple[float, float]:
    """Seconds that all cores together were busy, and that passed for them."""
    times = psutil.cpu_times()
    # Linux counts the time of guests in user and nice already.
    guests = getattr(times, "guest", 0.0) + getattr(times, "guest_nice", 0.0)
    passed = sum(times) - guests
    return passed - times.idle - getattr(times, "iowait", 0.0), passed


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
