"""Reads all devices together, again and again."""

import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from gpupanel.devices.gpu_processes import ProcessNames, merged
from gpupanel.devices.gpu_roster import GpuRoster, KnownGpu
from gpupanel.devices.host import Host
from gpupanel.devices.nvml import DriverGoneError, GpuLostError, NvmlGpu
from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.telemetry import DeviceProcess, DeviceReading, DeviceState, TelemetrySample


class DeviceSampler:
    """The devices of this machine and what they report: GPUs in PCI bus order, then the CPU.

    Never raises for a sick device: a GPU that stopped answering has the state ``LOST``, a reading
    that cannot be had is ``None``. Works without a driver, and notices one that comes. A call
    lasts as long as the driver takes (half a second on some), so call from a worker, always from
    the same thread.
    """

    def __init__(
        self, roster: GpuRoster | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        """Cheap, a millisecond: the driver is first asked by :meth:`inventory` or :meth:`sample`.

        Args:
            roster: The GPUs.
            clock: Seconds since the epoch (UTC).
        """
        self._roster = roster or GpuRoster()
        self._host = Host()
        self._names = ProcessNames()
        self._clock = clock

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let the driver go."""
        self._roster.close()

    def inventory(self) -> DeviceInventory:
        """Every device seen since the start, with what does not change about it."""
        self._roster.look()
        problem = self._roster.problem
        return DeviceInventory(
            driver=self._roster.driver,
            devices=(*(gpu.device for gpu in self._roster.gpus), self._host.device),
            problem=None if problem is None else f"{problem.message} {problem.hint}",
        )

    def sample(self) -> TelemetrySample:
        """What every device reports now."""
        self._roster.look()
        gpus = tuple(self._gpu_reading(gpu) for gpu in self._roster.gpus)
        self._names.forget_others(process.pid for gpu in gpus for process in gpu.processes)
        return TelemetrySample(time_s=self._clock(), readings=(*gpus, self._host.read()))

    def _gpu_reading(self, gpu: KnownGpu) -> DeviceReading:
        if gpu.nvml is not None:
            try:
                return self._read(gpu.device.key, gpu.nvml)
            except GpuLostError:
                self._roster.lose(gpu)
            except DriverGoneError as gone:
                self._roster.driver_gone(gone)
        return DeviceReading(
            key=gpu.device.key,
            state=DeviceState.LOST,
            memory_total_mib=gpu.device.memory_total_mib,
        )

    def _read(self, key: str, nvml: NvmlGpu) -> DeviceReading:
        memory = nvml.memory()
        return DeviceReading(
            key=key,
            memory_used_mib=None if memory is None else memory.used_mib,
            memory_free_mib=None if memory is None else memory.free_mib,
            memory_total_mib=None if memory is None else memory.total_mib,
            gpu_utilization_percent=nvml.utilization_percent(),
            temperature_c=nvml.temperature_c(),
            power_w=nvml.power_w(),
            processes=self._processes(nvml),
        )

    def _processes(self, nvml: NvmlGpu) -> tuple[DeviceProcess, ...]:
        return tuple(self._names.named(process) for process in merged(nvml.process_lists()))
