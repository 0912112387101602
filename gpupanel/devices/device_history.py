"""What each device did in the last hour, kept thin."""

import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from gpupanel.domain.telemetry import DeviceReading, DeviceState, TelemetrySample

HISTORY_S: Final = 3600.0
SLOT_S: Final = 10.0
"""What was reported within so long is kept as one mean."""
_SLOTS: Final = int(HISTORY_S / SLOT_S)
MOST_DEVICES: Final = 64
"""MIG instances come and go: of more devices those seen last are kept."""

Moments: TypeAlias = list[tuple[float, float | None]]
"""Times in seconds since the epoch, ascending, with a value each; ``None`` begins a gap."""


@dataclass(frozen=True, slots=True)
class RecordedReading:
    """A reading of which the history is kept.

    Attributes:
        of: The value of a device's reading; ``None`` where it is not known.
    """

    name: str
    of: Callable[[DeviceReading], float | None]


def _memory_percent(reading: DeviceReading) -> float | None:
    used, total = reading.memory_used_mib, reading.memory_total_mib
    return None if used is None or not total else 100.0 * used / total


UTILIZATION: Final = RecordedReading("utilization", lambda reading: reading.gpu_utilization_percent)
"""Percent of the time in which the device was busy."""
MEMORY: Final = RecordedReading("memory", _memory_percent)
"""Percent of the device's memory that processes hold."""
TEMPERATURE: Final = RecordedReading("temperature", lambda reading: reading.temperature_c)
"""Degrees Celsius."""
POWER: Final = RecordedReading("power", lambda reading: reading.power_w)
"""Watts."""
_KEPT: Final = (UTILIZATION, MEMORY, TEMPERATURE, POWER)


@dataclass(slots=True)
class _Slot:
    """Sums of what was reported within one slot of time."""

    number: int
    sums: list[float] = field(default_factory=lambda: [0.0] * len(_KEPT))
    counts: list[int] = field(default_factory=lambda: [0] * len(_KEPT))

    def add(self, reading: DeviceReading) -> None:
        for place, kept in enumerate(_KEPT):
            value = kept.of(reading)
            if value is not None:
                self.sums[place] += value
                self.counts[place] += 1

    def mean(self, place: int) -> float | None:
        return self.sums[place] / self.counts[place] if self.counts[place] else None


class DeviceHistory:
    """A ring of slots of :data:`SLOT_S` for each device: 360 of them, however often it is read.

    A clock that is set back forgets what lies ahead of it; one that is set forward leaves a gap.
    """

    def __init__(self) -> None:
        self._slots: dict[str, deque[_Slot]] = {}
        self._now: int | None = None

    @property
    def end_s(self) -> float | None:
        """The end of the newest slot, in seconds since the epoch; ``None`` before a sample."""
        return None if self._now is None else (self._now + 1) * SLOT_S

    def devices(self) -> tuple[str, ...]:
        """The devices of which anything of the last hour is known."""
        return tuple(key for key in self._slots if next(self._recent(key), None) is not None)

    def add(self, sample: TelemetrySample) -> bool:
        """Take in what the devices report.

        Returns:
            Whether it begins a new slot: what was known before will not change any more.
        """
        number = math.floor(sample.time_s / SLOT_S)
        before, self._now = self._now, number
        if before is not None and number < before:
            self._forget_after(number)
        for reading in sample.readings:
            # What a driver that answers slowly said long ago is not of now.
            if reading.state is not DeviceState.LOST and reading.age_s < SLOT_S:
                self._slot(reading.key, number).add(reading)
        while len(self._slots) > MOST_DEVICES:
            del self._slots[next(iter(self._slots))]
        return number != before

    def moments(self, key: str, kept: RecordedReading) -> Moments:
        """A device's means over the last hour, in the middle of their slots; a gap as ``None``."""
        place = _KEPT.index(kept)
        found: Moments = []
        last: int | None = None
        for slot in self._recent(key):
            if last is not None and slot.number > last + 1:
                found.append(((last + 1.5) * SLOT_S, None))
            found.append(((slot.number + 0.5) * SLOT_S, slot.mean(place)))
            last = slot.number
        return found

    def _slot(self, key: str, number: int) -> _Slot:
        slots = self._slots.pop(key, None)
        if slots is None:
            slots = deque(maxlen=_SLOTS)
        # Behind the others: the devices that were seen last are kept.
        self._slots[key] = slots
        if not slots or slots[-1].number != number:
            slots.append(_Slot(number))
        return slots[-1]

    def _recent(self, key: str) -> Iterator[_Slot]:
        oldest = (self._now or 0) - _SLOTS + 1
        return (slot for slot in self._slots.get(key, ()) if slot.number >= oldest)

    def _forget_after(self, number: int) -> None:
        for slots in self._slots.values():
            while slots and slots[-1].number > number:
                slots.pop()
