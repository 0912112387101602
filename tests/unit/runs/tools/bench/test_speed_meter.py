"""The speed of a run is that of its steps after the warm-up."""

import pytest

from gpupanel.domain.event_details import ReplicaSpeed
from gpupanel.domain.events import SharesChosen, StepsDone, TimeReported
from gpupanel.domain.time_spent import TimeSpent
from gpupanel.runs.tools.bench.speed_meter import SpeedMeter


def steps(first: int, count: int, speed: float, time_s: float = 0.0) -> StepsDone:
    return StepsDone(
        time_s=time_s,
        step=first + count,
        steps=count,
        epoch=1,
        step_in_epoch=first + count,
        examples=64 * count,
        loss=1.0,
        examples_per_second=speed,
    )


def test_that_the_first_report_and_ten_steps_are_left_out() -> None:
    meter = SpeedMeter()
    meter.take(steps(0, 1, 1.0))
    assert meter.has_begun
    meter.take(steps(1, 9, 2.0))
    assert not meter.is_warm
    meter.take(steps(10, 1, 3.0))
    assert meter.is_warm
    assert meter.examples_per_second is None
    meter.take(steps(11, 25, 640.0))
    assert (meter.steps, meter.is_done) == (25, False)
    meter.take(steps(36, 25, 640.0))
    assert meter.is_done
    assert meter.examples_per_second == pytest.approx(640.0)


def test_that_speeds_weigh_by_their_time() -> None:
    meter = SpeedMeter()
    for event in (steps(0, 1, 1.0), steps(1, 10, 1.0), steps(11, 10, 640.0), steps(21, 10, 320.0)):
        meter.take(event)
    # 640 examples in one second and 640 in two.
    assert meter.examples_per_second == pytest.approx(1280 / 3)


def test_that_short_steps_are_measured_for_two_seconds_and_long_ones_for_twenty() -> None:
    fast = SpeedMeter()
    fast.take(steps(0, 1, 1.0))
    fast.take(steps(1, 10, 1.0))
    fast.take(steps(11, 1_000, 64_000.0))
    assert (fast.steps, fast.is_done) == (1_000, False)
    fast.take(steps(1_011, 1_000, 64_000.0))
    assert fast.is_done
    slow = SpeedMeter()
    slow.take(steps(0, 1, 1.0, time_s=0.0))
    # Ten of these steps would take minutes.
    slow.take(steps(1, 1, 1.0, time_s=21.0))
    assert slow.is_warm
    slow.take(steps(2, 1, 3.0, time_s=42.0))
    assert slow.is_done


def test_that_shares_and_time_of_the_measured_steps_are_kept() -> None:
    meter = SpeedMeter()
    speed = ReplicaSpeed(replica=0, examples_per_second=1.0)
    meter.take(SharesChosen(time_s=0, step=0, shares=(3, 1), speeds=(speed,), reason="measured"))
    meter.take(TimeReported(time_s=0, step=1, spent=TimeSpent(seconds=9.0)))
    meter.take(steps(0, 1, 1.0))
    meter.take(steps(1, 10, 1.0))
    meter.take(TimeReported(time_s=0, step=11, spent=TimeSpent(seconds=9.0)))
    assert meter.time_spent is None
    for step in (12, 13):
        meter.take(TimeReported(time_s=0, step=step, spent=TimeSpent(seconds=1.0)))
    assert meter.time_spent == TimeSpent(seconds=2.0)
    assert meter.shares == (3, 1)
