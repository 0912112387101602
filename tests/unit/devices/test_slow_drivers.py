"""A GPU that answers slowly or never: the real pynvml against a stand-in that takes its time."""

import ctypes
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gpupanel.devices.gpus.facts import KnownGpu
from gpupanel.devices.gpus.registry import GpuRegistry
from gpupanel.devices.nvml import library as library_module
from gpupanel.devices.sampler import PATIENT_S, DeviceSampler
from gpupanel.devices.slow_calls import SlowCallThreads
from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.telemetry import DeviceReading, DeviceState
from tests.nvml.standin import (
    DRIVER_NOT_LOADED,
    RTX_3060,
    RTX_4090,
    TWO_UNEQUAL_GPUS,
    Standin,
    StandinState,
)

PATIENCE_S = 0.15
SLOW_MS = 60
"""A call; of a reading with its twenty calls this makes more than a second."""
WAIT_S = 20.0
SLOW_FIRST = TWO_UNEQUAL_GPUS.with_gpu(0, slow_ms=SLOW_MS)


@pytest.fixture
def threads(request: pytest.FixtureRequest) -> SlowCallThreads:
    return SlowCallThreads(getattr(request, "param", PATIENCE_S))


@pytest.fixture
def sampler(
    nvml_in_process: Standin, threads: SlowCallThreads, tmp_path: Path
) -> Iterator[DeviceSampler]:
    registry = GpuRegistry(kernel_gpus=tmp_path / "nothing", make_calls=threads.make_calls)
    with DeviceSampler(registry, threads=threads) as sampler:
        yield sampler
    assert threads.thread_count == 0


def _readings(sampler: DeviceSampler) -> dict[str, DeviceReading]:
    return {reading.key: reading for reading in sampler.sample().readings}


