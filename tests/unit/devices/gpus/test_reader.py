"""One GPU read whole: the real pynvml against the stand-in library."""

import ctypes
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpupanel.devices.gpus.processes import ProcessNames
from gpupanel.devices.gpus.reader import PROCESS_USE_INTERVAL_S, SLOW_FACTS_INTERVAL_S, GpuReader
from gpupanel.devices.nvml import DriverGoneError, NvmlLibrary
from gpupanel.devices.sampler import PATIENT_S, DeviceSampler
from gpupanel.domain.telemetry import ComputeMode, DeviceReading, DeviceState, ThrottleReason
from tests.fakes.clock import Clock
from tests.nvml.listed import gpus_of
from tests.nvml.machines import BARE, EIGHT_MIXED, HOPPER, INSTANCES, KEPLER, LOST, MIG, SLOW
from tests.nvml.standin import (
    FUNCTION_NOT_FOUND,
    NO_PERMISSION,
    NOT_SUPPORTED,
    RTX_3060,
    RTX_4090,
    TWO_UNEQUAL_GPUS,
    UNKNOWN,
    Standin,
    StandinState,
)

SLOW_PLACE, LOST_PLACE = EIGHT_MIXED.gpus.index(SLOW), EIGHT_MIXED.gpus.index(LOST)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def library(nvml_in_process: Standin) -> Iterator[NvmlLibrary]:
    library = NvmlLibrary()
    library.open()
    yield library
    library.close()


@pytest.fixture
def reader(library: NvmlLibrary, clock: Clock) -> GpuReader:
    return GpuReader(RTX_4090.uuid, next(gpus_of(library)), ProcessNames(), clock)


def test_that_a_reading_has_everything_that_the_gpu_reports(
    reader: GpuReader, nvml_in_process: Standin, clock: Clock
) -> None:
    nvml_in_process.tell(
        TWO_UNEQUAL_GPUS.with_gpu(
            0,
            ecc_corrected=3,
            ecc_uncorrected=1,
            remapped_rows_corrected=2,
            remapped_rows_uncorrected=0,
            compute_mode=3,
            compute=((os.getpid(), 900),),
        )
    )
    reader.read()
    reading = reader.reading(clock())

    [process] = reading.processes
    assert (process.pid, process.memory_used_mib, process.is_mine) == (os.getpid(), 900, True)
    assert reading == DeviceReading(
        key=RTX_4090.uuid,
        memory_used_mib=1_200,
        memory_free_mib=22_964,
        memory_total_mib=24_564,
        memory_reserved_mib=400,
        gpu_utilization_percent=37.0,
        memory_utilization_percent=12.0,
        temperature_c=51.0,
        power_w=120.5,
        power_limit_w=450.0,
        fan_percent=34.0,
        clock_mhz=2_520,
        memory_clock_mhz=10_501,
        throttle_reasons=(ThrottleReason.POWER_CAP,),
        pcie_generation=4,
        pcie_width=16,
        ecc_corrected=3,
        ecc_uncorrected=1,
        retired_pages=2,
        compute_mode=ComputeMode.EXCLUSIVE_PROCESS,
        processes=(process,),
    )


def test_that_a_process_that_only_draws_is_told_from_those_that_compute(
    reader: GpuReader, nvml_in_process: Standin, clock: Clock
) -> None:
    nvml_in_process.tell(
        TWO_UNEQUAL_GPUS.with_gpu(
            0, compute=((71, 900),), graphics=((70, 80), (71, 900)), mps=((72, 10),)
        )
    )
    reader.read()
    only_draw = {each.pid: each.only_draws for each in reader.reading(clock()).processes}
    assert only_draw == {70: True, 71: False, 72: False}


def test_that_what_hardly_changes_is_asked_for_only_now_and_then(
    reader: GpuReader, nvml_in_process: Standin, clock: Clock
) -> None:
    slowly = [b"nvmlDeviceGetEnforcedPowerLimit", b"nvmlDeviceGetTotalEccErrors"]
    counter = ctypes.CDLL(str(nvml_in_process.library))
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, ecc_corrected=0, ecc_uncorrected=0))
    counter.standin_reset_calls()
    for _ in range(3):
        reader.read()
    assert [counter.standin_calls(name) for name in slowly] == [1, 2]
    assert counter.standin_calls(b"nvmlDeviceGetPowerUsage") == 3

    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, power_limit_mw=300_000))
    reader.read()
    assert reader.reading(clock()).power_limit_w == 450.0
    clock.now_s += SLOW_FACTS_INTERVAL_S
    reader.read()
    assert reader.reading(clock()).power_limit_w == 300.0


