"""One GPU, or one instance of a GPU in MIG mode, as NVML sees it."""

import logging
from collections.abc import Callable
from typing import Final, TypeVar

import pynvml

from gpupanel.devices.gpus.processes import GpuProcess
from gpupanel.devices.nvml import partners, questions
from gpupanel.devices.nvml.failures import is_final, raise_if_not_of_one_reading
from gpupanel.devices.nvml.shutdown_guard import ShutdownGuard
from gpupanel.devices.nvml.values import GpuMemory, GpuUtilization, NvLinks, percent
from gpupanel.domain.device import LinkKind
from gpupanel.domain.telemetry import ThrottleReason

_LOG = logging.getLogger(__name__)
_T = TypeVar("_T")

_TEMPERATURE_SLOWDOWN: Final = questions.threshold_c(pynvml.NVML_TEMPERATURE_THRESHOLD_SLOWDOWN)
_TEMPERATURE_SHUTDOWN: Final = questions.threshold_c(pynvml.NVML_TEMPERATURE_THRESHOLD_SHUTDOWN)
_SM_CLOCK: Final = questions.clock_mhz(pynvml.NVML_CLOCK_SM)
_MEMORY_CLOCK: Final = questions.clock_mhz(pynvml.NVML_CLOCK_MEM)
_FANS: Final = tuple(questions.one_fan_percent(fan) for fan in range(questions.MOST_FANS))
_ECC_CORRECTED: Final = questions.ecc_errors(pynvml.NVML_MEMORY_ERROR_TYPE_CORRECTED)
_ECC_UNCORRECTED: Final = questions.ecc_errors(pynvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED)
_MIG_MODE: Final = "MIG mode"
# The newer version first; drivers before 510 have only the older.
_PROCESS_LISTS: Final = tuple(
    (
        f"{what} processes",
        tuple(
            questions.process_lister(f"nvmlDeviceGet{what}RunningProcesses_v{version}")
            for version in (3, 2)
        ),
    )
    for what in ("Compute", "Graphics", "MPSCompute")
)


