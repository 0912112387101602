"""The roster of GPUs: eight of mixed ages, MIG instances, links; the real pynvml, the stand-in."""

import ctypes
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gpupanel.devices.gpus.roster import LOOK_INTERVAL_S, GpuRoster
from gpupanel.domain.device import DeviceLink, LinkKind, PhysicalDevice
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


class Clock:
    """A clock that a test winds."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def roster(nvml_in_process: Standin, clock: Clock, tmp_path: Path) -> Iterator[GpuRoster]:
    nvml_in_process.tell(_MIXED)
    roster = GpuRoster(clock=clock, kernel_gpus=tmp_path / "none")
    yield roster
    roster.close()


def _look(roster: GpuRoster, clock: Clock) -> None:
    clock.now_s += LOOK_INTERVAL_S
    roster.look()


def _device(roster: GpuRoster, key: str) -> PhysicalDevice:
    return next(gpu.device for gpu in roster.gpus if gpu.device.key == key)


def _answering(roster: GpuRoster) -> set[str]:
    return {gpu.device.key for gpu in roster.gpus if gpu.nvml is not None}


def _links(roster: GpuRoster) -> dict[tuple[str, str], DeviceLink]:
    return {link.keys: link for link in roster.links}


def test_that_eight_mixed_gpus_are_listed_with_instances_behind_theirs(
    roster: GpuRoster, clock: Clock
) -> None:
    _look(roster, clock)

    expected = (RTX_4090, RTX_3060, KEPLER, LOST, BARE, SLOW, MIG, *INSTANCES, HOPPER)
    assert [gpu.device.key for gpu in roster.gpus] == [each.uuid for each in expected]


def test_that_facts_are_those_of_each_gpu(roster: GpuRoster, clock: Clock) -> None:
    _look(roster, clock)

    assert _device(roster, HOPPER.uuid).model_dump(exclude={"key", "kind"}) == {
        "name": "NVIDIA H100 80GB HBM3",
        "memory_total_mib": 81_559,
        "architecture": "Hopper",
        "compute_capability": (9, 0),
        "pci_bus_id": "00000000:08:00.0",
        "core_count": None,
        "power_limit_w": 700.0,
        "temperature_slowdown_c": 87.0,
        "temperature_shutdown_c": 92.0,
        "pcie_generation_max": 5,
        "pcie_width_max": 16,
        "is_partitioned": False,
        "parent_key": None,
    }
    assert _device(roster, KEPLER.uuid).architecture == "Kepler"
    bare = _device(roster, BARE.uuid).model_dump(exclude={"key", "kind", "name", "pci_bus_id"})
    assert set(bare.values()) == {None, False}


def test_that_an_instance_has_its_own_memory_and_the_rest_from_its_gpu(
    roster: GpuRoster, clock: Clock
) -> None:
    _look(roster, clock)

    parent, instance = _device(roster, MIG.uuid), _device(roster, INSTANCES[1].uuid)
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
    roster: GpuRoster, clock: Clock, nvml_in_process: Standin
) -> None:
    _look(roster, clock)
    counter = ctypes.CDLL(str(nvml_in_process.library))
    counter.standin_reset_calls()
    other = replace(INSTANCES[1], uuid="MIG-00000000-0001-4aaa-8aaa-0000000a0100", mig_place=1)

    nvml_in_process.tell(_MIXED.with_gpu(_MIG_PLACE, instances=(INSTANCES[0], other)))
    _look(roster, clock)
    keys = [gpu.device.key for gpu in roster.gpus if gpu.device.is_mig_instance]
    assert keys == [INSTANCES[0].uuid, other.uuid]

    nvml_in_process.tell(_MIXED.with_gpu(_MIG_PLACE, instances=(), mig_mode=0))
    _look(roster, clock)
    assert not any(gpu.device.is_mig_instance for gpu in roster.gpus)
    assert not _device(roster, MIG.uuid).is_partitioned

    nvml_in_process.tell(_MIXED)
    _look(roster, clock)
    assert _device(roster, MIG.uuid).is_partitioned
    assert _device(roster, INSTANCES[1].uuid).parent_key == MIG.uuid
    assert counter.standin_calls(b"nvmlInitWithFlags") == 0


def test_that_a_lost_gpu_takes_its_instances_with_it_and_brings_them_back(
    roster: GpuRoster, clock: Clock, nvml_in_process: Standin
) -> None:
    _look(roster, clock)
    everything = _answering(roster)
    family = {MIG.uuid, *(instance.uuid for instance in INSTANCES)}

    nvml_in_process.tell(_MIXED.with_gpu(_MIG_PLACE, lost=True))
    _look(roster, clock)
    assert _answering(roster) == everything - family
    assert len(roster.gpus) == len(everything)

    nvml_in_process.tell(_MIXED)
    _look(roster, clock)
    assert _answering(roster) == everything


def test_that_an_instance_that_fails_alone_is_found_again(roster: GpuRoster, clock: Clock) -> None:
    _look(roster, clock)
    instance = next(gpu for gpu in roster.gpus if gpu.device.key == INSTANCES[0].uuid)
    roster.lose(instance)
    assert INSTANCES[0].uuid not in _answering(roster)

    _look(roster, clock)

    assert INSTANCES[0].uuid in _answering(roster)


@pytest.mark.parametrize(
    "function",
    [
        "nvmlDeviceGetMigMode",
        "nvmlDeviceGetMaxMigDeviceCount",
        "nvmlDeviceGetMigDeviceHandleByIndex",
    ],
)
def test_that_instances_stay_known_while_their_gpu_errs(
    roster: GpuRoster, clock: Clock, nvml_in_process: Standin, function: str
) -> None:
    _look(roster, clock)
    before = [gpu.device for gpu in roster.gpus]

    nvml_in_process.tell(_MIXED.with_gpu(_MIG_PLACE, fail={function: UNKNOWN}))
    _look(roster, clock)

    assert [gpu.device for gpu in roster.gpus] == before


def test_that_a_gpu_whose_instances_are_not_for_this_user_stands_alone(
    roster: GpuRoster, clock: Clock, nvml_in_process: Standin
) -> None:
    fail = {"nvmlDeviceGetMigDeviceHandleByIndex": NO_PERMISSION}
    nvml_in_process.tell(StandinState(gpus=(MIG,)).with_gpu(0, fail=fail))
    _look(roster, clock)

    assert [(gpu.device.key, gpu.device.is_partitioned) for gpu in roster.gpus] == [
        (MIG.uuid, True)
    ]


def test_that_each_pair_of_whole_gpus_has_its_link_in_the_inventorys_order(
    roster: GpuRoster, clock: Clock
) -> None:
    _look(roster, clock)

    links = _links(roster)
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
    roster: GpuRoster, clock: Clock, nvml_in_process: Standin
) -> None:
    nvml_in_process.tell(NVLINK_PAIR)
    _look(roster, clock)

    (link,) = roster.links
    assert (link.kind, link.nvlink_count) == (LinkKind.NVLINK, 4)


def test_that_nvlinks_over_switches_reach_gpus_of_the_same_fabric_alone(
    roster: GpuRoster, clock: Clock, nvml_in_process: Standin
) -> None:
    nvml_in_process.tell(TWO_FABRICS)
    _look(roster, clock)

    keys = [gpu.uuid for gpu in TWO_FABRICS.gpus]
    counts = {pair: link.nvlink_count for pair, link in _links(roster).items()}
    assert counts == {
        (keys[0], keys[1]): 17,
        (keys[0], keys[2]): 0,
        (keys[0], keys[3]): 0,
        (keys[1], keys[2]): 0,
        (keys[1], keys[3]): 0,
        (keys[2], keys[3]): 15,
    }


def test_that_links_are_asked_for_once_while_the_same_gpus_answer(
    roster: GpuRoster, clock: Clock, nvml_in_process: Standin
) -> None:
    _look(roster, clock)
    counter = ctypes.CDLL(str(nvml_in_process.library))
    counter.standin_reset_calls()

    _look(roster, clock)
    _look(roster, clock)

    assert counter.standin_calls(b"nvmlDeviceGetTopologyCommonAncestor") == 0
    assert counter.standin_calls(b"nvmlDeviceGetNvLinkState") == 0


def test_that_the_links_of_a_lost_gpu_stay_known(
    roster: GpuRoster, clock: Clock, nvml_in_process: Standin
) -> None:
    _look(roster, clock)
    before = roster.links

    nvml_in_process.tell(_MIXED.with_gpu(3, lost=True))
    lost = next(gpu for gpu in roster.gpus if gpu.device.key == LOST.uuid)
    roster.lose(lost)
    _look(roster, clock)

    assert LOST.uuid not in _answering(roster)
    assert roster.links == before


def test_that_a_driver_that_does_not_tell_topology_leaves_links_out(
    roster: GpuRoster, clock: Clock, nvml_in_process: Standin
) -> None:
    fail = {"nvmlDeviceGetTopologyCommonAncestor": 13}
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, fail=fail))
    _look(roster, clock)

    assert roster.links == ()
    assert _answering(roster) == {RTX_4090.uuid, RTX_3060.uuid}


def test_that_facts_told_once_are_kept_until_another_driver_answers(
    roster: GpuRoster, clock: Clock, nvml_in_process: Standin
) -> None:
    _look(roster, clock)
    counter = ctypes.CDLL(str(nvml_in_process.library))
    counter.standin_reset_calls()

    # One is taken out: the driver is initialised anew, and the others are listed anew.
    nvml_in_process.tell(StandinState(gpus=_MIXED.gpus[1:]))
    _look(roster, clock)
    assert counter.standin_calls(b"nvmlInitWithFlags") == 1
    # The bare one alone, which told nothing that could be kept.
    assert counter.standin_calls(b"nvmlDeviceGetArchitecture") == 1

    newer = _MIXED.with_gpu(0, name="NVIDIA GeForce RTX 4090 Renamed")
    nvml_in_process.tell(replace(newer, driver="580.65.06"))
    _look(roster, clock)
    assert _device(roster, RTX_4090.uuid).name == "NVIDIA GeForce RTX 4090 Renamed"
    assert counter.standin_calls(b"nvmlDeviceGetArchitecture") == 1 + 8


def test_that_a_gpu_in_another_slot_is_the_same_gpu(
    roster: GpuRoster, clock: Clock, nvml_in_process: Standin
) -> None:
    nvml_in_process.tell(StandinState(gpus=(RTX_4090,)))
    _look(roster, clock)
    nvml_in_process.tell(StandinState(gpus=()))
    _look(roster, clock)

    nvml_in_process.tell(StandinState(gpus=(replace(RTX_4090, bus="00000000:41:00.0"),)))
    _look(roster, clock)

    assert [gpu.device.pci_bus_id for gpu in roster.gpus] == ["00000000:41:00.0"]
