"""How much energy devices take: by their own counters, or by their power over time."""

import pytest

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.plan import LaunchPlan, PlannedDevice, PlannedReplica
from gpupanel.domain.strategy import StrategyKind
from gpupanel.domain.telemetry import DeviceReading, TelemetrySample
from gpupanel.runs.supervision.energy_meter import EnergyMeter

PLAN = LaunchPlan(
    environment={},
    devices=(PlannedDevice(key="GPU-a", kind=DeviceKind.GPU, name="A", index=0),),
    strategy=StrategyKind.ONE_DEVICE,
    replicas=(
        PlannedReplica(index=0, device_key="GPU-a", logical_device="/device:GPU:0", share=1),
    ),
    global_batch_size=1,
)


def fed(*readings: tuple[float, DeviceReading]) -> EnergyMeter:
    meter = EnergyMeter(PLAN)
    for seconds, reading in readings:
        meter.take(TelemetrySample(time_s=0.0, readings=(reading,)), seconds)
    return meter


def reading(**values: float | None) -> DeviceReading:
    return DeviceReading(key="GPU-a", **values)  # type: ignore[arg-type]


def test_that_a_counter_wins_over_power() -> None:
    (device,) = fed(
        (0.0, reading(energy_j=1_000.0, power_w=100.0)),
        (1.0, reading(energy_j=1_360.0, power_w=100.0)),
    ).devices()
    assert (device.watt_hours, device.measured_by) == (pytest.approx(0.1, rel=1e-4), "counter")


def test_that_power_is_added_up_over_time() -> None:
    (device,) = fed(
        (0.0, reading(power_w=100.0)),
        (2.0, reading(power_w=300.0)),
        (4.0, reading(power_w=300.0)),
    ).devices()
    # 2 s at 200 W in the mean, 2 s at 300 W.
    assert (device.watt_hours, device.measured_by) == (
        pytest.approx(1000 / 3600, rel=1e-4),
        "power",
    )


def test_that_a_counter_that_began_anew_is_not_trusted() -> None:
    (device,) = fed(
        (0.0, reading(energy_j=5_000.0, power_w=60.0)),
        (1.0, reading(energy_j=10.0, power_w=60.0)),
        (2.0, reading(energy_j=70.0, power_w=60.0)),
    ).devices()
    assert device.measured_by == "power"
    assert device.watt_hours == pytest.approx(120 / 3600, rel=1e-4)


def test_that_a_gap_in_the_readings_counts_as_nothing() -> None:
    (device,) = fed(
        (0.0, reading(power_w=100.0)),
        (1.0, reading(power_w=100.0)),
        (100.0, reading(power_w=100.0)),
        (101.0, reading(power_w=None)),
        (102.0, reading(power_w=100.0)),
    ).devices()
    assert device.watt_hours == pytest.approx(100 / 3600, rel=1e-4)


def test_that_repeated_readings_of_a_slow_driver_are_passed_over() -> None:
    meter = fed((0.0, reading(power_w=100.0)), (1.0, reading(power_w=900.0, age_s=1.0)))
    assert meter.devices() == ()


def test_that_a_device_that_says_nothing_has_no_energy() -> None:
    assert fed((0.0, reading()), (1.0, reading())).devices() == ()
    assert EnergyMeter(PLAN).devices() == ()
