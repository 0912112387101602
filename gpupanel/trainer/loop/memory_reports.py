"""What TensorFlow's allocator holds of the GPUs of this process.

Reported every ten seconds, and at the end: one that is shorter has a peak, too.
"""

import time
from collections.abc import Callable, Iterator
from typing import Final

import tensorflow as tf

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.event_details import AllocatedMemory
from gpupanel.domain.events import MemoryReported
from gpupanel.domain.plan import PlannedDevice
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.started_run import StartedRun

_INTERVAL_S: Final = 10.0
_BYTES_PER_MIB: Final = 2**20


class MemoryReports:
    """Reports when it is due; never for the CPU, whose memory the system counts.

    Args:
        run: Has the devices of this process.
        events: Where it is reported.
        clock: In seconds.
    """

    def __init__(
        self,
        run: StartedRun,
        events: EventWriter,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._place = run.place
        self._events = events
        self._clock = clock
        self._names = dict(_logical_names(run.process.devices))
        self._due_s = clock() + _INTERVAL_S

    def report(self, *, now: bool = False) -> None:
        """Report if it is time to, or now."""
        if not self._names or not (now or self._clock() >= self._due_s):
            return
        self._due_s = self._clock() + _INTERVAL_S
        try:
            devices = tuple(
                AllocatedMemory(
                    device_key=key,
                    in_use_mib=sum(_mib(name, "current") for name in names),
                    peak_mib=sum(_mib(name, "peak") for name in names),
                )
                for key, names in self._names.items()
            )
        except (ValueError, KeyError, tf.errors.OpError):
            # Not every allocator counts, CUDA's for one. No training ends for that.
            self._names = {}
            return
        self._events.write(MemoryReported(time_s=time.time(), process=self._place, devices=devices))


def _logical_names(devices: tuple[PlannedDevice, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each GPU with its logical devices, which TensorFlow numbers through."""
    number = 0
    for device in sorted(devices, key=lambda each: each.index):
        if device.kind is DeviceKind.GPU:
            parts = max(1, len(device.logical_limits_mib))
            yield device.key, tuple(f"GPU:{number + part}" for part in range(parts))
            number += parts


def _mib(name: str, which: str) -> int:
    return int(tf.config.experimental.get_memory_info(name)[which] // _BYTES_PER_MIB)
