"""All devices together: the real pynvml against the stand-in library, the real host."""

import ctypes
import getpass
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from gpupanel.devices.gpus.registry import REFRESH_INTERVAL_S, GpuRegistry
from gpupanel.devices.sampler import DeviceSampler
from gpupanel.domain.device import CPU_KEY, UnresponsiveGpu
from gpupanel.domain.gpu_claim import GpuClaim
from gpupanel.domain.gpu_failure import GpuFailure
from gpupanel.domain.network_access import NetworkAccess
from gpupanel.domain.telemetry import DeviceProcess, DeviceReading, DeviceState
from tests.fakes.clock import Clock
from tests.nvml.standin import (
    DRIVER_NOT_LOADED,
    EIGHT_GPUS,
    FUNCTION_NOT_FOUND,
    GPU_IS_LOST,
    LIB_RM_VERSION_MISMATCH,
    NO_PERMISSION,
    NOT_SUPPORTED,
    RTX_3060,
    RTX_4090,
    TWO_UNEQUAL_GPUS,
    UNKNOWN,
    Standin,
    StandinState,
    device_functions,
)


def to_the_next_look(clock: Clock) -> None:
    clock.now_s += REFRESH_INTERVAL_S


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def kernel_gpus(tmp_path: Path) -> Path:
    folder = tmp_path / "kernel_gpus"
    folder.mkdir()
    return folder


@pytest.fixture
def sampler(nvml_in_process: Standin, clock: Clock, kernel_gpus: Path) -> Iterator[DeviceSampler]:
    with DeviceSampler(GpuRegistry(clock=clock, kernel_gpus=kernel_gpus)) as sampler:
        yield sampler


def _states(sampler: DeviceSampler) -> dict[str, DeviceState]:
    return {
        reading.key: reading.state
        for reading in sampler.sample().readings
        if reading.key != CPU_KEY
    }


def _reading(sampler: DeviceSampler, key: str) -> DeviceReading:
    reading = sampler.sample().reading(key)
    assert reading is not None
    return reading


def test_that_the_inventory_lists_gpus_by_pci_bus_and_the_cpu_last(
    sampler: DeviceSampler, nvml_in_process: Standin
) -> None:
    nvml_in_process.tell(StandinState(gpus=(RTX_3060, RTX_4090)))

    inventory = sampler.inventory()

    assert inventory.driver == "570.86.15"
    assert inventory.problem is None
    assert [device.key for device in inventory.devices] == [RTX_4090.uuid, RTX_3060.uuid, CPU_KEY]
    gpu = inventory.gpus[0]
    assert (gpu.name, gpu.memory_total_mib, gpu.compute_capability, gpu.power_limit_w) == (
        "NVIDIA GeForce RTX 4090",
        24_564,
        (8, 9),
        450.0,
    )


def test_that_the_inventory_is_the_same_object_until_something_changes(
    sampler: DeviceSampler, nvml_in_process: Standin, clock: Clock
) -> None:
    first = sampler.inventory()
    to_the_next_look(clock)
    assert sampler.inventory() is first

    nvml_in_process.tell(StandinState(gpus=(*TWO_UNEQUAL_GPUS.gpus, EIGHT_GPUS.gpus[0])))
    to_the_next_look(clock)
    changed = sampler.inventory()
    assert len(changed.gpus) == 3
    assert len(first.gpus) == 2


def test_that_a_sample_has_a_reading_of_each_device_in_the_inventorys_order(
    sampler: DeviceSampler,
) -> None:
    sample = sampler.sample()

    assert [reading.key for reading in sample.readings] == [
        device.key for device in sampler.inventory().devices
    ]
    reading = sample.readings[0]
    assert reading.state is DeviceState.OK
    assert (reading.memory_used_mib, reading.memory_free_mib, reading.memory_total_mib) == (
        1_200,
        22_964,
        24_564,
    )
    assert reading.gpu_utilization_percent == 37.0
    assert reading.temperature_c == 51.0
    assert reading.power_w == pytest.approx(120.5)


def test_that_processes_are_merged_by_pid_and_named(
    sampler: DeviceSampler, nvml_in_process: Standin
) -> None:
    me = os.getpid()
    gone = 2**22 + 1  # above the greatest pid that Linux gives out
    nvml_in_process.tell(
        TWO_UNEQUAL_GPUS.with_gpu(
            0,
            compute=((me, 900), (me, 100), (gone, None)),
            graphics=((me, 950),),
            mps=((gone, 0),),
        )
    )

    mine, other = _reading(sampler, RTX_4090.uuid).processes
    assert (mine.pid, mine.memory_used_mib, mine.is_mine) == (me, 1_000, True)
    assert (mine.name, mine.user) == (psutil.Process().name(), getpass.getuser())
    assert other == DeviceProcess(pid=gone, memory_used_mib=0)


