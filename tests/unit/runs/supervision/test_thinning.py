"""How the samples of a long run are thinned."""

from functools import cache
from itertools import pairwise

from gpupanel.domain.telemetry import DeviceReading, DeviceState, TelemetrySample, ThrottleReason
from gpupanel.runs.supervision.telemetry import (
    FULL_DETAIL_S,
    LONGEST_INTERVAL_S,
    SampleThinning,
    telemetry_line,
)
from tests.fakes.readings import EIGHT_DEVICES, busy_sample

HOUR_S = 3600.0


def sample(time_s: float, **reading: object) -> TelemetrySample:
    return TelemetrySample.model_validate(
        {"time_s": time_s, "readings": [{"key": "GPU-1", **reading}]}
    )


@cache
def times_kept(hours: float, interval_s: float = 0.5) -> list[float]:
    thinning, kept = SampleThinning(), []
    for number in range(int(hours * HOUR_S / interval_s)):
        now_s = number * interval_s
        if thinning.take(sample(now_s), now_s) is not None:
            kept.append(now_s)
    return kept


def aged(age_s: float) -> SampleThinning:
    """A thinning that has kept a sample at that age just now."""
    thinning = SampleThinning()
    thinning.take(sample(0.0), 0.0)
    assert thinning.take(sample(age_s), age_s) is not None
    return thinning


def test_that_every_sample_of_the_first_minutes_is_kept() -> None:
    assert len(times_kept(FULL_DETAIL_S / HOUR_S)) == FULL_DETAIL_S / 0.5


def test_that_a_day_comes_to_few_samples_and_none_waits_longer_than_a_person_would_notice() -> None:
    times = times_kept(24)

    gaps = [after - before for before, after in pairwise(times)]
    assert len(times) < 15_000
    assert max(gaps) <= LONGEST_INTERVAL_S + 0.5
    assert all(gap <= time / 1200 + 0.5 for gap, time in zip(gaps, times[1:], strict=True))


def test_that_a_day_of_eight_busy_gpus_is_small() -> None:
    line = telemetry_line(busy_sample(EIGHT_DEVICES, 1_795_000_000.25))

    assert len(line) * len(times_kept(24)) < 40e6


def test_that_a_sample_kept_says_what_one_of_the_whole_interval_would() -> None:
    thinning = aged(2 * HOUR_S)
    cap, idle = ThrottleReason.POWER_CAP, ThrottleReason.IDLE
    told = [
        {"gpu_utilization_percent": 0.0, "memory_used_mib": 9_000, "power_w": 100.0},
        {"gpu_utilization_percent": 100.0, "memory_used_mib": 500, "temperature_c": 90.0},
        {"memory_used_mib": 700, "temperature_c": 60.0, "throttle_reasons": (cap,)},
    ]
    for number, reading in enumerate(told):
        time_s = 2 * HOUR_S + 1.0 + number
        assert thinning.take(sample(time_s, throttle_reasons=(idle,)), time_s) is None
        assert thinning.take(sample(time_s, **reading), time_s) is None

    kept = thinning.rest()

    assert kept is not None
    assert kept.time_s == 2 * HOUR_S + 3.0
    (reading,) = kept.readings
    assert (reading.gpu_utilization_percent, reading.power_w) == (50.0, 100.0)
    assert (reading.memory_used_mib, reading.temperature_c) == (9_000, 90.0)
    assert reading.throttle_reasons == (idle, cap)
    assert reading.memory_utilization_percent is None
    assert thinning.rest() is None


def test_that_a_gpu_lost_meanwhile_is_kept_as_lost() -> None:
    thinning = aged(2 * HOUR_S)
    time_s = 2 * HOUR_S + 1.0
    thinning.take(sample(time_s, gpu_utilization_percent=50.0), time_s)
    lost = TelemetrySample(
        time_s=time_s, readings=(DeviceReading(key="GPU-1", state=DeviceState.LOST),)
    )
    thinning.take(lost, time_s + 0.5)

    kept = thinning.rest()

    assert kept is not None
    assert kept.readings[0].state is DeviceState.LOST


def test_that_every_sample_is_kept_where_the_end_is_watched_closely() -> None:
    thinning = aged(20 * HOUR_S)
    thinning.keep_all()

    for number in range(5):
        time_s = 20 * HOUR_S + 0.1 * number
        assert thinning.take(sample(time_s), time_s) is not None