def _until(
    sampler: DeviceSampler, holds: Callable[[dict[str, DeviceReading]], bool]
) -> dict[str, DeviceReading]:
    """Sample until it holds, as often as the window does relative to how slow a GPU is."""
    deadline = time.monotonic() + WAIT_S
    while not holds(readings := _readings(sampler)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert holds(readings)
    return readings


# So patient that no call is slow that only waits for a processor.
@pytest.mark.parametrize("threads", [WAIT_S], indirect=True)
def test_that_where_all_is_quick_one_thread_asks_and_nothing_is_old(
    sampler: DeviceSampler, threads: SlowCallThreads
) -> None:
    for _ in range(3):
        assert [reading.age_s for reading in _readings(sampler).values()] == [0.0, 0.0, 0.0]

    # Finding the GPUs is a call that makes others, in a second thread, which ends after it.
    assert threads.wait_until(lambda: threads.thread_count == 1, WAIT_S)


def test_that_a_gpu_that_becomes_slow_has_its_last_reading_and_the_others_go_on(
    sampler: DeviceSampler, nvml_in_process: Standin
) -> None:
    sampler.sample()
    changed = SLOW_FIRST.with_gpu(0, temperature_c=90).with_gpu(1, temperature_c=60)
    nvml_in_process.tell(changed)

    began = time.monotonic()
    readings = [_readings(sampler) for _ in range(5)]
    took_s = time.monotonic() - began

    # Five samples take less than one reading of the slow GPU alone.
    assert took_s < 20 * SLOW_MS / 1000
    assert [found[RTX_3060.uuid].temperature_c for found in readings] == [60.0] * 5
    assert [found[RTX_3060.uuid].age_s for found in readings] == [0.0] * 5
    slow = [found[RTX_4090.uuid] for found in readings]
    assert [reading.temperature_c for reading in slow] == [51.0] * 5
    assert slow[-1].age_s >= slow[0].age_s > 0.0
    assert {reading.state for reading in slow} == {DeviceState.OK}

    fresh = _until(sampler, lambda found: found[RTX_4090.uuid].temperature_c == 90.0)
    assert fresh[RTX_4090.uuid].age_s > 0.0


def test_that_a_gpu_that_is_quick_again_is_as_the_others(
    sampler: DeviceSampler, nvml_in_process: Standin, threads: SlowCallThreads
) -> None:
    nvml_in_process.tell(SLOW_FIRST)
    _until(sampler, lambda found: found[RTX_4090.uuid].age_s > 0.0)

    nvml_in_process.tell(TWO_UNEQUAL_GPUS)
    _until(sampler, lambda found: found[RTX_4090.uuid].age_s == 0.0)
    _until(sampler, lambda found: threads.thread_count == 1)


def test_that_the_first_listing_waits_for_a_slow_gpu(
    sampler: DeviceSampler, nvml_in_process: Standin
) -> None:
    nvml_in_process.tell(SLOW_FIRST)

    assert [device.key for device in sampler.inventory().devices] == [
        RTX_4090.uuid,
        RTX_3060.uuid,
        CPU_KEY,
    ]


def test_that_who_asks_only_once_waits_for_the_readings(
    nvml_in_process: Standin, threads: SlowCallThreads, tmp_path: Path
) -> None:
    nvml_in_process.tell(SLOW_FIRST)
    registry = GpuRegistry(kernel_gpus=tmp_path / "nothing", make_calls=threads.make_calls)

    with DeviceSampler(registry, threads=threads, wait_s=PATIENT_S) as sampler:
        assert _readings(sampler)[RTX_4090.uuid].temperature_c == 51.0


def test_that_a_gpu_is_shown_lost_at_the_next_sample_while_another_is_slow(
    sampler: DeviceSampler, nvml_in_process: Standin
) -> None:
    nvml_in_process.tell(SLOW_FIRST)
    _until(sampler, lambda found: found[RTX_4090.uuid].age_s > 0.0)

    nvml_in_process.tell(SLOW_FIRST.with_gpu(1, lost=True))
    found = _readings(sampler)

    assert found[RTX_3060.uuid].state is DeviceState.LOST
    assert found[RTX_4090.uuid].state is DeviceState.OK


def test_that_a_slow_gpu_that_is_lost_is_shown_lost_when_its_call_comes_back(
    sampler: DeviceSampler, nvml_in_process: Standin
) -> None:
    nvml_in_process.tell(SLOW_FIRST)
    _until(sampler, lambda found: found[RTX_4090.uuid].age_s > 0.0)

    nvml_in_process.tell(SLOW_FIRST.with_gpu(0, lost=True))
    began = time.monotonic()
    _until(sampler, lambda found: found[RTX_4090.uuid].state is DeviceState.LOST)

    assert time.monotonic() - began < 1.0


def test_that_no_gpu_is_lost_for_a_reading_in_which_the_driver_was_opened_anew(
    sampler: DeviceSampler, nvml_in_process: Standin, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, waited = sampler._reading, []

    def late(gpu: KnownGpu, *arguments: Any, **named: Any) -> DeviceReading:
        """As on a busy machine: what was taken from the list is looked at after its end."""
        if gpu.nvml is None:
            waited.append(gpu.device.key)
            assert sampler._threads.wait_until(sampler._has_refreshed, WAIT_S)
        return reading(gpu, *arguments, **named)

    nvml_in_process.tell(replace(SLOW_FIRST, gpus=SLOW_FIRST.gpus[:1]))
    _until(sampler, lambda found: found[RTX_4090.uuid].age_s > 0.0)
    monkeypatch.setattr(sampler, "_reading", late)
    nvml_in_process.tell(SLOW_FIRST)
    states = set()

    def has_appeared(found: dict[str, DeviceReading]) -> bool:
        states.add(found[RTX_4090.uuid].state)
        return RTX_3060.uuid in found and bool(waited)

    _until(sampler, has_appeared)
    assert states == {DeviceState.OK}


def test_that_a_gpu_appears_while_another_is_slow_and_none_is_lost_for_it(
    sampler: DeviceSampler, nvml_in_process: Standin
) -> None:
    nvml_in_process.tell(replace(SLOW_FIRST, gpus=SLOW_FIRST.gpus[:1]))
    _until(sampler, lambda found: found[RTX_4090.uuid].age_s > 0.0)

    nvml_in_process.tell(SLOW_FIRST)
    began = time.monotonic()
    states = set()

    def has_appeared(found: dict[str, DeviceReading]) -> bool:
        states.add(found[RTX_4090.uuid].state)
        return RTX_3060.uuid in found

    _until(sampler, has_appeared)
    assert time.monotonic() - began < 2.0
    assert states == {DeviceState.OK}


def test_that_a_driver_that_goes_and_comes_back_has_its_quick_gpu_within_two_seconds(
    sampler: DeviceSampler, nvml_in_process: Standin
) -> None:
    nvml_in_process.tell(SLOW_FIRST)
    _until(sampler, lambda found: found[RTX_4090.uuid].age_s > 0.0)

    nvml_in_process.tell(replace(SLOW_FIRST, init=DRIVER_NOT_LOADED))
    began = time.monotonic()
    _until(sampler, lambda found: found[RTX_3060.uuid].state is DeviceState.LOST)
    assert time.monotonic() - began < 1.0

    nvml_in_process.tell(SLOW_FIRST)
    began = time.monotonic()
    _until(sampler, lambda found: found[RTX_3060.uuid].state is DeviceState.OK)
    assert time.monotonic() - began < 2.0


def test_that_closing_waits_for_no_call_that_never_returns_and_shuts_down_after_it(
    nvml_standin: Standin,
    use_in_process: Callable[[Standin], ctypes.CDLL],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import pynvml

    monkeypatch.setattr(library_module, "_CLOSE_WAIT_S", 0.05)
    counter = use_in_process(nvml_standin)
    counter.standin_reset_calls()
    sampler = DeviceSampler()
    sampler.sample()
    nvml_standin.tell(TWO_UNEQUAL_GPUS.with_gpu(0, slow_ms=1_500))
    sampler.sample()

    began = time.monotonic()
    sampler.close()
    assert time.monotonic() - began < 1.2
    assert pynvml._nvmlLib_refcount == 1
    calls = counter.standin_calls(b"")

    [held_up] = [each for each in threading.enumerate() if each.name == "gpupanel-devices"]
    held_up.join(WAIT_S)
    assert pynvml._nvmlLib_refcount == 0
    # Nothing but the end of NVML came after the call that was under way.
    assert counter.standin_calls(b"") == calls + 1
    assert counter.standin_calls(b"nvmlShutdown") == 1


def test_that_a_machine_whose_driver_lists_no_gpu_yet_says_why(
    nvml_in_process: Standin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = threading.Event()
    registry = GpuRegistry(kernel_gpus=tmp_path / "nothing")
    monkeypatch.setattr(registry, "refresh", lambda: answers.wait(WAIT_S))
    monkeypatch.setattr("gpupanel.devices.sampler.PATIENT_S", 0.05)

    with DeviceSampler(registry, threads=SlowCallThreads(PATIENCE_S)) as sampler:
        inventory = sampler.inventory()
        sample = sampler.sample()
        answers.set()

    assert "has not answered yet" in str(inventory.problem)
    assert [device.key for device in inventory.devices] == [CPU_KEY]
    assert [reading.key for reading in sample.readings] == [CPU_KEY]


def test_that_a_disk_that_never_answers_holds_up_nothing(
    nvml_in_process: Standin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = threading.Event()
    monkeypatch.setattr(
        "gpupanel.devices.sampler.disk_reading", lambda folder: answers.wait(WAIT_S) and None
    )
    registry = GpuRegistry(kernel_gpus=tmp_path / "nothing")

    with DeviceSampler(registry, folder=tmp_path, threads=SlowCallThreads(PATIENCE_S)) as sampler:
        sample = sampler.sample()
        answers.set()

    assert sample.disk is None
    assert [reading.age_s for reading in sample.readings] == [0.0, 0.0, 0.0]


def test_that_a_sample_reports_how_full_the_folders_disk_is(
    nvml_in_process: Standin, tmp_path: Path
) -> None:
    nvml_in_process.tell(StandinState(gpus=()))

    with DeviceSampler(folder=tmp_path) as sampler:
        sample = sampler.sample()

    assert sample.disk is not None
    assert sample.disk.path == str(tmp_path)
