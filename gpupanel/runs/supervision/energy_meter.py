"""How much energy the devices of a run take while it goes on."""

import threading
from typing import Final

from gpupanel.domain.energy import JOULES_PER_WH, DeviceEnergy
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.telemetry import DeviceReading, TelemetrySample

LONGEST_GAP_S: Final = 10.0
"""Between two readings of a GPU's power: what it took in a longer time is not known."""


class EnergyMeter:
    """Adds up the energy of each device of a run; samples come in from the thread that takes them.

    A GPU from Volta on counts what it takes (``nvmlDeviceGetTotalEnergyConsumption``, in
    millijoules since the driver was loaded); of others, and of a counter that was reset, the
    power is added up over time, as a straight line between two readings.
    """

    def __init__(self, plan: LaunchPlan) -> None:
        self._meters = {device.key: _DeviceMeter() for device in plan.devices}
        self._lock = threading.Lock()

    def take(self, sample: TelemetrySample, begun_s: float) -> None:
        """Take in a sample.

        Args:
            sample: What the devices reported.
            begun_s: When they were asked for it, by a clock that nobody sets.
        """
        with self._lock:
            for key, meter in self._meters.items():
                reading = sample.reading(key)
                # What is repeated for a slow driver says nothing of now.
                if reading is not None and not reading.age_s:
                    meter.take(reading, begun_s)

    def devices(self) -> tuple[DeviceEnergy, ...]:
        """What each took since its first reading; devices that report nothing are left out."""
        with self._lock:
            found = ((key, meter.energy()) for key, meter in self._meters.items())
            return tuple(
                DeviceEnergy(
                    device_key=key,
                    watt_hours=round(energy[0] / JOULES_PER_WH, 6),
                    measured_by="counter" if energy[1] else "power",
                )
                for key, energy in found
                if energy is not None
            )


class _DeviceMeter:
    """One device's joules, by its counter where it has one, else by its power."""

    def __init__(self) -> None:
        self._counted_j = self._added_j = 0.0
        self._counter_j: float | None = None
        self._power: tuple[float, float] | None = None
        self._intervals = 0
        self._counter_is_whole = True

    def take(self, reading: DeviceReading, now_s: float) -> None:
        if reading.energy_j is None:
            self._counter_is_whole = False
        elif self._counter_j is not None:
            # It is reset when the driver is loaded again.
            self._counter_is_whole &= reading.energy_j >= self._counter_j
            self._counted_j += max(0.0, reading.energy_j - self._counter_j)
        self._counter_j = reading.energy_j
        if reading.power_w is None:
            self._power = None
            return
        if self._power is not None:
            before_s, before_w = self._power
            if now_s - before_s <= LONGEST_GAP_S:
                self._added_j += (now_s - before_s) * (before_w + reading.power_w) / 2.0
                self._intervals += 1
        self._power = now_s, reading.power_w

    def energy(self) -> tuple[float, bool] | None:
        """Joules, and whether the device counted them itself; ``None``: not known."""
        if self._counter_is_whole and self._counter_j is not None:
            return self._counted_j, True
        return (self._added_j, False) if self._intervals else None