def test_that_a_lost_gpu_is_shown_lost_while_others_go_on_and_comes_back(
    sampler: DeviceSampler, nvml_in_process: Standin, clock: Clock
) -> None:
    both_ok = {RTX_4090.uuid: DeviceState.OK, RTX_3060.uuid: DeviceState.OK}
    first_lost = {RTX_4090.uuid: DeviceState.LOST, RTX_3060.uuid: DeviceState.OK}
    assert _states(sampler) == both_ok

    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, lost=True))
    assert _states(sampler) == first_lost
    to_the_next_look(clock)
    assert _states(sampler) == first_lost
    lost = _reading(sampler, RTX_4090.uuid)
    assert (lost.memory_used_mib, lost.temperature_c, lost.memory_total_mib) == (None, None, 24_564)
    assert len(sampler.inventory().gpus) == 2

    nvml_in_process.tell(TWO_UNEQUAL_GPUS)
    to_the_next_look(clock)
    assert _states(sampler) == both_ok


def test_that_a_gpu_that_stays_lost_is_logged_once(
    sampler: DeviceSampler,
    nvml_in_process: Standin,
    clock: Clock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    sampler.sample()
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, lost=True))
    for _ in range(3):
        sampler.sample()
        to_the_next_look(clock)

    assert [record.message for record in caplog.records] == [
        (
            f"NVIDIA GeForce RTX 4090 ({RTX_4090.uuid}) does not answer any more: "
            "the driver says: GPU is lost (NVML error 15)"
        )
    ]


def test_that_the_only_gpu_comes_back_after_it_was_lost(
    sampler: DeviceSampler, nvml_in_process: Standin, clock: Clock
) -> None:
    only = StandinState(gpus=(RTX_4090,))
    nvml_in_process.tell(only)
    sampler.sample()
    nvml_in_process.tell(only.with_gpu(0, lost=True))
    assert _states(sampler) == {RTX_4090.uuid: DeviceState.LOST}

    nvml_in_process.tell(only)
    to_the_next_look(clock)
    assert _states(sampler) == {RTX_4090.uuid: DeviceState.OK}


@pytest.mark.parametrize(
    ("code", "word"), [(DRIVER_NOT_LOADED, "not loaded"), (LIB_RM_VERSION_MISMATCH, "updated")]
)
def test_that_a_driver_that_goes_loses_its_gpus_and_brings_them_back(
    sampler: DeviceSampler, nvml_in_process: Standin, clock: Clock, code: int, word: str
) -> None:
    sampler.sample()

    nvml_in_process.tell(replace(TWO_UNEQUAL_GPUS, init=code))
    assert set(_states(sampler).values()) == {DeviceState.LOST}
    assert sampler.inventory().driver is None
    assert word in str(sampler.inventory().problem)
    to_the_next_look(clock)
    assert set(_states(sampler).values()) == {DeviceState.LOST}

    nvml_in_process.tell(TWO_UNEQUAL_GPUS)
    to_the_next_look(clock)
    assert set(_states(sampler).values()) == {DeviceState.OK}
    assert sampler.inventory().driver == "570.86.15"
    assert sampler.inventory().problem is None


def test_that_a_driver_that_comes_later_is_noticed(
    sampler: DeviceSampler, nvml_in_process: Standin, clock: Clock
) -> None:
    nvml_in_process.tell(StandinState(gpus=(), init=NO_PERMISSION))
    assert [device.key for device in sampler.inventory().devices] == [CPU_KEY]
    assert "may not use" in str(sampler.inventory().problem)

    nvml_in_process.tell(TWO_UNEQUAL_GPUS)
    to_the_next_look(clock)
    assert len(sampler.inventory().gpus) == 2


def test_that_a_gpu_that_appears_is_listed(
    sampler: DeviceSampler, nvml_in_process: Standin, clock: Clock
) -> None:
    nvml_in_process.tell(StandinState(gpus=(RTX_3060,)))
    assert _states(sampler) == {RTX_3060.uuid: DeviceState.OK}

    nvml_in_process.tell(TWO_UNEQUAL_GPUS)
    to_the_next_look(clock)
    assert list(_states(sampler)) == [RTX_4090.uuid, RTX_3060.uuid]


