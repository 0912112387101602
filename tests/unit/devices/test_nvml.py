"""The NVML door against the real pynvml and the stand-in library."""

import ctypes
import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpupanel.devices.gpu_processes import GpuProcess
from gpupanel.devices.nvml import (
    DriverFailure,
    DriverGoneError,
    GpuLostError,
    GpuMemory,
    NvmlGpu,
    NvmlLibrary,
)
from tests.nvml.standin import (
    DRIVER_NOT_LOADED,
    FUNCTION_NOT_FOUND,
    LIB_RM_VERSION_MISMATCH,
    NO_PERMISSION,
    NOT_SUPPORTED,
    TWO_UNEQUAL_GPUS,
    UNKNOWN,
    Standin,
    StandinState,
)


@pytest.fixture
def library(nvml_in_process: Standin) -> Iterator[NvmlLibrary]:
    library = NvmlLibrary()
    library.open()
    yield library
    library.close()


@pytest.fixture
def gpu(library: NvmlLibrary) -> NvmlGpu:
    return next(library.gpus())


def test_that_the_driver_tells_its_versions_and_gpus(library: NvmlLibrary) -> None:
    assert library.driver_version() == "570.86.15"
    assert library.cuda_version() == (12, 8)
    assert library.gpu_count() == 2


def test_that_a_gpu_tells_everything_in_the_units_of_the_names(
    gpu: NvmlGpu, nvml_in_process: Standin
) -> None:
    nvml_in_process.tell(
        TWO_UNEQUAL_GPUS.with_gpu(0, compute=((11, 900),), graphics=((11, 900), (7, 60)))
    )

    assert gpu.uuid() == TWO_UNEQUAL_GPUS.gpus[0].uuid
    assert gpu.name() == "NVIDIA GeForce RTX 4090"
    assert gpu.pci_bus_id() == "00000000:01:00.0"
    assert gpu.compute_capability() == (8, 9)
    assert gpu.utilization_percent() == 37.0
    assert gpu.temperature_c() == 51.0
    assert gpu.power_w() == pytest.approx(120.5)
    assert gpu.power_limit_w() == pytest.approx(450.0)
    assert gpu.process_lists() == (
        [GpuProcess(11, 900)],
        [GpuProcess(11, 900), GpuProcess(7, 60)],
        [],
    )


def test_that_reserved_memory_is_neither_used_nor_free(gpu: NvmlGpu) -> None:
    assert gpu.memory() == GpuMemory(
        total_mib=24_564, used_mib=1_200, free_mib=24_564 - 1_600, reserved_mib=400
    )


@pytest.mark.parametrize("code", [NOT_SUPPORTED, FUNCTION_NOT_FOUND, NO_PERMISSION, UNKNOWN])
@pytest.mark.parametrize(
    ("function", "reading"),
    [
        ("nvmlDeviceGetName", NvmlGpu.name),
        ("nvmlDeviceGetPciInfo_v3", NvmlGpu.pci_bus_id),
        ("nvmlDeviceGetCudaComputeCapability", NvmlGpu.compute_capability),
        ("nvmlDeviceGetUtilizationRates", NvmlGpu.utilization_percent),
        ("nvmlDeviceGetTemperature", NvmlGpu.temperature_c),
        ("nvmlDeviceGetPowerUsage", NvmlGpu.power_w),
        ("nvmlDeviceGetEnforcedPowerLimit", NvmlGpu.power_limit_w),
    ],
)
def test_that_a_reading_can_be_absent_on_its_own(
    gpu: NvmlGpu,
    nvml_in_process: Standin,
    function: str,
    reading: Callable[[NvmlGpu], object],
    code: int,
) -> None:
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, fail={function: code}))

    assert reading(gpu) is None
    assert gpu.uuid() == TWO_UNEQUAL_GPUS.gpus[0].uuid
    assert gpu.memory() is not None


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
        ("DEBUG", "A GPU does not tell its power: Not Supported")
    ]


def test_that_a_process_whose_memory_is_secret_is_listed_without_it(
    gpu: NvmlGpu, nvml_in_process: Standin
) -> None:
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, compute=((11, None),)))

    assert gpu.process_lists()[0] == [GpuProcess(11, None)]


def test_that_an_old_driver_is_read_through_its_older_functions(
    old_nvml_library: Path,
    tmp_path: Path,
    use_in_process: Callable[[Standin], ctypes.CDLL],
) -> None:
    state = TWO_UNEQUAL_GPUS.with_gpu(0, compute=((11, 900),), mps=((12, 5),))
    use_in_process(Standin(old_nvml_library, tmp_path / "state.txt", state))
    library = NvmlLibrary()
    library.open()
    try:
        gpu = next(library.gpus())
        # The first version of memory info counts what is reserved as used.
        assert gpu.memory() == GpuMemory(total_mib=24_564, used_mib=1_600, free_mib=22_964)
        assert gpu.process_lists() == ([GpuProcess(11, 900)], [], [GpuProcess(12, 5)])
    finally:
        library.close()


def test_that_a_lost_gpu_is_told_from_an_absent_reading(
    gpu: NvmlGpu, library: NvmlLibrary, nvml_in_process: Standin
) -> None:
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, lost=True))

    with pytest.raises(GpuLostError):
        gpu.temperature_c()
    assert [other.name() for other in library.gpus()] == ["NVIDIA GeForce RTX 3060"]


@pytest.mark.parametrize(
    ("code", "failure"),
    [
        (DRIVER_NOT_LOADED, DriverFailure.NOT_LOADED),
        (LIB_RM_VERSION_MISMATCH, DriverFailure.VERSION_MISMATCH),
    ],
)
def test_that_a_driver_that_goes_away_is_told_from_a_lost_gpu(
    gpu: NvmlGpu, library: NvmlLibrary, nvml_in_process: Standin, code: int, failure: DriverFailure
) -> None:
    nvml_in_process.tell(StandinState(gpus=(), init=code))

    for ask in (gpu.temperature_c, library.gpu_count, lambda: next(library.gpus())):
        with pytest.raises(DriverGoneError) as caught:
            ask()
        assert caught.value.failure is failure
    assert library.driver_version() is None
    assert library.cuda_version() is None


@pytest.mark.parametrize(
    ("code", "failure"),
    [
        (DRIVER_NOT_LOADED, DriverFailure.NOT_LOADED),
        (NO_PERMISSION, DriverFailure.NO_PERMISSION),
        (UNKNOWN, DriverFailure.OTHER),
    ],
)
def test_that_opening_says_why_the_driver_does_not_answer(
    nvml_in_process: Standin, code: int, failure: DriverFailure
) -> None:
    nvml_in_process.tell(StandinState(gpus=(), init=code))

    with pytest.raises(DriverGoneError) as caught:
        NvmlLibrary().open()

    assert caught.value.failure is failure


def test_that_opening_without_a_library_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    import pynvml

    def refuse(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr(pynvml, "nvmlLib", None)
    monkeypatch.setattr(pynvml, "_nvmlGetFunctionPointer_cache", {})
    monkeypatch.setattr(pynvml, "CDLL", refuse)

    with pytest.raises(DriverGoneError) as caught:
        NvmlLibrary().open()
    NvmlLibrary().close()

    assert caught.value.failure is DriverFailure.NO_LIBRARY
