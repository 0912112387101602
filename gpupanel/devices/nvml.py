"""The one door to NVML: typed, and each reading can be absent on its own.

The only importer of the module ``pynvml`` (of the distribution nvidia-ml-py). Nothing of it gets
out: readings are plain numbers in the units their names say, or ``None`` where a GPU cannot tell
(not supported, a symbol that the driver lacks, no permission). Only two things are raised, since
they are not about one reading: :class:`GpuLostError` and :class:`DriverGoneError`.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeVar

import pynvml

from gpupanel.devices.gpu_processes import GpuProcess

_LOG = logging.getLogger(__name__)
_T = TypeVar("_T")
_BYTES_PER_MIB: Final = 2**20

_LOST: Final = frozenset({pynvml.NVML_ERROR_GPU_IS_LOST, pynvml.NVML_ERROR_RESET_REQUIRED})
# What will not change while the driver stays: such a reading is not asked for again.
_NEVER: Final = frozenset({pynvml.NVML_ERROR_NOT_SUPPORTED, pynvml.NVML_ERROR_FUNCTION_NOT_FOUND})


class DriverFailure(Enum):
    """Why the driver does not answer at all."""

    NO_LIBRARY = pynvml.NVML_ERROR_LIBRARY_NOT_FOUND
    NOT_INITIALIZED = pynvml.NVML_ERROR_UNINITIALIZED
    NOT_LOADED = pynvml.NVML_ERROR_DRIVER_NOT_LOADED
    NO_PERMISSION = pynvml.NVML_ERROR_NO_PERMISSION
    VERSION_MISMATCH = pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH
    OTHER = -1


_GONE: Final = {
    failure.value: failure
    for failure in (
        DriverFailure.NOT_INITIALIZED,
        DriverFailure.NOT_LOADED,
        DriverFailure.VERSION_MISMATCH,
    )
}


class GpuLostError(Exception):
    """This GPU stopped answering: fallen off the bus, or in need of a reset."""


class DriverGoneError(Exception):
    """The driver does not answer; :attr:`failure` and :attr:`detail` say why."""

    def __init__(self, failure: DriverFailure, detail: str) -> None:
        super().__init__(detail)
        self.failure = failure
        self.detail = detail


@dataclass(frozen=True, slots=True)
class GpuMemory:
    """A GPU's memory, in MiB.

    Attributes:
        used_mib: What processes hold; with drivers before 510 also what the driver reserves.
        free_mib: What can still be taken.
    """

    total_mib: int
    used_mib: int
    free_mib: int


class NvmlGpu:
    """One GPU as NVML sees it while the driver stays.

    Each method asks NVML; each may raise :class:`GpuLostError` or :class:`DriverGoneError`.
    """

    def __init__(self, handle: object) -> None:
        self._handle = handle
        self._never: set[str] = set()

    def uuid(self) -> str | None:
        """The GPU's identity (``GPU-5f0c...``)."""
        uuid: str | None = self._ask("UUID", pynvml.nvmlDeviceGetUUID)
        return uuid

    def name(self) -> str | None:
        """The product's name ("NVIDIA GeForce RTX 4090")."""
        name: str | None = self._ask("name", pynvml.nvmlDeviceGetName)
        return name

    def pci_bus_id(self) -> str | None:
        """Domain, bus, device and function (``00000000:01:00.0``)."""
        return self._ask("PCI bus id", _pci_bus_id)

    def compute_capability(self) -> tuple[int, int] | None:
        """CUDA's major and minor version of the architecture."""
        return self._ask("compute capability", _compute_capability)

    def memory(self) -> GpuMemory | None:
        """Total, used and free memory."""
        # The second version tells apart what processes hold and what the driver reserves;
        # drivers before 510 have only the first.
        memory = self._ask("memory, version 2", _memory_v2)
        return memory or self._ask("memory", _memory_v1)

    def utilization_percent(self) -> float | None:
        """Percent of the last sample period (1/6 s to 1 s) with a kernel running."""
        return self._ask("utilization", _utilization_percent)

    def temperature_c(self) -> float | None:
        """Of the GPU's core."""
        return self._ask("temperature", _temperature_c)

    def power_w(self) -> float | None:
        """Drawn by the whole board."""
        return self._ask("power", _power_w)

    def power_limit_w(self) -> float | None:
        """The power limit in force."""
        return self._ask("power limit", _power_limit_w)

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
        if what in self._never:
            return None
        try:
            return question(self._handle)
        except pynvml.NVMLError as error:
            self._judge(what, error)
        except UnicodeDecodeError as error:
            # A damaged board can answer with bytes that are no text.
            self._remember(what, str(error))
        return None

    def _judge(self, what: str, error: pynvml.NVMLError) -> None:
        """Raise when the error is about more than this reading."""
        if error.value in _LOST:
            raise GpuLostError(str(error)) from error
        if error.value in _GONE:
            raise DriverGoneError(_GONE[error.value], str(error)) from error
        if error.value in _NEVER:
            self._remember(what, str(error))

    def _remember(self, what: str, why: str) -> None:
        self._never.add(what)
        _LOG.debug("A GPU does not tell its %s: %s", what, why)


