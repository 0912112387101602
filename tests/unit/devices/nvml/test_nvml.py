"""The NVML door against the real pynvml and the stand-in library: the driver as a whole."""

import ctypes
from collections.abc import Callable
from pathlib import Path

import pytest

from gpupanel.devices.nvml import (
    DriverFailure,
    DriverGoneError,
    GpuLostError,
    GpuMemory,
    GpuProcess,
    NvmlGpu,
    NvmlLibrary,
)
from gpupanel.domain.telemetry import ThrottleReason
from tests.nvml.listed import gpus_of
from tests.nvml.standin import (
    DRIVER_NOT_LOADED,
    LIB_RM_VERSION_MISMATCH,
    NO_PERMISSION,
    TWO_UNEQUAL_GPUS,
    UNKNOWN,
    Standin,
    StandinState,
)


def test_that_the_driver_reports_its_versions_and_gpus(library: NvmlLibrary) -> None:
    assert library.driver_version() == "570.86.15"
    assert library.cuda_version() == (12, 8)
    assert library.gpu_count() == 2


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
        gpu = next(gpus_of(library))
        # The first version of memory info counts what is reserved as used.
        assert gpu.memory() == GpuMemory(total_mib=24_564, used_mib=1_600, free_mib=22_964)
        assert gpu.fan_percent() == 30.0
        assert gpu.throttle_reasons() == (ThrottleReason.POWER_CAP,)
        assert gpu.process_lists() == ([GpuProcess(11, 900)], [], [GpuProcess(12, 5)])
    finally:
        library.close()


def test_that_a_driver_without_what_nvidia_will_take_out_is_read_through_newer_functions(
    new_nvml_library: Path,
    tmp_path: Path,
    use_in_process: Callable[[Standin], ctypes.CDLL],
) -> None:
    use_in_process(Standin(new_nvml_library, tmp_path / "state.txt", TWO_UNEQUAL_GPUS))
    library = NvmlLibrary()
    library.open()
    try:
        gpu = next(gpus_of(library))
        assert gpu.temperature_c() == 51.0
        assert gpu.throttle_reasons() == (ThrottleReason.POWER_CAP,)
    finally:
        library.close()


def test_that_a_lost_gpu_differs_from_an_absent_reading(
    gpu: NvmlGpu, library: NvmlLibrary, nvml_in_process: Standin
) -> None:
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, lost=True))

    with pytest.raises(GpuLostError):
        gpu.temperature_c()
    assert [other.name() for other in gpus_of(library)] == ["NVIDIA GeForce RTX 3060"]


@pytest.mark.parametrize(
    ("code", "failure"),
    [
        (DRIVER_NOT_LOADED, DriverFailure.NOT_LOADED),
        (LIB_RM_VERSION_MISMATCH, DriverFailure.VERSION_MISMATCH),
    ],
)
def test_that_a_driver_that_goes_away_differs_from_a_lost_gpu(
    gpu: NvmlGpu, library: NvmlLibrary, nvml_in_process: Standin, code: int, failure: DriverFailure
) -> None:
    nvml_in_process.tell(StandinState(gpus=(), init=code))

    for ask in (gpu.temperature_c, library.gpu_count, lambda: next(gpus_of(library))):
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
        (UNKNOWN, DriverFailure.UNKNOWN),
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
