"""The last hour of each device: bounded, thin, with its gaps."""

import sys

import pytest

from gpupanel.devices.device_history import (
    HISTORY_S,
    MEMORY,
    POWER,
    SLOT_S,
    TEMPERATURE,
    UTILIZATION,
    DeviceHistory,
)
from gpupanel.domain.telemetry import DeviceReading, DeviceState, TelemetrySample

BEGIN_S = 1_700_000_000.0


def sample(time_s: float, busy: float | None = 50.0, key: str = "GPU-a", **more) -> TelemetrySample:
    reading = DeviceReading(key=key, gpu_utilization_percent=busy, **more)
    return TelemetrySample(time_s=time_s, readings=(reading,))


def test_that_what_is_reported_within_a_slot_is_one_mean() -> None:
    history = DeviceHistory()
    for second, busy in enumerate((10.0, 20.0, None, 60.0)):
        history.add(sample(BEGIN_S + second, busy, power_w=busy))
    assert history.moments("GPU-a", UTILIZATION) == [(BEGIN_S + SLOT_S / 2, 30.0)]
    assert history.moments("GPU-a", POWER) == [(BEGIN_S + SLOT_S / 2, 30.0)]
    assert history.moments("GPU-a", TEMPERATURE) == [(BEGIN_S + SLOT_S / 2, None)]


def test_that_memory_is_percent_of_the_devices_own() -> None:
    history = DeviceHistory()
    history.add(sample(BEGIN_S, memory_used_mib=6_000, memory_total_mib=24_000))
    history.add(sample(BEGIN_S, key="GPU-b", memory_used_mib=6_000))
    history.add(sample(BEGIN_S, key="GPU-c", memory_used_mib=6_000, memory_total_mib=0))
    assert history.moments("GPU-a", MEMORY) == [(BEGIN_S + 5.0, 25.0)]
    assert history.moments("GPU-b", MEMORY) == [(BEGIN_S + 5.0, None)]
    assert history.moments("GPU-c", MEMORY) == [(BEGIN_S + 5.0, None)]


@pytest.mark.parametrize("pause_s", [1.0, 5.0])
def test_that_an_hour_is_kept_and_no_more_however_often_devices_are_read(pause_s: float) -> None:
    history = DeviceHistory()
    for place in range(int(2 * HISTORY_S / pause_s)):
        history.add(sample(BEGIN_S + place * pause_s, float(place % 2)))
    kept = history.moments("GPU-a", UTILIZATION)
    assert len(kept) == HISTORY_S / SLOT_S
    assert history.end_s == BEGIN_S + 2 * HISTORY_S
    assert kept[0][0] == BEGIN_S + HISTORY_S + SLOT_S / 2
    assert all(value == 0.5 for _, value in kept)


def test_that_a_new_slot_is_reported_once() -> None:
    history = DeviceHistory()
    moments = (0.0, 0.5, 9.9, 10.0, 10.5, 100.0)
    assert [history.add(sample(BEGIN_S + s)) for s in moments] == [
        *(True, False, False),
        *(True, False, True),
    ]


def test_that_a_device_that_was_lost_or_answered_long_ago_has_a_gap() -> None:
    history = DeviceHistory()
    history.add(sample(BEGIN_S, 10.0))
    history.add(sample(BEGIN_S + 10.0, 20.0, state=DeviceState.LOST))
    history.add(sample(BEGIN_S + 20.0, 20.0, age_s=60.0))
    history.add(sample(BEGIN_S + 40.0, 30.0, age_s=0.4))
    values = [value for _, value in history.moments("GPU-a", UTILIZATION)]
    assert values == [10.0, None, 30.0]


def test_that_a_machine_that_slept_for_long_has_forgotten() -> None:
    history = DeviceHistory()
    history.add(sample(BEGIN_S))
    history.add(sample(BEGIN_S + 10 * HISTORY_S, key="GPU-b"))
    assert history.moments("GPU-a", UTILIZATION) == []
    assert history.devices() == ("GPU-b",)


def test_that_a_clock_that_is_set_back_leaves_no_future() -> None:
    history = DeviceHistory()
    for place in range(10):
        history.add(sample(BEGIN_S + place * SLOT_S, 10.0))
    assert DeviceHistory().end_s is None
    history.add(sample(BEGIN_S + 2 * SLOT_S, 40.0))
    times = [time_s for time_s, _ in history.moments("GPU-a", UTILIZATION)]
    assert times == [BEGIN_S + 5.0, BEGIN_S + 15.0, BEGIN_S + 25.0]
    assert history.end_s == BEGIN_S + 30.0


def test_that_memory_stays_bounded_with_many_devices_that_come_and_go() -> None:
    history = DeviceHistory()
    for place in range(1_000):
        history.add(sample(BEGIN_S + place, key=f"MIG-{place}"))
    assert len(history.devices()) == 64
    assert "MIG-999" in history.devices()
    assert sys.getsizeof(history._slots) < 10_000
