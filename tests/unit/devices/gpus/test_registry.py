"""The registry: eight GPUs of mixed ages, instances, links; the real pynvml, the stand-in."""

import ctypes
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gpupanel.devices.gpus.registry import REFRESH_INTERVAL_S, GpuRegistry
from gpupanel.domain.device import DeviceLink, LinkKind, PhysicalDevice
from gpupanel.domain.gpu_failure import GpuFailure
from tests.fakes.clock import Clock
from tests.nvml.machines import (
    BARE,
    EIGHT_MIXED,
    HOPPER,
    INSTANCES,
    KEPLER,
    LOST,
    MIG,
    NVLINK_PAIR,
    SLOW,
    TWO_FABRICS,
)
from tests.nvml.standin import (
    NO_PERMISSION,
    RTX_3060,
    RTX_4090,
    TWO_UNEQUAL_GPUS,
    UNKNOWN,
    Standin,
    StandinState,
)

# As they are, but without half a second for every answer.
_MIXED = EIGHT_MIXED.with_gpu(5, slow_ms=0)
_MIG_PLACE = 6
_LOST = GpuFailure(said="GPU is lost", code=15)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def registry(nvml_in_process: Standin, clock: Clock, tmp_path: Path) -> Iterator[GpuRegistry]:
    nvml_in_process.tell(_MIXED)
    registry = GpuRegistry(clock=clock, kernel_gpus=tmp_path / "none")
    yield registry
    registry.close()


def _refresh(registry: GpuRegistry, clock: Clock) -> None:
    clock.now_s += REFRESH_INTERVAL_S
    registry.refresh()


def _device(registry: GpuRegistry, key: str) -> PhysicalDevice:
    return next(gpu.device for gpu in registry.gpus if gpu.device.key == key)


def _answering(registry: GpuRegistry) -> set[str]:
    return {gpu.device.key for gpu in registry.gpus if gpu.nvml is not None}


def _links(registry: GpuRegistry) -> dict[tuple[str, str], DeviceLink]:
    return {link.keys: link for link in registry.links}


def test_that_eight_mixed_gpus_are_listed_with_instances_behind_theirs(
    registry: GpuRegistry, clock: Clock
) -> None:
    _refresh(registry, clock)

    expected = (RTX_4090, RTX_3060, KEPLER, LOST, BARE, SLOW, MIG, *INSTANCES, HOPPER)
    assert [gpu.device.key for gpu in registry.gpus] == [each.uuid for each in expected]


def test_that_facts_are_those_of_each_gpu(registry: GpuRegistry, clock: Clock) -> None:
    _refresh(registry, clock)

    assert _device(registry, HOPPER.uuid).model_dump(exclude={"key", "kind"}) == {
        "name": "NVIDIA H100 80GB HBM3",
        "memory_total_mib": 81_559,
        "architecture": "Hopper",
        "compute_capability": (9, 0),
        "pci_bus_id": "00000000:08:00.0",
        "core_count": None,
        "power_limit_w": 700.0,
        "power_limit_default_w": 700.0,
        "power_limit_least_w": 200.0,
        "power_limit_most_w": 700.0,
        "temperature_slowdown_c": 87.0,
        "temperature_shutdown_c": 92.0,
        "pcie_generation_max": 5,
        "pcie_width_max": 16,
        "is_partitioned": False,
        "parent_key": None,
        "node": None,
    }
    assert _device(registry, KEPLER.uuid).architecture == "Kepler"
    bare = _device(registry, BARE.uuid).model_dump(exclude={"key", "kind", "name", "pci_bus_id"})
    assert set(bare.values()) == {None, False}


def test_that_an_instance_has_its_own_memory_and_the_rest_from_its_gpu(
    registry: GpuRegistry, clock: Clock
) -> None:
    _refresh(registry, clock)

    parent, instance = _device(registry, MIG.uuid), _device(registry, INSTANCES[1].uuid)
    assert (parent.is_partitioned, parent.is_mig_instance) == (True, False)
    assert (instance.is_partitioned, instance.is_mig_instance) == (False, True)
    assert instance == PhysicalDevice(
        key=INSTANCES[1].uuid,
        kind=parent.kind,
        name="NVIDIA A100-SXM4-40GB MIG 1g.5gb",
        memory_total_mib=4_864,
        architecture="Ampere",
        compute_capability=(8, 0),
        pci_bus_id=MIG.bus,
        parent_key=MIG.uuid,
    )


