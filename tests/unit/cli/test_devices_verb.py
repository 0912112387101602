"""What the terminal lists of GPUs that sleep or do not answer."""

import json
from pathlib import Path

import pytest

from gpupanel.devices.gpus import power_states
from tests.forked.terminal import gpupanel
from tests.nvml.laptop import Laptop
from tests.nvml.standin import INSUFFICIENT_POWER, RTX_3060, TWO_UNEQUAL_GPUS, Standin


@pytest.fixture
def laptop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Laptop:
    laptop = Laptop(tmp_path)
    monkeypatch.setattr(power_states, "KERNEL_GPUS", laptop.kernel_gpus)
    monkeypatch.setattr(power_states, "PCI_DEVICES", laptop.pci_devices)
    return laptop


def test_that_a_gpu_without_power_is_listed_with_what_the_driver_said(
    nvml_in_process: Standin, laptop: Laptop
) -> None:
    fail = {"nvmlDeviceGetHandleByIndex_v2": INSUFFICIENT_POWER}
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(1, fail=fail))
    words = " ".join(gpupanel("devices").stdout.split())
    assert "RTX 3060 at 0000:02:00.0 does not answer: the driver says: Insufficient" in words
    assert "plug in the power cables" in words
    document = json.loads(gpupanel("devices", "--json").stdout)
    (gpu,) = document["unresponsive"]
    assert (gpu["index"], gpu["key"], gpu["failure"]["code"]) == (1, RTX_3060.uuid, 8)
    assert gpu["advice"]
    assert len(document["devices"]) == 2


def test_that_a_sleeping_gpu_is_listed_as_asleep_and_not_woken(
    nvml_in_process: Standin, laptop: Laptop
) -> None:
    laptop.put(RTX_3060, "suspended")
    assert "(asleep)" in gpupanel("devices").stdout
    document = json.loads(gpupanel("devices", "--json").stdout)
    assert [each["state"] for each in document["devices"]] == ["ok", "asleep", "ok"]
