"""Each reading of the NVML door can be absent on its own, and garbage is absent too."""

import ctypes
import logging
from collections.abc import Callable

import pytest

from gpupanel.devices.nvml import (
    GpuProcess,
    NvLinks,
    NvmlGpu,
    NvmlLibrary,
)
from tests.nvml.listed import gpus_of
from tests.nvml.machines import (
    HOPPER,
)
from tests.nvml.standin import (
    FUNCTION_NOT_FOUND,
    NO_PERMISSION,
    NOT_SUPPORTED,
    TWO_UNEQUAL_GPUS,
    UNKNOWN,
    Standin,
    StandinState,
)

_READINGS = [
    ("nvmlDeviceGetName", NvmlGpu.name),
    ("nvmlDeviceGetArchitecture", NvmlGpu.architecture),
    ("nvmlDeviceGetPciInfo_v3", NvmlGpu.pci_bus_id),
    ("nvmlDeviceGetCudaComputeCapability", NvmlGpu.compute_capability),
    ("nvmlDeviceGetTemperatureThreshold", NvmlGpu.temperature_slowdown_c),
    ("nvmlDeviceGetTemperatureThreshold", NvmlGpu.temperature_shutdown_c),
    ("nvmlDeviceGetMaxPcieLinkGeneration", NvmlGpu.pcie_generation_max),
    ("nvmlDeviceGetMaxPcieLinkWidth", NvmlGpu.pcie_width_max),
    ("nvmlDeviceGetPowerUsage", NvmlGpu.power_w),
    ("nvmlDeviceGetEnforcedPowerLimit", NvmlGpu.power_limit_w),
    ("nvmlDeviceGetClockInfo", NvmlGpu.clock_mhz),
    ("nvmlDeviceGetClockInfo", NvmlGpu.memory_clock_mhz),
    ("nvmlDeviceGetCurrPcieLinkGeneration", NvmlGpu.pcie_generation),
    ("nvmlDeviceGetCurrPcieLinkWidth", NvmlGpu.pcie_width),
    ("nvmlDeviceGetFanSpeed_v2", NvmlGpu.fan_percent),
]
_ERRORS = [
    ("nvmlDeviceGetTotalEccErrors", NvmlGpu.ecc_corrected),
    ("nvmlDeviceGetTotalEccErrors", NvmlGpu.ecc_uncorrected),
    ("nvmlDeviceGetRemappedRows", NvmlGpu.retired_pages),
    ("nvmlDeviceGetNvLinkState", NvmlGpu.nvlinks),
]
_ABSENT = pytest.mark.parametrize(
    "code", [NOT_SUPPORTED, FUNCTION_NOT_FOUND, NO_PERMISSION, UNKNOWN]
)


@_ABSENT
@pytest.mark.parametrize(("function", "reading"), _READINGS)
def test_that_a_reading_can_be_absent_on_its_own(
    gpu: NvmlGpu,
    nvml_in_process: Standin,
    function: str,
    reading: Callable[[NvmlGpu], object],
    code: int,
) -> None:
    assert reading(gpu) is not None
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, fail={function: code}))

    assert reading(gpu) is None
    assert gpu.uuid() == TWO_UNEQUAL_GPUS.gpus[0].uuid
    assert gpu.memory() is not None


@_ABSENT
@pytest.mark.parametrize(
    "fail",
    [
        ("nvmlDeviceGetTemperature", "nvmlDeviceGetTemperatureV"),
        ("nvmlDeviceGetMemoryInfo", "nvmlDeviceGetMemoryInfo_v2"),
        (
            "nvmlDeviceGetCurrentClocksEventReasons",
            "nvmlDeviceGetCurrentClocksThrottleReasons",
        ),
        ("nvmlDeviceGetNumFans", "nvmlDeviceGetFanSpeed"),
    ],
)
def test_that_a_reading_with_two_functions_is_absent_without_both(
    library: NvmlLibrary, nvml_in_process: Standin, fail: tuple[str, str], code: int
) -> None:
    readings = {
        "nvmlDeviceGetTemperature": NvmlGpu.temperature_c,
        "nvmlDeviceGetMemoryInfo": NvmlGpu.memory,
        "nvmlDeviceGetCurrentClocksEventReasons": NvmlGpu.throttle_reasons,
        "nvmlDeviceGetNumFans": NvmlGpu.fan_percent,
    }
    reading = readings[fail[0]]
    for without in ((fail[0],), (fail[1],)):
        nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, fail=dict.fromkeys(without, code)))
        assert reading(next(gpus_of(library))) is not None

    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, fail=dict.fromkeys(fail, code)))
    gpu = next(gpus_of(library))
    assert reading(gpu) is None
    assert gpu.name() == "NVIDIA GeForce RTX 4090"


def test_that_garbage_is_asked_for_again(gpu: NvmlGpu, nvml_in_process: Standin) -> None:
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, power_mw=_ALL_BITS))
    assert gpu.power_w() is None

    nvml_in_process.tell(TWO_UNEQUAL_GPUS)
    assert gpu.power_w() == pytest.approx(120.5)


@_ABSENT
@pytest.mark.parametrize(("function", "reading"), _ERRORS)
def test_that_what_only_some_gpus_report_can_be_absent_on_its_own(
    library: NvmlLibrary,
    nvml_in_process: Standin,
    function: str,
    reading: Callable[[NvmlGpu], object],
    code: int,
) -> None:
    nvml_in_process.tell(StandinState(gpus=(HOPPER,)))
    gpu = next(gpus_of(library))
    assert reading(gpu) is not None

    nvml_in_process.tell(StandinState(gpus=(HOPPER,)).with_gpu(0, fail={function: code}))

    assert reading(gpu) in (None, NvLinks({}, 0))
    assert gpu.clock_mhz() == 1_755


