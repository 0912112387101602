"""What NVML answers to each call, as a plain value in our units.

Each raises :class:`GarbageError` for an answer that cannot be true: damaged boards, drivers that
are just going away and some notebooks answer so, with success.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final, Protocol, TypeVar

import pynvml

from gpupanel.devices.nvml.values import GpuMemory, GpuProcess, GpuUtilization
from gpupanel.domain.device import LinkKind
from gpupanel.domain.telemetry import ComputeMode, ThrottleReason

_T = TypeVar("_T")

_UUID: Final = re.compile(r"(GPU|MIG)-[0-9A-Za-z/-]+")

_BYTES_PER_MIB: Final = 2**20
# Bounds of what can be true, wide: they separate numbers from garbage, not good from bad.
_MOST_BYTES: Final = 2**50
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

_COMPUTE_MODES: Final = {
    pynvml.NVML_COMPUTEMODE_DEFAULT: ComputeMode.DEFAULT,
    # Of old drivers: one thread of one process.
    pynvml.NVML_COMPUTEMODE_EXCLUSIVE_THREAD: ComputeMode.EXCLUSIVE_PROCESS,
    pynvml.NVML_COMPUTEMODE_PROHIBITED: ComputeMode.PROHIBITED,
    pynvml.NVML_COMPUTEMODE_EXCLUSIVE_PROCESS: ComputeMode.EXCLUSIVE_PROCESS,
}

_ANCESTORS: Final = {
    pynvml.NVML_TOPOLOGY_INTERNAL: LinkKind.SAME_BOARD,
    pynvml.NVML_TOPOLOGY_SINGLE: LinkKind.PCIE_SWITCH,
    pynvml.NVML_TOPOLOGY_MULTIPLE: LinkKind.PCIE_SWITCHES,
    pynvml.NVML_TOPOLOGY_HOSTBRIDGE: LinkKind.HOST_BRIDGE,
    pynvml.NVML_TOPOLOGY_NODE: LinkKind.NUMA_NODE,
    pynvml.NVML_TOPOLOGY_SYSTEM: LinkKind.SYSTEM,
}


class GarbageError(ValueError):
    """A reading that cannot be true: all bits set, 300 percent, more used than there is."""


# NVML's structures, as far as they are read here.
class _PciInfo(Protocol):
    busId: bytes | str  # noqa: N815


class _Memory(Protocol):
    total: int
    used: int
    free: int


class _MemoryV2(_Memory, Protocol):
    reserved: int


class _Utilization(Protocol):
    gpu: int
    memory: int


class _Process(Protocol):
    pid: int
    usedGpuMemory: int | None  # noqa: N815


def within(value: int, least: int, most: int) -> int:
    """The value itself.

    Raises:
        GarbageError: It is not between ``least`` and ``most``.
    """
    if not least <= value <= most:
        raise GarbageError(f"{value} is not between {least} and {most}")
    return value


def between(least: int, most: int) -> Callable[[int], int]:
    """Converts a number that is used as it is; refuses one outside the bounds."""
    return lambda answer: within(answer, least, most)


def degrees_c(least: int) -> Callable[[int], float]:
    """Converts a temperature in degrees Celsius."""
    return lambda answer: float(within(answer, least, 200))


def watts(least: int) -> Callable[[int], float]:
    """Converts a power in milliwatts to watts."""
    return lambda answer: within(answer, least, 20_000_000) / 1000.0


def watt_range(answer: tuple[int, int]) -> tuple[float, float]:
    """Converts a least and a greatest power in milliwatts to watts."""
    least, most = map(watts(1), answer)
    if least > most:
        raise GarbageError(f"{least} W is more than {most} W")
    return least, most


def joules(answer: int) -> float:
    """Converts an energy in millijoules to joules."""
    return within(answer, 0, 2**60) / 1000.0


def fan_percent(answer: int) -> float:
    """NVML: "may exceed 100 % in certain cases"."""
    return float(within(answer, 0, 200))


def unchanged(answer: _T) -> _T:
    """Returns an answer that needs no conversion."""
    return answer


def uuid(answer: str) -> str:
    """The UUID of a GPU or of a MIG instance."""
    if not _UUID.fullmatch(answer):
        raise GarbageError(f"{answer!r} is not a UUID")
    return answer


def name(answer: str) -> str:
    """The name of the product or the MIG instance."""
    if not answer.strip():
        raise GarbageError("an empty name")
    return answer


def architecture(answer: int) -> str:
    """NVIDIA's name of the generation."""
    if answer not in _ARCHITECTURES:
        raise GarbageError(f"architecture {answer} is not known here")
    return _ARCHITECTURES[answer]


