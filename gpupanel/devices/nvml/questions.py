"""Each question to NVML about one GPU: a handle in, a plain value in our units out.

Each raises :class:`pynvml.NVMLError` or, for an answer that cannot be true, :class:`ValueError`.
"""

import re
from collections.abc import Callable
from typing import Final

import pynvml

from gpupanel.devices.gpus.processes import GpuProcess
from gpupanel.devices.nvml.values import (
    MOST_BYTES,
    GarbageError,
    GpuMemory,
    memory_of_bytes,
    mib,
    within,
)
from gpupanel.domain.telemetry import ThrottleReason

_UUID: Final = re.compile(r"(GPU|MIG)-[0-9A-Za-z/-]+")

# Bounds of what can be true, wide: they tell numbers from garbage, not good from bad.
MOST_FANS: Final = 16
_MOST_DEGREES: Final = 200
_MOST_FAN_PERCENT: Final = 200  # NVML: "may exceed 100 % in certain cases"
_MOST_MILLIWATTS: Final = 20_000_000
_MOST_MHZ: Final = 50_000
_MOST_ERRORS: Final = 2**48
_MOST_PAGES: Final = 2**24

# Numbers of nvml.h (NVML_DEVICE_ARCH_*): older modules lack the newest names.
_ARCHITECTURES: Final = {
    2: "Kepler",
    3: "Maxwell",
    4: "Pascal",
    5: "Volta",
    6: "Turing",
    7: "Ampere",
    8: "Ada Lovelace",
    9: "Hopper",
    10: "Blackwell",
    13: "Rubin",
}

# The event reasons and the older throttle reasons of NVML share their bits.
_THROTTLE_REASONS: Final = {
    pynvml.nvmlClocksThrottleReasonGpuIdle: ThrottleReason.IDLE,
    pynvml.nvmlClocksThrottleReasonApplicationsClocksSetting: ThrottleReason.APPLICATION_CLOCKS,
    pynvml.nvmlClocksThrottleReasonDisplayClockSetting: ThrottleReason.DISPLAY_CLOCKS,
    pynvml.nvmlClocksThrottleReasonSyncBoost: ThrottleReason.SYNC_BOOST,
    pynvml.nvmlClocksThrottleReasonSwPowerCap: ThrottleReason.POWER_CAP,
    pynvml.nvmlClocksThrottleReasonSwThermalSlowdown: ThrottleReason.THERMAL,
    pynvml.nvmlClocksThrottleReasonHwThermalSlowdown: ThrottleReason.HARDWARE_THERMAL,
    pynvml.nvmlClocksThrottleReasonHwPowerBrakeSlowdown: ThrottleReason.HARDWARE_POWER_BRAKE,
    pynvml.nvmlClocksThrottleReasonHwSlowdown: ThrottleReason.HARDWARE_SLOWDOWN,
}


def uuid(handle: object) -> str:
    """Of a GPU or of a MIG instance."""
    found: str = pynvml.nvmlDeviceGetUUID(handle)
    if not _UUID.fullmatch(found):
        raise GarbageError(f"{found!r} is no UUID")
    return found


def name(handle: object) -> str:
    """The product's name, or the instance's."""
    found: str = pynvml.nvmlDeviceGetName(handle)
    if not found.strip():
        raise GarbageError("an empty name")
    return found


def architecture(handle: object) -> str:
    """NVIDIA's name of the generation."""
    number = pynvml.nvmlDeviceGetArchitecture(handle)
    if number not in _ARCHITECTURES:
        raise GarbageError(f"architecture {number} is not known here")
    return _ARCHITECTURES[number]


def pci_bus_id(handle: object) -> str:
    """Domain, bus, device and function."""
    return text(pynvml.nvmlDeviceGetPciInfo_v3(handle).busId)


def text(raw: bytes | str) -> str:
    """The module gives the characters of a structure as bytes or, in some versions, as text."""
    found = raw.decode() if isinstance(raw, bytes) else raw
    if not found:
        raise GarbageError("an empty text")
    return found


def compute_capability(handle: object) -> tuple[int, int]:
    """CUDA's major and minor version."""
    major, minor = pynvml.nvmlDeviceGetCudaComputeCapability(handle)
    return within(major, 1, 99), within(minor, 0, 9)


def memory_v2(handle: object) -> GpuMemory:
    """With what the driver reserves told apart from what processes hold."""
    found = pynvml.nvmlDeviceGetMemoryInfo(handle, pynvml.nvmlMemory_v2)
    return memory_of_bytes(found.total, found.used, found.free, found.reserved)


def memory_v1(handle: object) -> GpuMemory:
    """With what the driver reserves counted as used."""
    found = pynvml.nvmlDeviceGetMemoryInfo(handle)
    return memory_of_bytes(found.total, found.used, found.free)


def utilization(handle: object) -> tuple[int, int]:
    """Of GPU and memory, as NVML gives them: either may be garbage."""
    found = pynvml.nvmlDeviceGetUtilizationRates(handle)
    return found.gpu, found.memory


def temperature_c(handle: object) -> float:
    """Of the core; to be taken out with CUDA 14."""
    found = pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU)
    return float(within(found, 0, _MOST_DEGREES))


