"""What a run's devices took, over its segments."""

import pytest
from pydantic import ValidationError

from gpupanel.domain.energy import MOST_WH, DeviceEnergy, RunEnergy
from gpupanel.domain.number_text import DASH, watt_hours


def taken(wh: float, by: str = "counter", key: str = "GPU-a", **counts: int) -> RunEnergy:
    device = DeviceEnergy(device_key=key, watt_hours=wh, measured_by=by)  # type: ignore[arg-type]
    return RunEnergy(devices=(device,), **counts)


def test_that_energy_is_given_by_epoch_and_by_million_examples() -> None:
    energy = taken(12.0, epochs=3, examples=600_000)
    assert energy.per_epoch_wh == 4.0
    assert energy.per_million_examples_wh == pytest.approx(20.0)
    assert energy.words == "12.0 Wh, 4.00 Wh an epoch, 20.0 Wh a million examples"


def test_that_nothing_is_divided_by_no_epoch() -> None:
    assert taken(1.0).per_epoch_wh is None
    assert taken(1.0).per_million_examples_wh is None
    assert taken(1.0).words == "1.00 Wh"


def test_that_legs_are_added_device_by_device() -> None:
    both = taken(1.0, epochs=1, examples=10).plus(taken(2.0, epochs=2, examples=20))
    assert both == taken(3.0, epochs=3, examples=30)
    moved = taken(1.0).plus(taken(2.0, key="GPU-b"))
    assert [device.device_key for device in moved.devices] == ["GPU-a", "GPU-b"]
    assert moved.watt_hours == 3.0


def test_that_what_was_partly_added_up_is_not_called_counted() -> None:
    assert taken(1.0).plus(taken(2.0, "power")).devices[0].measured_by == "power"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, DASH),
        (float("nan"), DASH),
        (0.0, "0 Wh"),
        (0.012345, "0.0123 Wh"),
        (1e-9, "0.000000 Wh"),
        (12.44, "12.4 Wh"),
        (1234.0, "1,234 Wh"),
    ],
)
def test_that_watt_hours_have_three_digits(value: float | None, words: str) -> None:
    assert watt_hours(value) == words


def test_that_a_strangers_number_does_not_grow_beyond_what_can_be_written() -> None:
    most = taken(MOST_WH)
    assert most.plus(most).watt_hours == MOST_WH
    for bad in (-1.0, 1e308, float("inf")):
        with pytest.raises(ValidationError):
            taken(bad)