def bus_id(answer: _PciInfo) -> str:
    """Domain, bus, device and function."""
    # The module gives the characters of a structure as bytes or, in some versions, as text.
    raw = answer.busId
    found = raw.decode() if isinstance(raw, bytes) else raw
    if not found:
        raise GarbageError("an empty text")
    return found


def compute_capability(answer: tuple[int, int]) -> tuple[int, int]:
    """CUDA's major and minor version."""
    major, minor = answer
    return within(major, 1, 99), within(minor, 0, 9)


def memory_v2(answer: _MemoryV2) -> GpuMemory:
    """Memory of a GPU; what the driver reserves is not counted as used."""
    return _memory(answer, answer.reserved)


def memory_v1(answer: _Memory) -> GpuMemory:
    """Memory of a GPU; what the driver reserves is counted as used."""
    return _memory(answer, None)


def _memory(answer: _Memory, reserved: int | None) -> GpuMemory:
    total, used, free = answer.total, answer.used, answer.free
    if not 0 < total < _MOST_BYTES or max(used, free, reserved or 0) > total:
        raise GarbageError(f"{total=} {used=} {free=} {reserved=} bytes")
    return GpuMemory(
        _mib(total), _mib(used), _mib(free), None if reserved is None else _mib(reserved)
    )


def utilization(answer: _Utilization) -> GpuUtilization:
    """Utilization of GPU and memory; either may be invalid on its own."""
    return GpuUtilization(_percent(answer.gpu), _percent(answer.memory))


def _percent(value: int) -> float | None:
    return float(value) if 0 <= value <= 100 else None


def throttle_reasons(answer: int) -> tuple[ThrottleReason, ...]:
    """What holds the clocks back."""
    if answer >= 2**32:
        raise GarbageError(f"throttle reasons {answer:#x}")
    return tuple(reason for bit, reason in _THROTTLE_REASONS.items() if answer & bit)


def remapped_rows(answer: tuple[int, ...]) -> int:
    """Rows replaced for good, after corrected and after other errors."""
    after_corrected, after_uncorrected, *_ = answer
    return within(after_corrected, 0, _MOST_PAGES) + within(after_uncorrected, 0, _MOST_PAGES)


def is_mig_enabled(answer: tuple[int, int]) -> bool:
    """Whether the GPU is in MIG mode now."""
    current, _pending = answer
    return bool(current == pynvml.NVML_DEVICE_MIG_ENABLE)


def compute_mode(answer: int) -> ComputeMode:
    """Which processes may compute on the GPU."""
    if answer not in _COMPUTE_MODES:
        raise GarbageError(f"compute mode {answer} is not known here")
    return _COMPUTE_MODES[answer]


def common_ancestor(answer: int) -> LinkKind:
    """The nearest thing that two GPUs have in common."""
    if answer not in _ANCESTORS:
        raise GarbageError(f"topology level {answer} is not known here")
    return _ANCESTORS[answer]


def process_utilization(answer: Mapping[int, int]) -> dict[int, float | None]:
    """Utilization by pid; ``None`` for an implausible value."""
    return {pid: _percent(value) for pid, value in answer.items()}


def processes(answer: Iterable[_Process]) -> list[GpuProcess]:
    """One of NVML's process lists."""
    return [GpuProcess(int(each.pid), _held_mib(each.usedGpuMemory)) for each in answer]


def _held_mib(size: int | None) -> int | None:
    """What a process holds; not for everybody, and sometimes garbage for one that just ends."""
    return None if size is None or size >= _MOST_BYTES else _mib(size)


def _mib(size: int) -> int:
    return size // _BYTES_PER_MIB
