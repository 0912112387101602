"""The doctor says where power limits pass the supply, and where nobody knows the hours."""

import pytest

from gpupanel.devices.doctor.examination import report_of
from gpupanel.domain.machine import MachineSettings
from gpupanel.runs import examination
from gpupanel.runs.machine_settings import MACHINE_FILE
from tests.fakes import examined
from tests.fakes.examined import RTX_4090


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """One GPU of 450 W."""
    gpu = RTX_4090.model_copy(update={"power_limit_w": 450.0})
    report = report_of(examined.WELL).model_copy(update={"gpus": (gpu,)})
    monkeypatch.setattr(examination, "examine_devices", lambda cancelled: report)


def codes() -> set[str]:
    return {each.code for each in examination.examine().problems}


def test_that_a_supply_that_is_too_weak_is_a_finding() -> None:
    assert "power_above_supply" not in codes()
    MACHINE_FILE.write(MachineSettings(supply_w=400.0))
    assert "power_above_supply" in codes()
    MACHINE_FILE.write(MachineSettings(supply_w=600.0, rest_w=150.0))
    assert "power_above_supply" not in codes()


def test_that_settings_that_cannot_be_read_are_a_finding() -> None:
    MACHINE_FILE.write(MachineSettings())
    MACHINE_FILE.path().write_text("hours = ")
    assert "machine_settings_unreadable" in codes()
