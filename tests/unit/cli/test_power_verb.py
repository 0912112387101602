"""Limits are listed, set where one may, and refused with the command for the administrator."""

import json

from gpupanel.domain.machine import MachineSettings
from gpupanel.runs.machine_settings import MACHINE_FILE
from tests.forked.terminal import gpupanel
from tests.nvml.standin import NO_PERMISSION, RTX_3060, RTX_4090, TWO_UNEQUAL_GPUS, Standin


def test_that_limits_are_listed_and_what_they_cost_is_not_invented(
    nvml_in_process: Standin,
) -> None:
    shown = " ".join(gpupanel("power").stdout.split())
    assert "450 W 450 W 10 W 600 W" in shown
    assert "has not been measured here" in shown
    document = json.loads(gpupanel("power", "--json").stdout)
    first, second = document["gpus"]
    assert (first["key"], first["limit_w"], first["measured"]) == (RTX_4090.uuid, 450.0, [])
    assert (second["least_w"], second["most_w"]) == (100.0, 187.0)
    assert document["supply_w"] is None


def test_that_a_supply_that_is_too_weak_is_warned_of(nvml_in_process: Standin) -> None:
    MACHINE_FILE.write(MachineSettings(supply_w=750.0, rest_w=250.0))
    document = json.loads(gpupanel("power", "--json").stdout)
    assert [each["code"] for each in document["problems"]] == ["power_above_supply"]


def test_that_a_limit_is_set_by_place_name_or_uuid(nvml_in_process: Standin) -> None:
    for name, limit_w in (("1", 150.0), (RTX_3060.name, 120.0), (RTX_3060.uuid, 110.0)):
        assert gpupanel("power", name, f"{limit_w:g}").returncode == 0
        document = json.loads(gpupanel("power", "--json").stdout)
        assert document["gpus"][1]["limit_w"] == limit_w


def test_that_what_cannot_be_set_is_refused_with_what_can_be_done(
    nvml_in_process: Standin,
) -> None:
    fail = {"nvmlDeviceSetPowerManagementLimit": NO_PERMISSION}
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, fail=fail))
    refused = gpupanel("power", "0", "250")
    assert refused.returncode == 1
    assert f"$ sudo nvidia-smi -i {RTX_4090.uuid} -pl 250" in refused.stderr
    unknown = gpupanel("power", "7", "250")
    assert (unknown.returncode, "no GPU 7" in unknown.stderr) == (1, True)
    assert gpupanel("power", "0").returncode == 2
