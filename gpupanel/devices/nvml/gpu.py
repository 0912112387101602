"""One GPU, or one instance of a GPU in MIG mode, as NVML sees it."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import pynvml

from gpupanel.devices.nvml import answers, many_calls
from gpupanel.devices.nvml.answers import between, degrees_c, watts
from gpupanel.devices.nvml.failures import (
    GpuLostError,
    gpu_lost,
    is_final,
    is_not_for_this_user,
    raise_if_not_of_one_reading,
)
from gpupanel.devices.nvml.shutdown_guard import ShutdownGuard
from gpupanel.devices.nvml.values import GpuProcess, GpuUtilization
from gpupanel.domain.device import LinkKind
from gpupanel.domain.gpu_failure import GpuFailure
from gpupanel.domain.visible_text import visible_line

_LOG = logging.getLogger(__name__)
_T = TypeVar("_T")
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True, eq=False)
class _Call(Generic[_Answer, _T]):
    """A row of the table of readings.

    Attributes:
        function: NVML's, called with the handle.
        convert: Makes a value in our units of its answer, and checks that it can be true.
        arguments: Of the function, behind the handle.
    """

    function: Callable[..., _Answer]
    convert: Callable[[_Answer], _T]
    arguments: tuple[object, ...] = ()


def _reading(
    function: Callable[..., _Answer], convert: Callable[[_Answer], _T], *arguments: object
) -> "Callable[[NvmlGpu], _T | None]":
    call = _Call(function, convert, arguments)
    return lambda gpu: gpu.answer(call)


def _first(*readings: "Callable[[NvmlGpu], _T | None]") -> "Callable[[NvmlGpu], _T | None]":
    """The first reading that there is: drivers of other ages have other functions for it."""

    def read(gpu: "NvmlGpu") -> _T | None:
        for reading in readings:
            if (found := reading(gpu)) is not None:
                return found
        return None

    return read


_MOST_FANS: Final = 16
_FANS: Final = tuple(
    _reading(pynvml.nvmlDeviceGetFanSpeed_v2, answers.fan_percent, fan) for fan in range(_MOST_FANS)
)
_MIG_MODE: Final = _Call(pynvml.nvmlDeviceGetMigMode, answers.is_mig_enabled)
_MIG_INSTANCES: Final = _Call(many_calls.mig_instances, answers.unchanged)
_COMMON_ANCESTOR: Final = _Call(pynvml.nvmlDeviceGetTopologyCommonAncestor, answers.common_ancestor)
_NVLINK_STATUS: Final = _Call(
    pynvml.nvmlDeviceGetP2PStatus, int, (pynvml.NVML_P2P_CAPS_INDEX_NVLINK,)
)


class NvmlGpu:
    """One GPU, or one MIG instance, as NVML sees it while the driver stays.

    Each reading is a method. It asks NVML, unless the GPU once said that it does not support the
    call; it gives ``None`` when the GPU does not report it, and may raise :class:`GpuLostError` or
    :class:`DriverGoneError`. A MIG instance has a UUID, a name, memory and processes of its own;
    most other readings are of its GPU alone.

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
        self._never: set[object] = set()
        self._logged: set[object] = set()
        self._fans: int | None = None
        self._began_s: dict[int, float] = {}

    # What does not change while the driver stays.

    uuid = _reading(pynvml.nvmlDeviceGetUUID, answers.uuid)
    """``GPU-5f0c...``, or ``MIG-...`` of an instance; :meth:`identity` says why there is none."""
    name = _reading(pynvml.nvmlDeviceGetName, answers.name)
    """The product's ("NVIDIA GeForce RTX 4090"), or the instance's."""
    architecture = _reading(pynvml.nvmlDeviceGetArchitecture, answers.architecture)
    """NVIDIA's name of the generation ("Ada Lovelace")."""
    pci_bus_id = _reading(pynvml.nvmlDeviceGetPciInfo_v3, answers.bus_id)
    """Domain, bus, device and function (``00000000:01:00.0``)."""
    compute_capability = _reading(
        pynvml.nvmlDeviceGetCudaComputeCapability, answers.compute_capability
    )
    """CUDA's major and minor version of the architecture."""
    temperature_slowdown_c = _reading(
        pynvml.nvmlDeviceGetTemperatureThreshold,
        degrees_c(1),
        pynvml.NVML_TEMPERATURE_THRESHOLD_SLOWDOWN,
    )
    """Where the GPU begins to slow itself down."""
    temperature_shutdown_c = _reading(
        pynvml.nvmlDeviceGetTemperatureThreshold,
        degrees_c(1),
        pynvml.NVML_TEMPERATURE_THRESHOLD_SHUTDOWN,
    )
    """Where the GPU shuts itself down."""
    power_limit_default_w = _reading(pynvml.nvmlDeviceGetPowerManagementDefaultLimit, watts(1))
    """The limit after the driver was loaded, unless somebody sets another one."""
    power_limit_range_w = _reading(
        pynvml.nvmlDeviceGetPowerManagementLimitConstraints, answers.watt_range
    )
    """The least and the greatest limit that can be set."""
    pcie_generation_max = _reading(pynvml.nvmlDeviceGetMaxPcieLinkGeneration, between(1, 16))
    """Generation of the fastest PCI Express link that GPU and slot support."""
    pcie_width_max = _reading(pynvml.nvmlDeviceGetMaxPcieLinkWidth, between(1, 64))
    """Lanes of that link."""
    nvlinks = _reading(many_calls.nvlinks, answers.unchanged)
    """The NVLink connections that are up; ``None`` for a GPU without NVLink."""

    # What changes slowly: every few seconds is often enough.

    power_limit_w = _reading(pynvml.nvmlDeviceGetEnforcedPowerLimit, watts(1))
    """The limit in force."""
    ecc_corrected = _reading(
        pynvml.nvmlDeviceGetTotalEccErrors,
        between(0, 2**48),
        pynvml.NVML_MEMORY_ERROR_TYPE_CORRECTED,
        pynvml.NVML_VOLATILE_ECC,
    )
    """Memory errors since the driver was loaded; ``None`` without ECC."""
    ecc_uncorrected = _reading(
        pynvml.nvmlDeviceGetTotalEccErrors,
        between(0, 2**48),
        pynvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED,
        pynvml.NVML_VOLATILE_ECC,
    )
    retired_pages = _first(
        _reading(pynvml.nvmlDeviceGetRemappedRows, answers.remapped_rows),
        _reading(many_calls.retired_pages, answers.unchanged),
    )
    """Rows replaced for good (Ampere and later), or pages taken out of use (before)."""

    compute_mode = _reading(pynvml.nvmlDeviceGetComputeMode, answers.compute_mode)
    """Which processes may compute on it."""

    # What changes all the time.

    memory = _first(
        # It separates what the driver reserves from what processes hold; since driver 510.
        _reading(pynvml.nvmlDeviceGetMemoryInfo, answers.memory_v2, pynvml.nvmlMemory_v2),
        _reading(pynvml.nvmlDeviceGetMemoryInfo, answers.memory_v1),
    )
    temperature_c = _first(
        # NVIDIA takes it out with CUDA 14.
        _reading(pynvml.nvmlDeviceGetTemperature, degrees_c(0), pynvml.NVML_TEMPERATURE_GPU),
        _reading(pynvml.nvmlDeviceGetTemperatureV, degrees_c(0), pynvml.NVML_TEMPERATURE_GPU),
    )
    """Temperature of the GPU core."""
    power_w = _reading(pynvml.nvmlDeviceGetPowerUsage, watts(0))
    """Drawn by the whole board."""
    energy_j = _reading(pynvml.nvmlDeviceGetTotalEnergyConsumption, answers.joules)
    """Taken by the whole board since the driver was loaded; Volta and later."""
    clock_mhz = _reading(pynvml.nvmlDeviceGetClockInfo, between(0, 50_000), pynvml.NVML_CLOCK_SM)
    """Clock of the streaming multiprocessors."""
    memory_clock_mhz = _reading(
        pynvml.nvmlDeviceGetClockInfo, between(0, 50_000), pynvml.NVML_CLOCK_MEM
    )
    throttle_reasons = _first(
        _reading(pynvml.nvmlDeviceGetCurrentClocksEventReasons, answers.throttle_reasons),
        # So called by drivers before 535.
        _reading(pynvml.nvmlDeviceGetCurrentClocksThrottleReasons, answers.throttle_reasons),
    )
    """Why the clocks are not as high as they could be; empty when nothing holds them back."""
    pcie_generation = _reading(pynvml.nvmlDeviceGetCurrPcieLinkGeneration, between(1, 16))
    """Current generation of the PCI Express link; GPUs lower it when idle."""
    pcie_width = _reading(pynvml.nvmlDeviceGetCurrPcieLinkWidth, between(1, 64))
    """Lanes of the link as it is now."""

    process_utilization = _reading(many_calls.process_utilization, answers.process_utilization)
    """Percent of the last sample period in which each process's kernels ran, by pid."""

    _utilization = _reading(pynvml.nvmlDeviceGetUtilizationRates, answers.utilization)
    _fan_count = _reading(pynvml.nvmlDeviceGetNumFans, between(0, _MOST_FANS))
    # From drivers that do not know how many fans there are.
    _only_fan_percent = _reading(pynvml.nvmlDeviceGetFanSpeed, answers.fan_percent)
    # Drivers before 510 have only the older version of each list.
    _compute_processes = _first(
        _reading(pynvml.nvmlDeviceGetComputeRunningProcesses_v3, answers.processes),
        _reading(pynvml.nvmlDeviceGetComputeRunningProcesses_v2, answers.processes),
    )
    _graphics_processes = _first(
        _reading(pynvml.nvmlDeviceGetGraphicsRunningProcesses_v3, answers.processes),
        _reading(pynvml.nvmlDeviceGetGraphicsRunningProcesses_v2, answers.processes),
    )
    _mps_processes = _first(
        _reading(pynvml.nvmlDeviceGetMPSComputeRunningProcesses_v3, answers.processes),
        _reading(pynvml.nvmlDeviceGetMPSComputeRunningProcesses_v2, answers.processes),
    )

    def identity(self) -> str | None:
        """The GPU's UUID; ``None``: this user may not use it.

        Raises:
            GpuLostError: It does not report it, with what came back.
            DriverGoneError: The driver stopped answering.
        """
        try:
            return answers.uuid(self._asked(pynvml.nvmlDeviceGetUUID))
        except pynvml.NVMLError as error:
            raise_if_not_of_one_reading(error)
            if is_not_for_this_user(error):
                _LOG.debug("A GPU is left out, whose UUID is not for this user")
                return None
            raise gpu_lost(error) from error
        except ValueError as error:
            said = f"the UUID that it reports is none ({visible_line(str(error))})"
            raise GpuLostError(GpuFailure(said=said)) from error

    def set_power_limit(self, limit_w: float) -> None:
        """Set the power limit, which holds until the driver is loaded anew.

        Raises:
            PermissionError: It is the administrator's to set.
            NotImplementedError: The GPU has no limit that can be set.
            ValueError: It takes no such limit.
            GpuLostError: It stopped answering.
            DriverGoneError: The driver stopped answering.
        """
        try:
            self._asked(pynvml.nvmlDeviceSetPowerManagementLimit, round(limit_w * 1000.0))
        except pynvml.NVMLError as error:
            raise_if_not_of_one_reading(error)
            said = visible_line(str(error))
            if is_not_for_this_user(error):
                raise PermissionError(said) from error
            raise (NotImplementedError if is_final(error) else ValueError)(said) from error

    @property
    def waits_s(self) -> float:
        """How long the call lasts that is under way; 0 where none is."""
        began_s = min(tuple(self._began_s.values()), default=None)
        return 0.0 if began_s is None else time.monotonic() - began_s

    def utilization(self) -> GpuUtilization:
        """Utilization of the GPU and of its memory; either may be missing."""
        return self._utilization() or GpuUtilization(None, None)

    def fan_percent(self) -> float | None:
        """Intended speed of the fan, of several the fastest; ``None`` without one."""
        if self._fans is None:
            self._fans = self._fan_count()
        if self._fans is None:
            return self._only_fan_percent()
        speeds = (_FANS[fan](self) for fan in range(self._fans))
        return max((speed for speed in speeds if speed is not None), default=None)

    def process_lists(self) -> tuple[list[GpuProcess], ...]:
        """Who holds memory of this GPU: to compute, to draw, as clients of MPS."""
        lists = (self._compute_processes(), self._graphics_processes(), self._mps_processes())
        return tuple(processes or [] for processes in lists)

    @property
    def can_be_partitioned(self) -> bool:
        """Whether the GPU may be in MIG mode some time; known once its mode was asked for."""
        return _MIG_MODE not in self._never

    def is_partitioned(self) -> bool | None:
        """Whether the GPU is in MIG mode; ``None`` for a GPU without it, or one that errs."""
        return self.answer(_MIG_MODE)

    def mig_instances(self) -> "tuple[NvmlGpu, ...] | None":
        """The instances of a GPU in MIG mode that are there now; they come and go."""
        handles = self.answer(_MIG_INSTANCES)
        return None if handles is None else tuple(NvmlGpu(each, self._guard) for each in handles)

    def common_ancestor(self, other: "NvmlGpu") -> LinkKind | None:
        """The nearest thing on the way to another GPU, NVLink apart."""
        return self.answer(_COMMON_ANCESTOR, other)

    def is_on_nvlink_with(self, other: "NvmlGpu") -> bool:
        """Whether it can read another GPU's memory over NVLink."""
        status = self.answer(_NVLINK_STATUS, other)
        return bool(status == pynvml.NVML_P2P_STATUS_OK)

    def answer(self, call: _Call[_Answer, _T], other: "NvmlGpu | None" = None) -> _T | None:
        """The answer of one call; ``None`` when the GPU does not report it.

        Args:
            call: What is asked.
            other: The GPU beside which it is asked. What is refused beside one may be answered
                beside the next.

        Raises:
            GpuLostError: It stopped answering.
            DriverGoneError: The driver stopped answering.
        """
        beside = () if other is None else (other.handle,)
        if call in self._never and not beside:
            return None
        try:
            return call.convert(self._asked(call.function, *beside, *call.arguments))
        except pynvml.NVMLError as error:
            raise_if_not_of_one_reading(error)
            if is_final(error):
                self._never.add(call)
                self._log_once(call, error)
        except ValueError as error:
            # Bytes that are no text, numbers that cannot be true: a damaged board answers so.
            self._log_once(call, error)
        return None

    def _asked(self, function: Callable[..., _Answer], *arguments: object) -> _Answer:
        thread = threading.get_ident()
        self._began_s[thread] = time.monotonic()
        try:
            with self._guard:
                return function(self.handle, *arguments)
        finally:
            del self._began_s[thread]

    def _log_once(self, call: _Call[_Answer, _T], why: Exception) -> None:
        if call not in self._logged:
            self._logged.add(call)
            named = (call.function.__name__, *map(str, call.arguments))
            _LOG.debug("A GPU does not report %s: %s", " ".join(named), why)
