"""MIG instances, NVLinks and the ways between GPUs, through the real pynvml."""

import pytest

from gpupanel.devices.nvml import (
    GpuMemory,
    GpuProcess,
    NvLinks,
    NvmlLibrary,
)
from gpupanel.domain.device import LinkKind
from tests.nvml.listed import gpus_of
from tests.nvml.machines import (
    HOPPER,
    HOST_BRIDGE,
    INSTANCES,
    MIG,
    NUMA_NODE,
    NVLINK_PAIR,
    PCIE_SWITCH,
    PCIE_SWITCHES,
    SAME_BOARD,
    SYSTEM,
)
from tests.nvml.standin import (
    FUNCTION_NOT_FOUND,
    TWO_UNEQUAL_GPUS,
    Standin,
    StandinState,
)


def test_that_the_instances_of_a_gpu_are_gpus_of_their_own(
    library: NvmlLibrary, nvml_in_process: Standin
) -> None:
    nvml_in_process.tell(StandinState(gpus=(MIG,)))
    (gpu,) = gpus_of(library)

    instances = gpu.mig_instances()

    assert gpu.is_partitioned() is True
    assert instances is not None
    assert [instance.uuid() for instance in instances] == [each.uuid for each in INSTANCES]
    assert [instance.name() for instance in instances] == [each.name for each in INSTANCES]
    assert instances[0].memory() == GpuMemory(19_968, 5_000, 14_956, 12)
    assert [instance.process_lists()[0] for instance in instances] == [
        [GpuProcess(4_000_000, 5_000)],
        [GpuProcess(4_000_002, 700)],
    ]
    assert gpu.process_lists()[0] == [GpuProcess(4_000_000, 5_000), GpuProcess(4_000_002, 700)]


def test_that_what_an_instance_cannot_report_is_none(
    library: NvmlLibrary, nvml_in_process: Standin
) -> None:
    nvml_in_process.tell(StandinState(gpus=(MIG,)))
    (gpu,) = gpus_of(library)
    (instance, _) = gpu.mig_instances() or ()

    assert instance.utilization() == (None, None)
    assert (instance.is_partitioned(), instance.mig_instances(), instance.nvlinks()) == (
        None,
        (),
        None,
    )
    for reading in (
        instance.temperature_c,
        instance.power_w,
        instance.power_limit_w,
        instance.fan_percent,
        instance.clock_mhz,
        instance.throttle_reasons,
        instance.pcie_width,
        instance.ecc_corrected,
        instance.retired_pages,
    ):
        assert reading() is None


def test_that_nvlinks_are_counted_by_where_they_lead(
    library: NvmlLibrary, nvml_in_process: Standin
) -> None:
    nvml_in_process.tell(NVLINK_PAIR)
    one, other = gpus_of(library)
    assert one.nvlinks() == NvLinks({"0000:22:00.0": 4}, to_switches=0)
    assert other.nvlinks() == NvLinks({"0000:21:00.0": 4}, to_switches=0)
    assert one.common_ancestor(other) is LinkKind.SYSTEM

    nvml_in_process.tell(StandinState(gpus=(HOPPER,)))
    assert next(gpus_of(library)).nvlinks() == NvLinks({}, to_switches=18)


def test_that_a_driver_that_does_not_report_what_is_behind_an_nvlink_has_it_lead_to_a_gpu(
    library: NvmlLibrary, nvml_in_process: Standin
) -> None:
    fail = {"nvmlDeviceGetNvLinkRemoteDeviceType": FUNCTION_NOT_FOUND}
    nvml_in_process.tell(NVLINK_PAIR.with_gpu(0, fail=fail))

    assert next(gpus_of(library)).nvlinks() == NvLinks({"0000:22:00.0": 4}, to_switches=0)


@pytest.mark.parametrize(
    ("level", "kind"),
    [
        (SAME_BOARD, LinkKind.SAME_BOARD),
        (PCIE_SWITCH, LinkKind.PCIE_SWITCH),
        (PCIE_SWITCHES, LinkKind.PCIE_SWITCHES),
        (HOST_BRIDGE, LinkKind.HOST_BRIDGE),
        (NUMA_NODE, LinkKind.NUMA_NODE),
        (SYSTEM, LinkKind.SYSTEM),
        (99, None),
    ],
)
def test_that_the_way_between_two_gpus_is_named(
    library: NvmlLibrary, nvml_in_process: Standin, level: int, kind: LinkKind | None
) -> None:
    other_bus = TWO_UNEQUAL_GPUS.gpus[1].bus
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, near={other_bus: level}))
    one, other = gpus_of(library)

    assert one.common_ancestor(other) is kind
