"""``gpupanel check`` on a machine with two unequal GPUs: the stand-in driver.

What is printed comes from the real command, each other check from the terminal in this process.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gpupanel.runs.directory.profile_file import read_profile
from tests.forked.terminal import answered, gpupanel
from tests.nvml.standin import RTX_3060, RTX_4090, TWO_UNEQUAL_GPUS, Standin

ONE_GROWS = f"""
schema_version = 1
[strategy]
kind = "mirrored"
[data]
source = "digits"
[memory."{RTX_4090.uuid}"]
policy = "all"
[memory."{RTX_3060.uuid}"]
policy = "growth"
"""
OF_ANOTHER_MACHINE = """
schema_version = 1
[devices]
visible = ["GPU-gone"]
[devices.described."GPU-gone"]
name = "NVIDIA GeForce RTX 3060"
memory_total_mib = 12288
[data]
source = "digits"
"""


def check(standin: Standin, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gpupanel", "check", *map(str, arguments)],
        env={**os.environ, **standin.environment},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    path = tmp_path / "profile.toml"
    path.write_text(ONE_GROWS)
    return path


def test_that_every_fix_is_reported(nvml_in_process: Standin, profile: Path) -> None:
    told = check(nvml_in_process, profile)
    assert told.returncode == 1
    assert "→ Let every chosen GPU grow" in told.stdout
    assert "→ Give each GPU a process of its own" in told.stdout

    document = answered(gpupanel("check", profile, "--json"))
    (problem,) = (each for each in document["problems"] if each["code"] == "memory_growth_differs")
    assert [fix["label"] for fix in problem["alternatives"]] == [
        "Give each GPU a process of its own"
    ]


def test_that_other_processes_on_the_chosen_gpus_are_reported(
    nvml_in_process: Standin, tmp_path: Path
) -> None:
    profile = tmp_path / "profile.toml"
    profile.write_text('schema_version = 1\n[data]\nsource = "digits"\n')
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, compute=((os.getpid(), 900),)))

    told = gpupanel("check", profile).stdout
    assert "NVIDIA GeForce RTX 4090: 1,200 MiB held by other processes" in told
    assert f"{os.getpid()} of " in told

    document: dict[str, Any] = json.loads(check(nvml_in_process, profile, "--json").stdout)
    (held,) = document["others"]
    assert held["device_key"] == RTX_4090.uuid
    assert [(each["pid"], each["memory_used_mib"]) for each in held["processes"]] == [
        (os.getpid(), 900)
    ]


def test_that_a_profile_of_another_machine_gets_the_nearest_gpu(
    nvml_in_process: Standin, tmp_path: Path
) -> None:
    profile, fixed = tmp_path / "profile.toml", tmp_path / "fixed.toml"
    profile.write_text(OF_ANOTHER_MACHINE)
    told = " ".join(gpupanel("check", profile).stdout.split())
    assert "NVIDIA GeForce RTX 3060 (GPU-gone) is not in this machine" in told

    assert check(nvml_in_process, profile, "--fixed", fixed).returncode == 0
    devices = read_profile(fixed).devices
    assert devices.visible == (RTX_3060.uuid,)
    assert set(devices.described) == {RTX_3060.uuid}
