"""What the terminal lists of GPUs that sleep or do not answer."""

import json
import time
from functools import partial
from pathlib import Path

import pytest

from gpupanel.cli.verbs import devices
from gpupanel.devices.gpus import power_states
from gpupanel.devices.sampler import DeviceSampler
from gpupanel.domain.gpu_claim import GpuClaim
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


@pytest.mark.usefixtures("nvml_in_process")
def test_that_a_gpu_that_another_user_holds_is_listed_with_who_and_since_when(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now_s = time.time()
    claim = GpuClaim(user="ada", since_s=now_s - 60.0, until_s=now_s + 3_600.0)
    found = partial(DeviceSampler, find_claims=lambda: {RTX_3060.uuid: (claim,), "GPU-0": (claim,)})
    monkeypatch.setattr(devices, "DeviceSampler", found)
    words = " ".join(gpupanel("devices").stdout.split())
    assert f"in use by {claim.words(now_s)} key {RTX_3060.uuid}" in words
    assert words.count("in use by") == 1
    document = json.loads(gpupanel("devices", "--json").stdout)
    assert [each["claims"] for each in document["devices"]] == [
        [],
        [{"user": "ada", "since_s": claim.since_s, "until_s": claim.until_s}],
        [],
    ]
