"""What one GPU tells, through the real pynvml."""

import pytest

from gpupanel.devices.nvml import (
    GpuMemory,
    GpuProcess,
    GpuUtilization,
    NvmlGpu,
    NvmlLibrary,
)
from gpupanel.domain.telemetry import ComputeMode, ThrottleReason
from tests.nvml.listed import gpus_of
from tests.nvml.machines import (
    KEPLER,
    MIG,
)
from tests.nvml.standin import (
    TWO_UNEQUAL_GPUS,
    Standin,
    StandinState,
)


def test_that_a_gpu_reports_everything_in_the_units_of_the_names(
    gpu: NvmlGpu, nvml_in_process: Standin
) -> None:
    nvml_in_process.tell(
        TWO_UNEQUAL_GPUS.with_gpu(0, compute=((11, 900),), graphics=((11, 900), (7, 60)))
    )

    assert gpu.uuid() == TWO_UNEQUAL_GPUS.gpus[0].uuid
    assert gpu.name() == "NVIDIA GeForce RTX 4090"
    assert gpu.architecture() == "Ada Lovelace"
    assert gpu.pci_bus_id() == "00000000:01:00.0"
    assert gpu.compute_capability() == (8, 9)
    assert gpu.temperature_slowdown_c() == 88.0
    assert gpu.temperature_shutdown_c() == 91.0
    assert (gpu.pcie_generation(), gpu.pcie_width()) == (4, 16)
    assert (gpu.pcie_generation_max(), gpu.pcie_width_max()) == (4, 16)
    assert gpu.utilization() == GpuUtilization(gpu_percent=37.0, memory_percent=12.0)
    assert gpu.temperature_c() == 51.0
    assert gpu.power_w() == pytest.approx(120.5)
    assert gpu.power_limit_w() == pytest.approx(450.0)
    assert gpu.fan_percent() == 34.0
    assert (gpu.clock_mhz(), gpu.memory_clock_mhz()) == (2_520, 10_501)
    assert gpu.throttle_reasons() == (ThrottleReason.POWER_CAP,)
    assert gpu.process_lists() == (
        [GpuProcess(11, 900)],
        [GpuProcess(11, 900), GpuProcess(7, 60)],
        [],
    )


def test_that_a_gpu_of_a_desktop_has_no_ecc_no_instances_and_no_nvlink(gpu: NvmlGpu) -> None:
    assert (gpu.ecc_corrected(), gpu.ecc_uncorrected(), gpu.retired_pages()) == (None, None, None)
    assert (gpu.is_partitioned(), gpu.can_be_partitioned, gpu.mig_instances()) == (None, False, ())
    assert gpu.nvlinks() is None


def test_that_memory_errors_are_reported_with_the_pages_or_rows_taken_out_of_use(
    library: NvmlLibrary, nvml_in_process: Standin
) -> None:
    nvml_in_process.tell(StandinState(gpus=(KEPLER, MIG)))

    old, new = gpus_of(library)

    assert (old.ecc_corrected(), old.ecc_uncorrected(), old.retired_pages()) == (12, 1, 3)
    assert (new.ecc_corrected(), new.ecc_uncorrected(), new.retired_pages()) == (0, 0, 3)


@pytest.mark.parametrize(
    ("number", "mode"),
    [
        (0, ComputeMode.DEFAULT),
        (1, ComputeMode.EXCLUSIVE_PROCESS),
        (2, ComputeMode.PROHIBITED),
        (3, ComputeMode.EXCLUSIVE_PROCESS),
        # No driver says so; and a GPU without the call.
        (9, None),
        (None, None),
    ],
)
def test_that_the_compute_mode_says_which_processes_may_compute(
    gpu: NvmlGpu, nvml_in_process: Standin, number: int | None, mode: ComputeMode | None
) -> None:
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, compute_mode=number))
    assert gpu.compute_mode() is mode


@pytest.mark.parametrize("bit", range(9))
def test_that_every_throttle_reason_has_a_name_of_its_own(
    gpu: NvmlGpu, nvml_in_process: Standin, bit: int
) -> None:
    unknown = 1 << 20
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, throttle_mask=1 << bit | unknown))

    assert gpu.throttle_reasons() == (
        (
            ThrottleReason.IDLE,
            ThrottleReason.APPLICATION_CLOCKS,
            ThrottleReason.POWER_CAP,
            ThrottleReason.HARDWARE_SLOWDOWN,
            ThrottleReason.SYNC_BOOST,
            ThrottleReason.THERMAL,
            ThrottleReason.HARDWARE_THERMAL,
            ThrottleReason.HARDWARE_POWER_BRAKE,
            ThrottleReason.DISPLAY_CLOCKS,
        )[bit],
    )


def test_that_clocks_that_nothing_holds_back_differ_from_unknown_ones(
    gpu: NvmlGpu, nvml_in_process: Standin
) -> None:
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, throttle_mask=0))
    assert gpu.throttle_reasons() == ()

    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, throttle_mask=None))
    assert gpu.throttle_reasons() is None


def test_that_a_gpu_without_fans_differs_from_one_whose_fan_stands_still(
    library: NvmlLibrary, nvml_in_process: Standin
) -> None:
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, fan=()).with_gpu(1, fan=(0, 0)))

    assert [gpu.fan_percent() for gpu in gpus_of(library)] == [None, 0.0]


def test_that_one_fan_that_does_not_answer_leaves_the_others(
    gpu: NvmlGpu, nvml_in_process: Standin
) -> None:
    assert gpu.fan_percent() == 34.0

    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, fan=(30,)))

    assert gpu.fan_percent() == 30.0


def test_that_reserved_memory_is_neither_used_nor_free(gpu: NvmlGpu) -> None:
    assert gpu.memory() == GpuMemory(
        total_mib=24_564, used_mib=1_200, free_mib=24_564 - 1_600, reserved_mib=400
    )
