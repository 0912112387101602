"""Eight GPUs of mixed ages together: one lost, one bare, one slow, one in MIG mode."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpupanel.devices.gpus.registry import GpuRegistry
from gpupanel.devices.sampler import DeviceSampler
from gpupanel.devices.slow_calls import SlowCallThreads
from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.telemetry import DeviceReading, DeviceState, TelemetrySample
from tests.nvml.machines import BARE, EIGHT_MIXED, HOPPER, INSTANCES, KEPLER, LOST, MIG, SLOW
from tests.nvml.standin import RTX_3060, RTX_4090, Standin

_QUICK = EIGHT_MIXED.with_gpu(5, slow_ms=0)
_ONE_LOST_ONE_SLOW = EIGHT_MIXED.with_gpu(3, lost=True)
_INTERVAL_S = 0.5
_SHOWN_WITHIN_S = 2.0


@pytest.fixture
def sampler(nvml_in_process: Standin, tmp_path: Path) -> Iterator[DeviceSampler]:
    nvml_in_process.tell(_QUICK)
    threads = SlowCallThreads()
    registry = GpuRegistry(kernel_gpus=tmp_path / "none", make_calls=threads.make_calls)
    with DeviceSampler(registry, threads=threads) as sampler:
        yield sampler


def _reading(sample: TelemetrySample, key: str) -> DeviceReading:
    reading = sample.reading(key)
    assert reading is not None
    return reading


def test_that_each_of_eight_is_shown_as_it_is_within_two_seconds(
    sampler: DeviceSampler, nvml_in_process: Standin
) -> None:
    inventory = sampler.inventory()
    keys = (RTX_4090, RTX_3060, KEPLER, LOST, BARE, SLOW, MIG, *INSTANCES, HOPPER)
    assert [device.key for device in inventory.devices] == [*(gpu.uuid for gpu in keys), CPU_KEY]
    assert MIG.uuid not in {gpu.key for gpu in inventory.gpus}
    assert all(reading.state is DeviceState.OK for reading in sampler.sample().readings)

    nvml_in_process.tell(_ONE_LOST_ONE_SLOW.with_gpu(7, temperature_c=71))
    began_s = time.monotonic()
    longest_s = 0.0
    while _reading(sample := sampler.sample(), LOST.uuid).state is DeviceState.OK or (
        _reading(sample, SLOW.uuid).age_s == 0.0
    ):
        assert time.monotonic() - began_s < _SHOWN_WITHIN_S
        time.sleep(_INTERVAL_S)
    for _ in range(2):
        asked_s = time.monotonic()
        sample = sampler.sample()
        longest_s = max(longest_s, time.monotonic() - asked_s)
        time.sleep(_INTERVAL_S)

    # A reading of the slow one takes ten seconds.
    assert longest_s < 1.0
    assert _reading(sample, HOPPER.uuid).temperature_c == 71.0
    slow = _reading(sample, SLOW.uuid)
    assert (slow.state, slow.clock_mhz) == (DeviceState.OK, 1_200)
    assert slow.age_s > 0.0
    others = {device.uuid for device in keys} - {LOST.uuid, SLOW.uuid}
    assert {reading.key for reading in sample.readings if reading.age_s == 0.0} >= others
    assert _reading(sample, INSTANCES[0].uuid).memory_used_mib == 5_000
    assert [process.pid for process in _reading(sample, INSTANCES[1].uuid).processes] == [4_000_002]
    bare = _reading(sample, BARE.uuid)
    assert bare == DeviceReading(key=BARE.uuid)