def test_that_a_busy_gpu_is_asked_no_more_than_curves_and_processes_need(
    reader: GpuReader, nvml_in_process: Standin, clock: Clock
) -> None:
    counter = ctypes.CDLL(str(nvml_in_process.library))
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, energy_mj=1_000, compute=((71, 900),)))
    for _ in range(2):
        reader.read()  # what it does not support is asked for once
    clock.now_s += 60.0
    reader.read()
    counter.standin_reset_calls()
    for _ in range(20):
        clock.now_s += 0.5
        reader.read()
    calls = {
        name: counter.standin_calls(f"nvmlDeviceGet{name}".encode())
        for name in (
            *("MemoryInfo_v2", "UtilizationRates", "Temperature", "PowerUsage"),
            *("TotalEnergyConsumption", "CurrentClocksEventReasons"),
            *("FanSpeed_v2", "CurrPcieLinkWidth", "GraphicsRunningProcesses_v3"),
            "EnforcedPowerLimit",
        )
    }
    # In ten seconds of two samples each: curves each time, who is there each second, what no
    # curve shows every other second (two fans).
    assert list(calls.values()) == [20, 20, 20, 20, 20, 20, 10, 5, 10, 1]
    assert counter.standin_calls(b"") / 10.0 <= 22.0


def test_that_who_comes_or_goes_is_seen_at_once_by_the_memory_that_is_held(
    reader: GpuReader, nvml_in_process: Standin, clock: Clock
) -> None:
    reader.read()
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, compute=((71, 900),), memory_used_mib=2_100))
    reader.read()
    assert [each.pid for each in reader.reading(clock()).processes] == [71]
    nvml_in_process.tell(TWO_UNEQUAL_GPUS)
    reader.read()
    assert reader.reading(clock()).processes == ()


def test_that_each_process_has_its_part_of_the_gpus_time(
    reader: GpuReader, nvml_in_process: Standin, clock: Clock
) -> None:
    holding = ((71, 900), (72, 300), (73, 100))
    nvml_in_process.tell(
        TWO_UNEQUAL_GPUS.with_gpu(
            0,
            compute=holding,
            # The newest of each counts. One that is old does not, one that cannot be true is none.
            process_use=((71, 20, 900), (71, 60, 300), (72, 50, 60_000), (73, 4_000, 10)),
        )
    )
    reader.read()
    shown = {each.pid: each.utilization_percent for each in reader.reading(clock()).processes}
    assert shown == {71: 60.0, 72: 0.0, 73: None}

    nvml_in_process.tell(
        TWO_UNEQUAL_GPUS.with_gpu(0, compute=holding, process_use=((71, 20, 60_000),))
    )
    clock.now_s += PROCESS_USE_INTERVAL_S
    reader.read()
    shown = {each.pid: each.utilization_percent for each in reader.reading(clock()).processes}
    assert shown == {71: 0.0, 72: 0.0, 73: 0.0}


@pytest.mark.parametrize("code", [NOT_SUPPORTED, FUNCTION_NOT_FOUND, NO_PERMISSION, UNKNOWN])
def test_that_the_use_of_processes_is_not_known_where_the_driver_does_not_say(
    reader: GpuReader, nvml_in_process: Standin, clock: Clock, code: int
) -> None:
    fail = {"nvmlDeviceGetProcessUtilization": code}
    nvml_in_process.tell(
        TWO_UNEQUAL_GPUS.with_gpu(0, compute=((71, 900),), process_use=((71, 20, 0),), fail=fail)
    )
    reader.read()
    [process] = reader.reading(clock()).processes
    assert (process.memory_used_mib, process.utilization_percent) == (900, None)
    assert reader.failure is None


def test_that_the_use_of_processes_is_asked_for_once_a_second_and_where_there_are_any(
    reader: GpuReader, nvml_in_process: Standin, clock: Clock
) -> None:
    counter = ctypes.CDLL(str(nvml_in_process.library))
    name = b"nvmlDeviceGetProcessUtilization"
    counter.standin_reset_calls()
    reader.read()
    assert counter.standin_calls(name) == 0
    nvml_in_process.tell(
        TWO_UNEQUAL_GPUS.with_gpu(
            0, compute=((71, 900),), process_use=((71, 20, 0),), memory_used_mib=2_100
        )
    )
    for _ in range(3):
        reader.read()
    # Once for how many samples there are.
    assert counter.standin_calls(name) == 2
    clock.now_s += PROCESS_USE_INTERVAL_S
    reader.read()
    assert counter.standin_calls(name) == 4


