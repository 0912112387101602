"""Reads one GPU, and remembers what it said last."""

import time
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from gpupanel.devices.gpus.processes import ProcessNames, merged
from gpupanel.devices.nvml import DriverGoneError, GpuLostError, GpuProcess, NvmlGpu
from gpupanel.domain.telemetry import ComputeMode, DeviceProcess, DeviceReading

SLOW_FACTS_INTERVAL_S: Final = 10.0
"""How often to ask for what hardly ever changes: power limit, memory errors, retired pages, which
processes may compute."""
FEW_SECONDS_S: Final = 2.0
"""How often to ask for what no curve shows and changes slowly: fan, memory clock, PCI Express."""
PROCESSES_INTERVAL_S: Final = 1.0
"""How often to ask who holds memory where as much is held as before; else it is asked at once."""
PROCESS_USE_INTERVAL_S: Final = 1.0
"""How often to ask how much each process uses the GPU: as often as it may change."""


class _SlowFacts(NamedTuple):
    asked_s: float
    power_limit_w: float | None
    ecc_corrected: int | None
    ecc_uncorrected: int | None
    retired_pages: int | None
    compute_mode: ComputeMode | None


class _UnhurriedFacts(NamedTuple):
    asked_s: float
    fan_percent: float | None
    memory_clock_mhz: int | None
    pcie_generation: int | None
    pcie_width: int | None


class _Processes(NamedTuple):
    asked_s: float
    memory_used_mib: int | None
    found: tuple[GpuProcess, ...]
    computing: frozenset[int]


class _ProcessUse(NamedTuple):
    asked_s: float
    percent: Mapping[int, float | None] | None