class NvmlLibrary:
    """The driver's management library, loaded when it is first opened."""

    def open(self) -> None:
        """Load the library and initialise it.

        Raises:
            DriverGoneError: There is no library, no driver behind it, or no permission.
        """
        try:
            pynvml.nvmlInit()
        except pynvml.NVMLError as error:
            raise _driver_gone(error) from error

    def close(self) -> None:
        """Let the library go; it may be opened again. Never fails."""
        # Whatever it answers there is nothing left to give back.
        with suppress(pynvml.NVMLError):
            pynvml.nvmlShutdown()

    def driver_version(self) -> str | None:
        """The driver's version ("570.86.15")."""
        try:
            version: str = pynvml.nvmlSystemGetDriverVersion()
        except (pynvml.NVMLError, UnicodeDecodeError) as error:
            _LOG.debug("The driver does not tell its version: %s", error)
            return None
        return version

    def cuda_version(self) -> tuple[int, int] | None:
        """The newest CUDA version that the driver can run, major and minor."""
        try:
            number: int = pynvml.nvmlSystemGetCudaDriverVersion_v2()
        except pynvml.NVMLError as error:
            _LOG.debug("The driver does not tell its CUDA version: %s", error)
            return None
        return number // 1000, number % 1000 // 10

    def gpu_count(self) -> int:
        """How many GPUs the driver lists, lost ones included.

        Raises:
            DriverGoneError: The driver does not answer.
        """
        try:
            return int(pynvml.nvmlDeviceGetCount())
        except pynvml.NVMLError as error:
            raise _driver_gone(error) from error

    def gpus(self) -> Iterator[NvmlGpu]:
        """The GPUs that can be reached, as NVML orders them: by PCI bus.

        Raises:
            DriverGoneError: The driver does not answer.
        """
        for index in range(self.gpu_count()):
            try:
                handle = pynvml.nvmlDeviceGetHandleByIndex(index)
            except pynvml.NVMLError as error:
                if error.value in _GONE:
                    raise _driver_gone(error) from error
                # Lost, or not for this user (a container, a MIG-only grant): others go on.
                _LOG.debug("GPU %d cannot be reached: %s", index, error)
                continue
            yield NvmlGpu(handle)


def _driver_gone(error: pynvml.NVMLError) -> DriverGoneError:
    known = {failure.value: failure for failure in DriverFailure}
    return DriverGoneError(known.get(error.value, DriverFailure.OTHER), str(error))


def _pci_bus_id(handle: object) -> str:
    raw: bytes | str = pynvml.nvmlDeviceGetPciInfo_v3(handle).busId
    return raw.decode() if isinstance(raw, bytes) else raw


def _compute_capability(handle: object) -> tuple[int, int]:
    major, minor = pynvml.nvmlDeviceGetCudaComputeCapability(handle)
    return int(major), int(minor)


def _memory_v2(handle: object) -> GpuMemory:
    memory = pynvml.nvmlDeviceGetMemoryInfo(handle, pynvml.nvmlMemory_v2)
    return GpuMemory(_mib(memory.total), _mib(memory.used), _mib(memory.free))


def _memory_v1(handle: object) -> GpuMemory:
    memory = pynvml.nvmlDeviceGetMemoryInfo(handle)
    return GpuMemory(_mib(memory.total), _mib(memory.used), _mib(memory.free))


def _utilization_percent(handle: object) -> float:
    return float(pynvml.nvmlDeviceGetUtilizationRates(handle).gpu)


def _temperature_c(handle: object) -> float:
    return float(pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU))


def _power_w(handle: object) -> float:
    return int(pynvml.nvmlDeviceGetPowerUsage(handle)) / 1000.0


def _power_limit_w(handle: object) -> float:
    return int(pynvml.nvmlDeviceGetEnforcedPowerLimit(handle)) / 1000.0


def _mib(size: int) -> int:
    return size // _BYTES_PER_MIB


def _process_lister(name: str) -> Callable[[object], list[GpuProcess]]:
    ask = getattr(pynvml, name)

    def processes(handle: object) -> list[GpuProcess]:
        return [
            GpuProcess(
                int(process.pid),
                None if process.usedGpuMemory is None else _mib(process.usedGpuMemory),
            )
            for process in ask(handle)
        ]

    return processes


_PROCESS_LISTS: Final = tuple(
    (
        f"{what} processes",
        tuple(_process_lister(f"nvmlDeviceGet{what}RunningProcesses_v{n}") for n in (3, 2)),
    )
    for what in ("Compute", "Graphics", "MPSCompute")
)