def temperature_v_c(handle: object) -> float:
    """Of the core, by the function that takes the other's place (CUDA 14)."""
    found = pynvml.nvmlDeviceGetTemperatureV(handle, pynvml.NVML_TEMPERATURE_GPU)
    return float(within(found, 0, _MOST_DEGREES))


def threshold_c(threshold: int) -> Callable[[object], float]:
    """The question for one of NVML's temperature thresholds."""

    def ask(handle: object) -> float:
        found = pynvml.nvmlDeviceGetTemperatureThreshold(handle, threshold)
        return float(within(found, 1, _MOST_DEGREES))

    return ask


def power_w(handle: object) -> float:
    """Drawn by the whole board."""
    return within(pynvml.nvmlDeviceGetPowerUsage(handle), 0, _MOST_MILLIWATTS) / 1000.0


def power_limit_w(handle: object) -> float:
    """The limit in force."""
    return within(pynvml.nvmlDeviceGetEnforcedPowerLimit(handle), 1, _MOST_MILLIWATTS) / 1000.0


def fan_count(handle: object) -> int:
    """Fans that the driver controls; 0 for a GPU that the case cools."""
    return within(pynvml.nvmlDeviceGetNumFans(handle), 0, MOST_FANS)


def fan_percent(handle: object) -> float:
    """The intended speed, from drivers that do not know how many fans there are."""
    return float(within(pynvml.nvmlDeviceGetFanSpeed(handle), 0, _MOST_FAN_PERCENT))


def one_fan_percent(fan: int) -> Callable[[object], float]:
    """The question for the intended speed of one of several fans."""

    def ask(handle: object) -> float:
        return float(within(pynvml.nvmlDeviceGetFanSpeed_v2(handle, fan), 0, _MOST_FAN_PERCENT))

    return ask


def clock_mhz(domain: int) -> Callable[[object], int]:
    """The question for one of NVML's clocks."""

    def ask(handle: object) -> int:
        return within(pynvml.nvmlDeviceGetClockInfo(handle, domain), 0, _MOST_MHZ)

    return ask


def event_reasons(handle: object) -> tuple[ThrottleReason, ...]:
    """Why the clocks are held back; drivers since 535."""
    return _reasons(pynvml.nvmlDeviceGetCurrentClocksEventReasons(handle))


def throttle_reasons(handle: object) -> tuple[ThrottleReason, ...]:
    """Why the clocks are held back, as older drivers call it."""
    return _reasons(pynvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle))


def _reasons(mask: int) -> tuple[ThrottleReason, ...]:
    if mask >= 2**32:
        raise GarbageError(f"throttle reasons {mask:#x}")
    return tuple(reason for bit, reason in _THROTTLE_REASONS.items() if mask & bit)


def pcie_generation(handle: object) -> int:
    """Of the link as it is now."""
    return within(pynvml.nvmlDeviceGetCurrPcieLinkGeneration(handle), 1, 16)


def pcie_width(handle: object) -> int:
    """Lanes as they are now."""
    return within(pynvml.nvmlDeviceGetCurrPcieLinkWidth(handle), 1, 64)


def pcie_generation_max(handle: object) -> int:
    """Of the link that GPU and slot could have."""
    return within(pynvml.nvmlDeviceGetMaxPcieLinkGeneration(handle), 1, 16)


def pcie_width_max(handle: object) -> int:
    """Lanes of that link."""
    return within(pynvml.nvmlDeviceGetMaxPcieLinkWidth(handle), 1, 64)


def ecc_errors(kind: int) -> Callable[[object], int]:
    """The question for memory errors since the driver was loaded, mended ones or others."""

    def ask(handle: object) -> int:
        found = pynvml.nvmlDeviceGetTotalEccErrors(handle, kind, pynvml.NVML_VOLATILE_ECC)
        return within(found, 0, _MOST_ERRORS)

    return ask


def remapped_rows(handle: object) -> int:
    """Rows replaced for good, after mended and after other errors; Ampere and later."""
    after_corrected, after_uncorrected, *_ = pynvml.nvmlDeviceGetRemappedRows(handle)
    return within(after_corrected, 0, _MOST_PAGES) + within(after_uncorrected, 0, _MOST_PAGES)


def retired_pages(handle: object) -> int:
    """Pages taken out of use for good, for either cause; before Ampere."""
    causes = range(pynvml.NVML_PAGE_RETIREMENT_CAUSE_COUNT)
    return sum(len(pynvml.nvmlDeviceGetRetiredPages(handle, cause)) for cause in causes)


def process_lister(function: str) -> Callable[[object], list[GpuProcess]]:
    """The question for one of NVML's process lists."""
    ask = getattr(pynvml, function)

    def processes(handle: object) -> list[GpuProcess]:
        return [GpuProcess(int(each.pid), _held_mib(each.usedGpuMemory)) for each in ask(handle)]

    return processes


def _held_mib(size: int | None) -> int | None:
    """What a process holds; not told to everybody, and sometimes garbage for one that just ends."""
    return None if size is None or size >= MOST_BYTES else mib(size)