class GpuReader:
    """One GPU as it answers while the driver stays.

    :meth:`read` may be held up by the driver, so it may be called in another thread; all else
    answers at once.

    Attributes:
        nvml: The way to its readings.
        last: What it said last, with the time when it was asked for it by the clock.
    """

    def __init__(
        self,
        key: str,
        nvml: NvmlGpu,
        names: ProcessNames,
        clock: Callable[[], float] = time.monotonic,
        before: "GpuReader | None" = None,
    ) -> None:
        """Asks nothing.

        Args:
            key: Of the physical device.
            nvml: The way to its readings.
            names: Names its processes.
            clock: Seconds that only grow.
            before: Read the same GPU until the driver was opened anew; its last
                reading is repeated until the GPU answers again.
        """
        self.nvml = nvml
        self._key = key
        self._names = names
        self._clock = clock
        self.last = (clock(), DeviceReading(key=key))
        if before is not None and not before.is_lost:
            self.last = before.last
        self._slow_facts: _SlowFacts | None = None
        self._unhurried_facts: _UnhurriedFacts | None = None
        self._processes_found: _Processes | None = None
        self._process_use: _ProcessUse | None = None
        self._failure: GpuLostError | DriverGoneError | None = None

    @property
    def failure(self) -> GpuLostError | DriverGoneError | None:
        """Why it does not answer any more; ``None`` while it does."""
        return self._failure

    @property
    def is_lost(self) -> bool:
        """Whether this GPU alone does not answer any more."""
        return isinstance(self._failure, GpuLostError)

    def reading(self, since_s: float) -> DeviceReading:
        """What it said last.

        Args:
            since_s: What was asked for since then counts as of now, by the clock; what is older
                says how old it is.
        """
        read_s, reading = self.last
        if read_s >= since_s:
            return reading
        return reading.model_copy(update={"age_s": round(self._clock() - read_s, 2)})

    def read(self) -> None:
        """Ask it for everything; what it says is kept."""
        begun_s = self._clock()
        try:
            reading = self._ask(begun_s)
        except (GpuLostError, DriverGoneError) as failure:
            self._failure = failure
            return
        # As old as the first of its answers. Assigned at once: nobody sees half of it.
        self.last = (begun_s, reading)

    def _ask(self, now_s: float) -> DeviceReading:
        nvml = self.nvml
        memory = nvml.memory()
        utilization = nvml.utilization()
        slow, unhurried = self._asked_slowly(now_s), self._asked_unhurriedly(now_s)
        return DeviceReading(
            key=self._key,
            memory_used_mib=None if memory is None else memory.used_mib,
            memory_free_mib=None if memory is None else memory.free_mib,
            memory_total_mib=None if memory is None else memory.total_mib,
            memory_reserved_mib=None if memory is None else memory.reserved_mib,
            gpu_utilization_percent=utilization.gpu_percent,
            memory_utilization_percent=utilization.memory_percent,
            temperature_c=nvml.temperature_c(),
            power_w=nvml.power_w(),
            energy_j=nvml.energy_j(),
            power_limit_w=slow.power_limit_w,
            fan_percent=unhurried.fan_percent,
            clock_mhz=nvml.clock_mhz(),
            memory_clock_mhz=unhurried.memory_clock_mhz,
            throttle_reasons=nvml.throttle_reasons(),
            pcie_generation=unhurried.pcie_generation,
            pcie_width=unhurried.pcie_width,
            ecc_corrected=slow.ecc_corrected,
            ecc_uncorrected=slow.ecc_uncorrected,
            retired_pages=slow.retired_pages,
            compute_mode=slow.compute_mode,
            processes=self._processes(now_s, None if memory is None else memory.used_mib),
        )

    def _processes(self, now_s: float, used_mib: int | None) -> tuple[DeviceProcess, ...]:
        found, computing = self._asked_processes(now_s, used_mib)
        # Where nobody holds memory there is nothing to ask.
        percent = self._asked_use(now_s) if found else None
        return tuple(
            self._names.named(
                each,
                None if percent is None else percent.get(each.pid, 0.0),
                only_draws=each.pid not in computing,
            )
            for each in found
        )

    def _asked_processes(
        self, now_s: float, used_mib: int | None
    ) -> tuple[tuple[GpuProcess, ...], frozenset[int]]:
        known = self._processes_found
        # Who comes or goes takes or frees memory.
        if (
            known is None
            or used_mib is None
            or used_mib != known.memory_used_mib
            or now_s - known.asked_s >= PROCESSES_INTERVAL_S
        ):
            lists = self.nvml.process_lists()
            computing = frozenset(each.pid for each in (*lists[0], *lists[2]))
            known = _Processes(now_s, used_mib, merged(lists), computing)
            self._processes_found = known
        return known.found, known.computing

    def _asked_use(self, now_s: float) -> Mapping[int, float | None] | None:
        known = self._process_use
        if known is None or now_s - known.asked_s >= PROCESS_USE_INTERVAL_S:
            known = self._process_use = _ProcessUse(now_s, self.nvml.process_utilization())
        return known.percent

    def _asked_unhurriedly(self, now_s: float) -> _UnhurriedFacts:
        known = self._unhurried_facts
        if known is None or now_s - known.asked_s >= FEW_SECONDS_S:
            known = self._unhurried_facts = _UnhurriedFacts(
                asked_s=now_s,
                fan_percent=self.nvml.fan_percent(),
                memory_clock_mhz=self.nvml.memory_clock_mhz(),
                pcie_generation=self.nvml.pcie_generation(),
                pcie_width=self.nvml.pcie_width(),
            )
        return known

    def _asked_slowly(self, now_s: float) -> _SlowFacts:
        known = self._slow_facts
        if known is None or now_s - known.asked_s >= SLOW_FACTS_INTERVAL_S:
            known = self._slow_facts = _SlowFacts(
                asked_s=now_s,
                power_limit_w=self.nvml.power_limit_w(),
                ecc_corrected=self.nvml.ecc_corrected(),
                ecc_uncorrected=self.nvml.ecc_uncorrected(),
                retired_pages=self.nvml.retired_pages(),
                compute_mode=self.nvml.compute_mode(),
            )
        return known