def test_that_instances_come_and_go_without_a_new_listing(
    registry: GpuRegistry, clock: Clock, nvml_in_process: Standin
) -> None:
    _refresh(registry, clock)
    counter = ctypes.CDLL(str(nvml_in_process.library))
    counter.standin_reset_calls()
    other = replace(INSTANCES[1], uuid="MIG-00000000-0001-4aaa-8aaa-0000000a0100", mig_place=1)

    nvml_in_process.tell(_MIXED.with_gpu(_MIG_PLACE, instances=(INSTANCES[0], other)))
    _refresh(registry, clock)
    keys = [gpu.device.key for gpu in registry.gpus if gpu.device.is_mig_instance]
    assert keys == [INSTANCES[0].uuid, other.uuid]

    nvml_in_process.tell(_MIXED.with_gpu(_MIG_PLACE, instances=(), mig_mode=0))
    _refresh(registry, clock)
    assert not any(gpu.device.is_mig_instance for gpu in registry.gpus)
    assert not _device(registry, MIG.uuid).is_partitioned

    nvml_in_process.tell(_MIXED)
    _refresh(registry, clock)
    assert _device(registry, MIG.uuid).is_partitioned
    assert _device(registry, INSTANCES[1].uuid).parent_key == MIG.uuid
    assert counter.standin_calls(b"nvmlInitWithFlags") == 0


def test_that_a_lost_gpu_takes_its_instances_with_it_and_brings_them_back(
    registry: GpuRegistry, clock: Clock, nvml_in_process: Standin
) -> None:
    _refresh(registry, clock)
    everything = _answering(registry)
    family = {MIG.uuid, *(instance.uuid for instance in INSTANCES)}

    nvml_in_process.tell(_MIXED.with_gpu(_MIG_PLACE, lost=True))
    _refresh(registry, clock)
    assert _answering(registry) == everything - family
    assert len(registry.gpus) == len(everything)

    nvml_in_process.tell(_MIXED)
    _refresh(registry, clock)
    assert _answering(registry) == everything


def test_that_an_instance_that_fails_alone_is_found_again(
    registry: GpuRegistry, clock: Clock
) -> None:
    _refresh(registry, clock)
    instance = next(gpu for gpu in registry.gpus if gpu.device.key == INSTANCES[0].uuid)
    registry.lose(instance, _LOST)
    assert INSTANCES[0].uuid not in _answering(registry)

    _refresh(registry, clock)

    assert INSTANCES[0].uuid in _answering(registry)


@pytest.mark.parametrize(
    "function",
    [
        "nvmlDeviceGetMigMode",
        "nvmlDeviceGetMaxMigDeviceCount",
        "nvmlDeviceGetMigDeviceHandleByIndex",
    ],
)
def test_that_instances_stay_known_while_their_gpu_errs(
    registry: GpuRegistry, clock: Clock, nvml_in_process: Standin, function: str
) -> None:
    _refresh(registry, clock)
    before = [gpu.device for gpu in registry.gpus]

    nvml_in_process.tell(_MIXED.with_gpu(_MIG_PLACE, fail={function: UNKNOWN}))
    _refresh(registry, clock)

    assert [gpu.device for gpu in registry.gpus] == before


def test_that_a_gpu_whose_instances_are_not_for_this_user_stands_alone(
    registry: GpuRegistry, clock: Clock, nvml_in_process: Standin
) -> None:
    fail = {"nvmlDeviceGetMigDeviceHandleByIndex": NO_PERMISSION}
    nvml_in_process.tell(StandinState(gpus=(MIG,)).with_gpu(0, fail=fail))
    _refresh(registry, clock)

    assert [(gpu.device.key, gpu.device.is_partitioned) for gpu in registry.gpus] == [
        (MIG.uuid, True)
    ]


def test_that_each_pair_of_whole_gpus_has_its_link_in_the_inventorys_order(
    registry: GpuRegistry, clock: Clock
) -> None:
    _refresh(registry, clock)

    links = _links(registry)
    whole = [gpu.uuid for gpu in EIGHT_MIXED.gpus]
    assert list(links) == [
        (one, other) for place, one in enumerate(whole) for other in whole[place + 1 :]
    ]
    assert links[KEPLER.uuid, LOST.uuid].kind is LinkKind.SAME_BOARD
    assert links[RTX_3060.uuid, HOPPER.uuid].kind is LinkKind.NUMA_NODE
    # Both are on a switch, but in MIG mode NVLink is off.
    assert links[MIG.uuid, HOPPER.uuid] == DeviceLink(
        keys=(MIG.uuid, HOPPER.uuid), kind=LinkKind.SYSTEM
    )