class NvmlGpu:
    """One GPU, or one MIG instance, as NVML sees it while the driver stays.

    Each method asks NVML, unless the GPU once said that it does not support the question; each
    gives ``None`` when the GPU does not tell and may raise :class:`GpuLostError` or
    :class:`DriverGoneError`. A MIG instance has a UUID, a name, memory and processes of its own;
    most other questions are answered by its GPU alone.

    Attributes:
        handle: NVML's own, of no use outside.
    """

    def __init__(self, handle: object, guard: ShutdownGuard) -> None:
        """Asks nothing.

        Args:
            handle: NVML's.
            guard: Of the library that gave it.
        """
        self.handle = handle
        self._guard = guard
        self._never: set[str] = set()
        self._told: set[str] = set()
        self._fan_count: int | None = None

    # What does not change while the driver stays.

    def uuid(self) -> str | None:
        """The identity (``GPU-5f0c...``, or ``MIG-...`` of an instance)."""
        return self._ask("UUID", questions.uuid)

    def name(self) -> str | None:
        """The product's name ("NVIDIA GeForce RTX 4090")."""
        return self._ask("name", questions.name)

    def architecture(self) -> str | None:
        """NVIDIA's name of the generation ("Ada Lovelace")."""
        return self._ask("architecture", questions.architecture)

    def pci_bus_id(self) -> str | None:
        """Domain, bus, device and function (``00000000:01:00.0``)."""
        return self._ask("PCI bus id", questions.pci_bus_id)

    def compute_capability(self) -> tuple[int, int] | None:
        """CUDA's major and minor version of the architecture."""
        return self._ask("compute capability", questions.compute_capability)

    def temperature_slowdown_c(self) -> float | None:
        """Where the GPU begins to slow itself down."""
        return self._ask("slowdown temperature", _TEMPERATURE_SLOWDOWN)

    def temperature_shutdown_c(self) -> float | None:
        """Where the GPU shuts itself down."""
        return self._ask("shutdown temperature", _TEMPERATURE_SHUTDOWN)

    def pcie_generation_max(self) -> int | None:
        """Of the PCI Express link that GPU and slot could have."""
        return self._ask("greatest PCIe generation", questions.pcie_generation_max)

    def pcie_width_max(self) -> int | None:
        """Lanes of that link."""
        return self._ask("greatest PCIe width", questions.pcie_width_max)

    def nvlinks(self) -> NvLinks | None:
        """Its NVLink connections that are up; ``None`` for a GPU without NVLink."""
        return self._ask("NVLinks", partners.nvlinks)

    def common_ancestor(self, other: "NvmlGpu") -> LinkKind | None:
        """The nearest thing on the way to another GPU, NVLink apart."""
        return self._answer("topology", partners.common_ancestor(other.handle))

    def is_on_nvlink_with(self, other: "NvmlGpu") -> bool:
        """Whether it can read another GPU's memory over NVLink."""
        question = partners.is_on_nvlink_with(other.handle)
        return self._answer("NVLink status", question) or False

    # What moves slowly: every few seconds is often enough.

    @property
    def can_be_partitioned(self) -> bool:
        """Whether the GPU may be in MIG mode some time; known once its mode was asked for."""
        return _MIG_MODE not in self._never

    def is_partitioned(self) -> bool | None:
        """Whether the GPU is in MIG mode; ``None`` for a GPU without it, or one that errs."""
        return self._ask(_MIG_MODE, partners.is_in_mig_mode)

    def mig_instances(self) -> "tuple[NvmlGpu, ...] | None":
        """The instances of a GPU in MIG mode that are there now; they come and go."""
        handles = self._ask("MIG instances", partners.mig_instances)
        return None if handles is None else tuple(NvmlGpu(each, self._guard) for each in handles)

    def power_limit_w(self) -> float | None:
        """The power limit in force."""
        return self._ask("power limit", questions.power_limit_w)

    def ecc_corrected(self) -> int | None:
        """Memory errors mended since the driver was loaded; ``None`` without ECC."""
        return self._ask("corrected errors", _ECC_CORRECTED)

    def ecc_uncorrected(self) -> int | None:
        """Memory errors not mended since the driver was loaded; ``None`` without ECC."""
        return self._ask("uncorrected errors", _ECC_UNCORRECTED)

    def retired_pages(self) -> int | None:
        """Rows replaced for good (Ampere and later), or pages taken out of use (before)."""
        rows = self._ask("remapped rows", questions.remapped_rows)
        return self._ask("retired pages", questions.retired_pages) if rows is None else rows

    # What moves all the time.

    def memory(self) -> GpuMemory | None:
        """Total, used, free and reserved memory."""
        # The second version tells apart what processes hold and what the driver reserves;
        # drivers before 510 have only the first.
        memory = self._ask("memory, version 2", questions.memory_v2)
        return memory or self._ask("memory", questions.memory_v1)

    def utilization(self) -> GpuUtilization:
        """Of the GPU and of its memory, each absent on its own."""
        gpu, memory = self._ask("utilization", questions.utilization) or (None, None)
        return GpuUtilization(percent(gpu), percent(memory))

    def temperature_c(self) -> float | None:
        """Of the GPU's core."""
        found = self._ask("temperature", questions.temperature_c)
        if found is None:
            found = self._ask("temperature, newer function", questions.temperature_v_c)
        return found

    def power_w(self) -> float | None:
        """Drawn by the whole board."""
        return self._ask("power", questions.power_w)

    def fan_percent(self) -> float | None:
        """Intended speed of the fan, of several the fastest; ``None`` without one."""
        if self._fan_count is None:
            self._fan_count = self._ask("number of fans", questions.fan_count)
        if self._fan_count is None:
            return self._ask("fan", questions.fan_percent)
        speeds = (self._ask(f"fan {n}", _FANS[n]) for n in range(self._fan_count))
        return max((speed for speed in speeds if speed is not None), default=None)

    def clock_mhz(self) -> int | None:
        """Of the streaming multiprocessors."""
        return self._ask("clock", _SM_CLOCK)

    def memory_clock_mhz(self) -> int | None:
        """Of the memory."""
        return self._ask("memory clock", _MEMORY_CLOCK)

    def throttle_reasons(self) -> tuple[ThrottleReason, ...] | None:
        """Why the clocks are not as high as they could be; empty when nothing holds them back."""
        reasons = self._ask("clocks event reasons", questions.event_reasons)
        if reasons is None:
            # So called by drivers before 535.
            reasons = self._ask("throttle reasons", questions.throttle_reasons)
        return reasons

    def pcie_generation(self) -> int | None:
        """Of the PCI Express link as it is now; GPUs lower it when idle."""
        return self._ask("PCIe generation", questions.pcie_generation)

    def pcie_width(self) -> int | None:
        """Lanes of the link as it is now."""
        return self._ask("PCIe width", questions.pcie_width)

    def process_lists(self) -> tuple[list[GpuProcess], ...]:
        """Who holds memory of this GPU: to compute, to draw, as clients of MPS."""
        return tuple(self._process_list(what, versions) for what, versions in _PROCESS_LISTS)

    def _process_list(
        self, what: str, versions: tuple[Callable[[object], list[GpuProcess]], ...]
    ) -> list[GpuProcess]:
        for number, version in enumerate(versions):
            found = self._ask(f"{what}, version {3 - number}", version)
            if found is not None:
                return found
        return []

    def _ask(self, what: str, question: Callable[[object], _T]) -> _T | None:
        return None if what in self._never else self._answer(what, question)

    def _answer(self, what: str, question: Callable[[object], _T]) -> _T | None:
        try:
            with self._guard:
                return question(self.handle)
        except pynvml.NVMLError as error:
            raise_if_not_of_one_reading(error)
            if is_final(error):
                self._never.add(what)
                self._tell_once(what, error)
        except ValueError as error:
            # Bytes that are no text, numbers that cannot be true: a damaged board answers so.
            self._tell_once(what, error)
        return None

    def _tell_once(self, what: str, why: Exception) -> None:
        if what not in self._told:
            self._told.add(what)
            _LOG.debug("A GPU does not tell its %s: %s", what, why)