def test_that_a_reading_is_as_old_as_when_it_was_asked_for(reader: GpuReader, clock: Clock) -> None:
    reader.read()
    begun_s = clock.now_s
    clock.now_s += 3.5

    assert reader.reading(since_s=begun_s).age_s == 0.0
    assert reader.reading(since_s=clock.now_s).age_s == 3.5


def test_that_a_gpu_that_never_answered_has_no_readings_and_an_age(
    reader: GpuReader, clock: Clock
) -> None:
    clock.now_s += 2.0

    assert reader.reading(clock()) == DeviceReading(key=RTX_4090.uuid, age_s=2.0)


def test_that_a_failure_is_kept_beside_the_last_reading(
    reader: GpuReader, nvml_in_process: Standin, clock: Clock
) -> None:
    reader.read()
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, lost=True))
    reader.read()

    assert reader.is_lost
    assert reader.reading(clock()).temperature_c == 51.0


def test_that_a_gpu_listed_anew_reports_its_last_reading_until_it_answers(
    reader: GpuReader, library: NvmlLibrary, clock: Clock
) -> None:
    reader.read()
    clock.now_s += 1.0
    library.close()
    reader.read()
    assert isinstance(reader.failure, DriverGoneError)

    library.open()
    nvml = next(gpus_of(library))
    anew = GpuReader(RTX_4090.uuid, nvml, ProcessNames(), clock, before=reader)

    assert anew.failure is None
    assert anew.reading(clock()).temperature_c == 51.0
    assert anew.reading(clock()).age_s == 1.0
    anew.read()
    assert anew.reading(clock()).age_s == 0.0


def test_that_a_gpu_that_was_lost_does_not_report_what_it_said_before(
    reader: GpuReader, library: NvmlLibrary, nvml_in_process: Standin, clock: Clock
) -> None:
    reader.read()
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, lost=True))
    reader.read()

    anew = GpuReader(RTX_4090.uuid, reader.nvml, ProcessNames(), clock, before=reader)

    assert anew.reading(clock()) == DeviceReading(key=RTX_4090.uuid)


def test_that_eight_gpus_of_mixed_ages_are_read_together(
    nvml_standin: Standin, use_in_process: Callable[[Standin], ctypes.CDLL], tmp_path: Path
) -> None:
    machine = EIGHT_MIXED.with_gpu(SLOW_PLACE, slow_ms=25)
    nvml_standin.tell(machine)
    use_in_process(nvml_standin)
    with DeviceSampler(folder=tmp_path, wait_s=PATIENT_S) as sampler:
        inventory = sampler.inventory()
        nvml_standin.tell(machine.with_gpu(LOST_PLACE, lost=True))
        sample = sampler.sample()
    found = {reading.key: reading for reading in sample.readings}

    assert list(found) == [device.key for device in inventory.devices]
    assert [key for key, each in found.items() if each.state is DeviceState.LOST] == [LOST.uuid]
    assert found[KEPLER.uuid].retired_pages == 3
    bare = found[BARE.uuid]
    assert (bare.memory_total_mib, bare.temperature_c, bare.power_w) == (None, None, None)
    assert found[SLOW.uuid].clock_mhz == 1_200
    assert found[HOPPER.uuid].throttle_reasons == (
        ThrottleReason.POWER_CAP,
        ThrottleReason.THERMAL,
    )
    assert [device.key for device in inventory.instances_of(MIG.uuid)] == [
        instance.uuid for instance in INSTANCES
    ]
    for instance in INSTANCES:
        reading = found[instance.uuid]
        assert reading.memory_used_mib == instance.memory_used_mib
        assert [process.pid for process in reading.processes] == [instance.compute[0][0]]
        assert reading.temperature_c is None
    assert found[RTX_3060.uuid].age_s == 0.0


def test_that_a_gpu_without_memory_readings_is_still_sampled(
    nvml_in_process: Standin,
) -> None:
    nvml_in_process.tell(StandinState(gpus=(BARE,)))

    with DeviceSampler() as sampler:
        reading = sampler.sample().readings[0]

    assert (reading.key, reading.state) == (BARE.uuid, DeviceState.OK)