def test_that_nvlinks_between_two_are_counted_when_they_are_up(
    registry: GpuRegistry, clock: Clock, nvml_in_process: Standin
) -> None:
    nvml_in_process.tell(NVLINK_PAIR)
    _refresh(registry, clock)

    (link,) = registry.links
    assert (link.kind, link.nvlink_count) == (LinkKind.NVLINK, 4)


def test_that_nvlinks_over_switches_reach_gpus_of_the_same_fabric_alone(
    registry: GpuRegistry, clock: Clock, nvml_in_process: Standin
) -> None:
    nvml_in_process.tell(TWO_FABRICS)
    _refresh(registry, clock)

    keys = [gpu.uuid for gpu in TWO_FABRICS.gpus]
    counts = {pair: link.nvlink_count for pair, link in _links(registry).items()}
    assert counts == {
        (keys[0], keys[1]): 17,
        (keys[0], keys[2]): 0,
        (keys[0], keys[3]): 0,
        (keys[1], keys[2]): 0,
        (keys[1], keys[3]): 0,
        (keys[2], keys[3]): 15,
    }


def test_that_links_are_asked_for_once_while_the_same_gpus_answer(
    registry: GpuRegistry, clock: Clock, nvml_in_process: Standin
) -> None:
    _refresh(registry, clock)
    counter = ctypes.CDLL(str(nvml_in_process.library))
    counter.standin_reset_calls()

    _refresh(registry, clock)
    _refresh(registry, clock)

    assert counter.standin_calls(b"nvmlDeviceGetTopologyCommonAncestor") == 0
    assert counter.standin_calls(b"nvmlDeviceGetNvLinkState") == 0


def test_that_the_links_of_a_lost_gpu_stay_known(
    registry: GpuRegistry, clock: Clock, nvml_in_process: Standin
) -> None:
    _refresh(registry, clock)
    before = registry.links

    nvml_in_process.tell(_MIXED.with_gpu(3, lost=True))
    lost = next(gpu for gpu in registry.gpus if gpu.device.key == LOST.uuid)
    registry.lose(lost, _LOST)
    _refresh(registry, clock)

    assert LOST.uuid not in _answering(registry)
    assert registry.links == before


def test_that_a_driver_that_does_not_report_topology_leaves_links_out(
    registry: GpuRegistry, clock: Clock, nvml_in_process: Standin
) -> None:
    fail = {"nvmlDeviceGetTopologyCommonAncestor": 13}
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, fail=fail))
    _refresh(registry, clock)

    assert registry.links == ()
    assert _answering(registry) == {RTX_4090.uuid, RTX_3060.uuid}


def test_that_facts_reported_once_are_kept_until_another_driver_answers(
    registry: GpuRegistry, clock: Clock, nvml_in_process: Standin
) -> None:
    _refresh(registry, clock)
    counter = ctypes.CDLL(str(nvml_in_process.library))
    counter.standin_reset_calls()

    # One is taken out: the driver is initialised anew, and the others are listed anew.
    nvml_in_process.tell(StandinState(gpus=_MIXED.gpus[1:]))
    _refresh(registry, clock)
    assert counter.standin_calls(b"nvmlInitWithFlags") == 1
    # The bare one alone, which told nothing that could be kept.
    assert counter.standin_calls(b"nvmlDeviceGetArchitecture") == 1

    newer = _MIXED.with_gpu(0, name="NVIDIA GeForce RTX 4090 Renamed")
    nvml_in_process.tell(replace(newer, driver="580.65.06"))
    _refresh(registry, clock)
    assert _device(registry, RTX_4090.uuid).name == "NVIDIA GeForce RTX 4090 Renamed"
    assert counter.standin_calls(b"nvmlDeviceGetArchitecture") == 1 + 8


def test_that_a_gpu_in_another_slot_is_the_same_gpu(
    registry: GpuRegistry, clock: Clock, nvml_in_process: Standin
) -> None:
    nvml_in_process.tell(StandinState(gpus=(RTX_4090,)))
    _refresh(registry, clock)
    nvml_in_process.tell(StandinState(gpus=()))
    _refresh(registry, clock)

    nvml_in_process.tell(StandinState(gpus=(replace(RTX_4090, bus="00000000:41:00.0"),)))
    _refresh(registry, clock)

    assert [gpu.device.pci_bus_id for gpu in registry.gpus] == ["00000000:41:00.0"]
