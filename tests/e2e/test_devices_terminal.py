"""``gpupanel devices`` on machines with many GPUs: the real command, the stand-in driver."""

import getpass
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.nvml.machines import BARE, EIGHT_MIXED, HOPPER, INSTANCES, KEPLER, MIG, NVLINK_PAIR
from tests.nvml.standin import RTX_3060, RTX_4090, TWO_UNEQUAL_GPUS, Standin, StandinState
from tests.patience import PATIENCE_S

# The keys of the public format: they stay.
_KEYS = [
    *("key", "kind", "name", "state", "memory_total_mib", "memory_used_mib"),
    *("gpu_utilization_percent", "temperature_c", "power_w", "processes"),
]


def _devices(standin: Standin, *arguments: str) -> str:
    answer = subprocess.run(
        [sys.executable, "-m", "gpupanel", "devices", *arguments],
        env=os.environ | standin.environment | {"COLUMNS": "150"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )
    assert answer.stderr == ""
    return answer.stdout


def _documents(standin: Standin) -> dict[str, dict[str, Any]]:
    document = json.loads(_devices(standin, "--json"))
    assert set(document) == {"driver", "devices", "unresponsive"}
    return {device["key"]: device for device in document["devices"]}


@pytest.fixture
def busy() -> Iterator["subprocess.Popen[bytes]"]:
    """A process that a GPU can be said to hold memory for."""
    code = "import sys; print(flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code, "[bold]"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        yield child
        child.kill()


def test_that_the_document_has_every_fact_and_reading_of_eight_mixed_gpus(
    nvml_standin: Standin,
) -> None:
    nvml_standin.tell(EIGHT_MIXED.with_gpu(3, lost=True).with_gpu(5, slow_ms=0))

    devices = _documents(nvml_standin)

    assert all(set(_KEYS) <= set(device) for device in devices.values())
    assert 0.0 <= devices["cpu"]["gpu_utilization_percent"] <= 100.0
    # The lost one was never seen, and NVML gives no handle for it.
    assert len(devices) == 7 + len(INSTANCES) + 1
    hopper = devices[HOPPER.uuid]
    expected = {
        "state": "ok",
        "gpu_utilization_percent": 97.0,
        "memory_utilization_percent": 61.0,
        "memory_reserved_mib": 400,
        "power_w": 699.0,
        "power_limit_w": 700.0,
        "clock_mhz": 1_755,
        "memory_clock_mhz": 2_619,
        "fan_percent": None,
        "throttle_reasons": ["power_cap", "thermal"],
        "pcie_generation": 5,
        "pcie_width_max": 16,
        "temperature_slowdown_c": 87.0,
        "ecc_uncorrected": 0,
        "retired_pages": 0,
        "architecture": "Hopper",
        "compute_capability": [9, 0],
        "is_partitioned": False,
    }
    assert {name: hopper[name] for name in expected} == expected
    assert {"key": RTX_3060.uuid, "kind": "numa_node", "nvlink_count": 0} in hopper["links"]
    assert devices[KEPLER.uuid]["ecc_corrected"] == 12
    assert devices[MIG.uuid]["is_partitioned"] is True
    assert devices[INSTANCES[0].uuid]["parent_key"] == MIG.uuid
    assert devices[INSTANCES[0].uuid]["memory_used_mib"] == 5_000


def test_that_what_a_bare_gpu_does_not_report_is_null(nvml_standin: Standin) -> None:
    nvml_standin.tell(EIGHT_MIXED.with_gpu(5, slow_ms=0))

    bare = _documents(nvml_standin)[BARE.uuid]

    told = {"key", "kind", "name", "state", "age_s", "pci_bus_id", "is_partitioned", "links"}
    assert bare["state"] == "ok"
    assert all(bare[name] in (None, []) for name in set(bare) - told)


def test_that_the_table_names_processes_with_user_and_command(
    nvml_standin: Standin, busy: "subprocess.Popen[bytes]"
) -> None:
    nvml_standin.tell(TWO_UNEQUAL_GPUS.with_gpu(0, compute=((busy.pid, 900),)))

    text = _devices(nvml_standin)
    (process,) = _documents(nvml_standin)[RTX_4090.uuid]["processes"]

    line = next(line for line in text.splitlines() if str(busy.pid) in line)
    assert line.startswith("NVIDIA GeForce RTX 4090")
    assert f"{getpass.getuser()}  900 MiB" in line
    # As it is written, though it looks like a style.
    assert "[bold]" in text
    assert (process["pid"], process["user"], process["memory_used_mib"], process["is_mine"]) == (
        busy.pid,
        getpass.getuser(),
        900,
        True,
    )
    assert process["command"].endswith("[bold]")


def test_that_the_table_says_in_words_what_a_gpu_reports(nvml_standin: Standin) -> None:
    text = _devices(nvml_standin)

    for words in (
        "1,200 / 24,564 MiB",
        "120 / 450 W",
        RTX_4090.uuid,
        "Ada Lovelace, compute capability 8.9",
        "2,520 MHz, memory 10,501 MHz, throttling: power limit",
        "slowdown temperature 88 °C, shutdown temperature 91 °C, fan 34 %",
        "gen 1 x8, at most gen 4 x16",
        "NVIDIA driver 570.86.15",
    ):
        assert words in text


def test_that_the_table_counts_nvlinks(nvml_standin: Standin) -> None:
    nvml_standin.tell(NVLINK_PAIR)

    assert "4 NVLinks" in _devices(nvml_standin)


def test_that_the_table_names_a_process_of_an_instance_once(nvml_standin: Standin) -> None:
    nvml_standin.tell(StandinState(gpus=(MIG,)))

    lines = [line for line in _devices(nvml_standin).splitlines() if "4000000" in line]

    assert len(lines) == 1
    assert lines[0].startswith(INSTANCES[0].name)