_ALL_BITS = 2**32 - 1


@pytest.mark.parametrize(
    ("changes", "reading"),
    [
        ({"name": "RTX \udcff"}, NvmlGpu.name),
        ({"uuid": "not an identity"}, NvmlGpu.uuid),
        ({"bus": "\udcff"}, NvmlGpu.pci_bus_id),
        ({"capability": "0.0"}, NvmlGpu.compute_capability),
        ({"architecture": _ALL_BITS}, NvmlGpu.architecture),
        ({"memory_used_mib": 30_000}, NvmlGpu.memory),
        ({"memory_total_mib": 0, "memory_reserved_mib": 0}, NvmlGpu.memory),
        ({"temperature_c": _ALL_BITS}, NvmlGpu.temperature_c),
        ({"temperature_slowdown_c": 0}, NvmlGpu.temperature_slowdown_c),
        ({"temperature_shutdown_c": _ALL_BITS}, NvmlGpu.temperature_shutdown_c),
        ({"power_mw": _ALL_BITS}, NvmlGpu.power_w),
        ({"power_limit_mw": 0}, NvmlGpu.power_limit_w),
        ({"clock_mhz": _ALL_BITS}, NvmlGpu.clock_mhz),
        ({"memory_clock_mhz": _ALL_BITS}, NvmlGpu.memory_clock_mhz),
        ({"throttle_mask": 2**64 - 1}, NvmlGpu.throttle_reasons),
        ({"pcie_generation": 0}, NvmlGpu.pcie_generation),
        ({"pcie_width": 0}, NvmlGpu.pcie_width),
        ({"pcie_generation_max": _ALL_BITS}, NvmlGpu.pcie_generation_max),
        ({"pcie_width_max": _ALL_BITS}, NvmlGpu.pcie_width_max),
        ({"fan": (5_000,)}, NvmlGpu.fan_percent),
        ({"ecc_corrected": 2**64 - 1}, NvmlGpu.ecc_corrected),
        ({"ecc_uncorrected": 2**64 - 1}, NvmlGpu.ecc_uncorrected),
    ],
)
def test_that_an_answer_that_cannot_be_true_is_none(
    library: NvmlLibrary,
    nvml_in_process: Standin,
    caplog: pytest.LogCaptureFixture,
    changes: dict[str, object],
    reading: Callable[[NvmlGpu], object],
) -> None:
    caplog.set_level(logging.DEBUG)
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, **changes))
    gpu = next(gpus_of(library))

    assert [reading(gpu) for _ in range(3)] == [None, None, None]
    assert len({record.message for record in caplog.records}) == len(caplog.records) > 0


def test_that_either_utilization_can_be_garbage_on_its_own(
    gpu: NvmlGpu, nvml_in_process: Standin
) -> None:
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, utilization_percent=_ALL_BITS))
    assert gpu.utilization() == (None, 12.0)

    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, memory_utilization_percent=300))
    assert gpu.utilization() == (37.0, None)

    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, utilization_percent=None))
    assert gpu.utilization() == (None, None)


def test_that_a_reading_refused_for_now_is_asked_for_again(
    gpu: NvmlGpu, nvml_in_process: Standin
) -> None:
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, fail={"nvmlDeviceGetPowerUsage": UNKNOWN}))
    assert gpu.power_w() is None

    nvml_in_process.tell(TWO_UNEQUAL_GPUS)
    assert gpu.power_w() == pytest.approx(120.5)


def test_that_what_a_gpu_does_not_support_is_logged_once_and_asked_for_once(
    gpu: NvmlGpu, nvml_in_process: Standin, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    nvml_in_process.tell(
        TWO_UNEQUAL_GPUS.with_gpu(0, fail={"nvmlDeviceGetPowerUsage": NOT_SUPPORTED})
    )
    counter = ctypes.CDLL(str(nvml_in_process.library))
    counter.standin_reset_calls()

    assert [gpu.power_w() for _ in range(3)] == [None, None, None]

    assert counter.standin_calls(b"nvmlDeviceGetPowerUsage") == 1
    assert [(record.levelname, record.message) for record in caplog.records] == [
        ("DEBUG", "A GPU does not report nvmlDeviceGetPowerUsage: Not Supported")
    ]


@pytest.mark.parametrize("mib", [None, 2**31])
def test_that_a_process_whose_memory_is_secret_or_garbage_is_listed_without_it(
    gpu: NvmlGpu, nvml_in_process: Standin, mib: int | None
) -> None:
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, compute=((11, mib),)))

    assert gpu.process_lists()[0] == [GpuProcess(11, None)]


@_ABSENT
def test_that_process_lists_that_cannot_be_had_are_empty(
    gpu: NvmlGpu, nvml_in_process: Standin, code: int
) -> None:
    lists = ("Compute", "Graphics", "MPSCompute")
    fail = {
        f"nvmlDeviceGet{name}RunningProcesses_v{version}": code
        for name in lists
        for version in (2, 3)
    }
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, compute=((11, 900),), fail=fail))

    assert gpu.process_lists() == ([], [], [])
    assert gpu.temperature_c() == 51.0
