"""GPUs that the kernel has put to sleep are not woken, and idle ones may fall asleep."""

import ctypes
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpupanel.devices import sampler as sampler_module
from gpupanel.devices.gpus.power_states import REST_S
from gpupanel.devices.sampler import DeviceSampler
from gpupanel.domain.telemetry import DeviceState
from tests.nvml.laptop import Laptop
from tests.nvml.standin import RTX_3060, RTX_4090, TWO_UNEQUAL_GPUS, Standin

IDLE = TWO_UNEQUAL_GPUS.with_gpu(0, utilization_percent=0).with_gpu(1, utilization_percent=0)
_WAKING = (b"nvmlDeviceGetHandleByIndex_v2", b"nvmlDeviceGetUUID", b"nvmlDeviceGetMemoryInfo_v2")


@pytest.fixture
def laptop(tmp_path: Path) -> Laptop:
    return Laptop(tmp_path)


@pytest.fixture
def sampler(nvml_in_process: Standin, laptop: Laptop) -> Iterator[DeviceSampler]:
    nvml_in_process.tell(IDLE)
    with DeviceSampler(laptop.registry()) as sampler:
        yield sampler


@pytest.fixture
def counter(nvml_in_process: Standin) -> ctypes.CDLL:
    library = ctypes.CDLL(str(nvml_in_process.library))
    library.standin_reset_calls()
    return library


def _states(sampler: DeviceSampler) -> dict[str, DeviceState]:
    return {each.key: each.state for each in sampler.sample().readings if each.key != "cpu"}


def test_that_a_gpu_that_sleeps_before_it_was_seen_is_listed_by_the_kernel_and_not_asked(
    sampler: DeviceSampler, laptop: Laptop, counter: ctypes.CDLL
) -> None:
    laptop.put(RTX_4090, "suspended")
    laptop.put(RTX_3060, "suspended")
    for _ in range(3):
        states = _states(sampler)
        assert states == dict.fromkeys((RTX_4090.uuid, RTX_3060.uuid), DeviceState.ASLEEP)
        laptop.wind()
    assert [counter.standin_calls(name) for name in _WAKING] == [0, 0, 0]
    # Nor is NVML opened anew again and again, since nobody answers.
    assert counter.standin_calls(b"nvmlInitWithFlags") == 1
    inventory = sampler.inventory()
    assert [(gpu.key, gpu.name) for gpu in inventory.gpus] == [
        (RTX_4090.uuid, RTX_4090.name),
        (RTX_3060.uuid, RTX_3060.name),
    ]
    assert inventory.unresponsive == ()

    laptop.put(RTX_3060, "active")
    laptop.wind()
    assert _states(sampler)[RTX_3060.uuid] is DeviceState.OK
    assert sampler.inventory().gpus[1].memory_total_mib == RTX_3060.memory_total_mib
    assert counter.standin_calls(b"nvmlDeviceGetUUID") == 1


def test_that_a_gpu_that_falls_asleep_is_asked_nothing_more_while_the_others_are(
    sampler: DeviceSampler, laptop: Laptop, nvml_in_process: Standin, counter: ctypes.CDLL
) -> None:
    nvml_in_process.tell(TWO_UNEQUAL_GPUS)
    assert set(_states(sampler).values()) == {DeviceState.OK}
    laptop.put(RTX_4090, "suspended")
    counter.standin_reset_calls()
    for _ in range(3):
        laptop.wind()
        states = _states(sampler)
        assert states == {RTX_4090.uuid: DeviceState.ASLEEP, RTX_3060.uuid: DeviceState.OK}
    assert counter.standin_calls(b"nvmlDeviceGetMemoryInfo_v2") == 3
    reading = sampler.sample().reading(RTX_4090.uuid)
    assert reading is not None
    assert (reading.memory_used_mib, reading.memory_total_mib) == (None, 24_564)
    laptop.put(RTX_4090, "active")
    laptop.wind()
    assert _states(sampler)[RTX_4090.uuid] is DeviceState.OK


def test_that_a_sleeping_gpu_whose_uuid_nobody_knows_is_shown_and_can_be_woken(
    sampler: DeviceSampler, laptop: Laptop, counter: ctypes.CDLL
) -> None:
    laptop.know(RTX_4090, "GPU-????????-????-????-????????????")
    laptop.put(RTX_4090, "suspended")
    inventory = sampler.inventory()
    assert [gpu.key for gpu in inventory.gpus] == [RTX_3060.uuid]
    (asleep,) = inventory.unresponsive
    assert asleep.is_asleep
    assert asleep.sentence.startswith("NVIDIA GeForce RTX 4090 at 0000:01:00.0 is asleep")
    assert counter.standin_calls(b"nvmlDeviceGetHandleByIndex_v2") == 1

    sampler.wake()
    laptop.wind()
    assert [gpu.key for gpu in sampler.inventory().gpus] == [RTX_4090.uuid, RTX_3060.uuid]
    assert sampler.inventory().unresponsive == ()


def test_that_who_is_about_to_use_gpus_wakes_them(nvml_in_process: Standin, laptop: Laptop) -> None:
    laptop.put(RTX_4090, "suspended")
    with DeviceSampler(laptop.registry(wakes=True)) as sampler:
        assert set(_states(sampler).values()) == {DeviceState.OK}
        assert sampler.inventory().gpus[0].memory_total_mib == 24_564


def test_that_idle_gpus_that_may_sleep_are_let_go_until_they_sleep_or_half_a_minute_is_over(
    sampler: DeviceSampler,
    laptop: Laptop,
    counter: ctypes.CDLL,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sampler_module, "IDLE_S", 0.0)
    assert set(_states(sampler).values()) == {DeviceState.OK}
    assert set(_states(sampler).values()) == {DeviceState.OK}
    counter.standin_reset_calls()
    laptop.wind(REST_S - 1.0)
    assert set(_states(sampler).values()) == {DeviceState.RESTING}
    assert sampler.inventory().driver == "570.86.15"
    assert [gpu.key for gpu in sampler.inventory().gpus] == [RTX_4090.uuid, RTX_3060.uuid]
    assert counter.standin_calls(b"") == 0

    laptop.put(RTX_4090, "suspended")
    laptop.put(RTX_3060, "suspended")
    laptop.wind(10 * REST_S)
    assert set(_states(sampler).values()) == {DeviceState.ASLEEP}
    assert counter.standin_calls(b"") == 0

    laptop.put(RTX_4090, "active")
    laptop.put(RTX_3060, "active")
    laptop.wind()
    assert set(_states(sampler).values()) == {DeviceState.OK}


@pytest.mark.parametrize("why", ["busy", "never sleeps"])
def test_that_gpus_that_are_used_or_never_sleep_are_asked_on(
    sampler: DeviceSampler,
    laptop: Laptop,
    nvml_in_process: Standin,
    monkeypatch: pytest.MonkeyPatch,
    why: str,
) -> None:
    monkeypatch.setattr(sampler_module, "IDLE_S", 0.0)
    if why == "busy":
        nvml_in_process.tell(IDLE.with_gpu(1, utilization_percent=3))
    else:
        laptop.put(RTX_3060, "active", control="on")
    for _ in range(4):
        assert set(_states(sampler).values()) == {DeviceState.OK}
        laptop.wind()


def test_that_where_driver_and_kernel_count_otherwise_no_gpu_is_taken_for_asleep_unseen(
    sampler: DeviceSampler, laptop: Laptop
) -> None:
    (laptop.kernel_gpus / "0000:09:00.0").mkdir()
    laptop.put(RTX_4090, "suspended")
    sampler.sample()
    assert len(sampler.inventory().gpus) == 2