def test_that_a_gpu_that_only_the_kernel_lists_so_far_initialises_nvml_anew(
    sampler: DeviceSampler, nvml_in_process: Standin, clock: Clock, kernel_gpus: Path
) -> None:
    counter = ctypes.CDLL(str(nvml_in_process.library))
    sampler.sample()
    counter.standin_reset_calls()

    to_the_next_look(clock)
    sampler.sample()
    assert counter.standin_calls(b"nvmlInitWithFlags") == 0

    (kernel_gpus / "0000:03:00.0").mkdir()
    to_the_next_look(clock)
    sampler.sample()
    assert counter.standin_calls(b"nvmlInitWithFlags") == 1


def test_that_a_gpu_taken_out_is_lost_and_not_forgotten(
    sampler: DeviceSampler, nvml_in_process: Standin, clock: Clock
) -> None:
    sampler.sample()
    nvml_in_process.tell(StandinState(gpus=(RTX_3060,)))
    to_the_next_look(clock)

    assert _states(sampler) == {RTX_4090.uuid: DeviceState.LOST, RTX_3060.uuid: DeviceState.OK}


def test_that_a_gpu_that_was_lost_before_is_in_the_inventory_until_it_answers(
    sampler: DeviceSampler, nvml_in_process: Standin, clock: Clock
) -> None:
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(1, lost=True))
    inventory = sampler.inventory()
    failure = GpuFailure(said="GPU is lost", code=GPU_IS_LOST)
    assert inventory.unresponsive == (UnresponsiveGpu(failure=failure, index=1),)
    assert [gpu.key for gpu in inventory.gpus] == [RTX_4090.uuid]
    assert _states(sampler) == {RTX_4090.uuid: DeviceState.OK}
    nvml_in_process.tell(TWO_UNEQUAL_GPUS)
    to_the_next_look(clock)
    inventory = sampler.inventory()
    assert (inventory.unresponsive, len(inventory.gpus)) == ((), 2)


def test_that_a_bare_gpu_is_listed_with_what_it_reports(
    sampler: DeviceSampler, nvml_in_process: Standin
) -> None:
    codes = (NOT_SUPPORTED, FUNCTION_NOT_FOUND, NO_PERMISSION, UNKNOWN)
    fail = {name: codes[n % len(codes)] for n, name in enumerate(device_functions())}
    del fail["nvmlDeviceGetUUID"]
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, fail=fail))

    device = sampler.inventory().device(RTX_4090.uuid)
    assert device is not None
    assert (device.name, device.memory_total_mib, device.compute_capability) == (
        "NVIDIA GPU",
        None,
        None,
    )
    assert _reading(sampler, RTX_4090.uuid) == DeviceReading(key=RTX_4090.uuid)
    assert _reading(sampler, RTX_3060.uuid).temperature_c == 44.0


def test_that_a_gpu_without_an_identity_is_left_out_and_logged(
    sampler: DeviceSampler, nvml_in_process: Standin, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, fail={"nvmlDeviceGetUUID": NO_PERMISSION}))

    assert list(_states(sampler)) == [RTX_3060.uuid]
    assert "UUID" in caplog.text


def test_that_a_gpu_that_is_lost_while_it_is_listed_does_not_stop_the_others(
    sampler: DeviceSampler, nvml_in_process: Standin, clock: Clock
) -> None:
    fail = {"nvmlDeviceGetCudaComputeCapability": GPU_IS_LOST}
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, fail=fail))
    assert _states(sampler) == {RTX_3060.uuid: DeviceState.OK}

    nvml_in_process.tell(TWO_UNEQUAL_GPUS)
    to_the_next_look(clock)
    assert list(_states(sampler)) == [RTX_4090.uuid, RTX_3060.uuid]


def test_that_a_name_that_is_no_text_is_left_out(
    sampler: DeviceSampler, nvml_in_process: Standin
) -> None:
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, name="RTX \udcff"))

    device = sampler.inventory().device(RTX_4090.uuid)

    assert device is not None
    assert device.name == "NVIDIA GPU"


def test_that_static_facts_of_eight_gpus_are_fetched_once(
    sampler: DeviceSampler, nvml_in_process: Standin, clock: Clock
) -> None:
    nvml_in_process.tell(EIGHT_GPUS)
    counter = ctypes.CDLL(str(nvml_in_process.library))
    sampler.sample()
    counter.standin_reset_calls()

    for _ in range(10):
        to_the_next_look(clock)
        sampler.sample()

    static = ("Name", "UUID", "PciInfo_v3", "CudaComputeCapability", "EnforcedPowerLimit")
    static += ("HandleByIndex_v2",)
    assert [counter.standin_calls(f"nvmlDeviceGet{name}".encode()) for name in static] == [0] * 6
    assert counter.standin_calls(b"nvmlInitWithFlags") == 0
    assert counter.standin_calls(b"nvmlDeviceGetCount_v2") == 10
    # Memory, utilization, temperature, power; once a second three process lists, the one that is
    # not empty in two calls (GPU 0 of the eight holds a process too).
    assert 10 * (8 * 4 + 1) <= counter.standin_calls(b"") <= 10 * (8 * 8 + 1)


def test_that_the_driver_is_asked_once_an_interval_however_often_one_samples(
    sampler: DeviceSampler, nvml_in_process: Standin
) -> None:
    counter = ctypes.CDLL(str(nvml_in_process.library))
    sampler.sample()
    counter.standin_reset_calls()

    for _ in range(5):
        sampler.sample()
        sampler.inventory()

    assert counter.standin_calls(b"nvmlDeviceGetCount_v2") == 0


def test_that_constructing_does_not_wait_for_the_driver(nvml_in_process: Standin) -> None:
    counter = ctypes.CDLL(str(nvml_in_process.library))
    counter.standin_reset_calls()

    with DeviceSampler():
        assert counter.standin_calls(b"") == 0


def test_that_closing_lets_the_driver_go(
    nvml_standin: Standin, use_in_process: Callable[[Standin], ctypes.CDLL]
) -> None:
    counter = use_in_process(nvml_standin)
    counter.standin_reset_calls()
    sampler = DeviceSampler()
    sampler.sample()
    sampler.close()

    assert counter.standin_calls(b"nvmlInitWithFlags") == 1
    assert counter.standin_calls(b"nvmlShutdown") == 1


def test_that_a_machine_without_a_driver_has_its_cpu(tmp_path: Path) -> None:
    # A child, with a folder in front that has no library: even where a driver is installed this
    # process may have loaded the stand-in.
    code = (
        "import pynvml\n"
        "def refuse(name): raise OSError(name)\n"
        "pynvml.CDLL = refuse\n"
        "from gpupanel.devices.sampler import DeviceSampler\n"
        "with DeviceSampler() as sampler:\n"
        "    inventory, sample = sampler.inventory(), sampler.sample()\n"
        "print([d.key for d in inventory.devices], inventory.driver)\n"
        "print([r.state.value for r in sample.readings])\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )

    assert answer.stdout.splitlines() == ["['cpu'] None", "['ok']"]
    assert answer.stderr == ""


def test_that_who_could_reach_a_run_is_asked_once_and_holds_up_no_device() -> None:
    answered, asked = threading.Event(), []

    def ask() -> NetworkAccess:
        asked.append(None)
        answered.wait(10.0)
        return NetworkAccess(other_users=("ann",))

    with DeviceSampler(ask_network=ask) as sampler:
        assert sampler.inventory().network is None
        answered.set()
        end_s = time.monotonic() + 10.0
        while sampler.inventory().network is None:
            assert time.monotonic() < end_s
            time.sleep(0.01)
        assert sampler.inventory().network == NetworkAccess(other_users=("ann",))
    assert len(asked) == 1


def test_that_who_asks_only_once_waits_for_who_could_reach_a_run() -> None:
    def ask() -> NetworkAccess:
        time.sleep(0.5)
        return NetworkAccess(other_users=("ann",))

    with DeviceSampler(wait_s=10.0, ask_network=ask) as sampler:
        assert sampler.inventory().network == NetworkAccess(other_users=("ann",))


@pytest.mark.usefixtures("nvml_in_process")
def test_that_claims_of_others_stand_with_the_gpus_that_they_are_to() -> None:
    claim = GpuClaim(user="ada", since_s=1_000.0)
    found = {RTX_4090.uuid: (claim,), "GPU-that-is-not-here": (claim,)}
    with DeviceSampler(find_claims=lambda: found) as sampler:
        sampler.inventory()
        readings = {each.key: each.claims for each in sampler.sample().readings}
        assert readings == {RTX_4090.uuid: (claim,), RTX_3060.uuid: (), CPU_KEY: ()}
        found.clear()
        assert not any(each.claims for each in sampler.sample().readings)


@pytest.mark.usefixtures("nvml_in_process")
def test_that_a_folder_of_claims_that_hangs_holds_up_no_reading() -> None:
    goes_on = threading.Event()

    def wait() -> dict[str, tuple[GpuClaim, ...]]:
        goes_on.wait(30.0)
        return {}

    with DeviceSampler(find_claims=wait) as sampler:
        sampler.inventory()
        assert len(sampler.sample().readings) == 3
        begun_s = time.monotonic()
        assert sampler.sample().reading(RTX_4090.uuid).state is DeviceState.OK
        assert time.monotonic() - begun_s < 10.0
        goes_on.set()
