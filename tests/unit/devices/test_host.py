"""The host as psutil knows it."""

import shutil
import time
from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from gpupanel.devices import host as host_module
from gpupanel.devices.host import TEMPERATURE_INTERVAL_S, Host, disk_reading
from gpupanel.domain.device import CPU_KEY, DeviceKind

CpuTimes = namedtuple("CpuTimes", "user nice system idle iowait guest guest_nice")  # noqa: PYI024
MIB = 2**20


IDLE = CpuTimes(100, 0, 50, 800, 50, 20, 0)
# Since then: 30 s of work of which 10 s in a guest (counted in user already), 60 s idle, 10 s
# waiting.
BUSY = CpuTimes(120, 0, 60, 860, 60, 30, 0)
# Since then: 90 s of work.
BUSIER = CpuTimes(170, 0, 70, 810, 50, 20, 0)


@pytest.fixture
def cpu_times(monkeypatch: pytest.MonkeyPatch) -> list[list[CpuTimes]]:
    """What psutil answers for two processors, one after the other; the last one stays."""
    answers = [[IDLE, IDLE]]

    def cpu_times(percpu: bool) -> list[CpuTimes]:
        assert percpu
        return answers.pop(0) if len(answers) > 1 else answers[0]

    monkeypatch.setattr(psutil, "cpu_times", cpu_times)
    return answers


def test_that_the_host_is_one_device_with_its_memory_and_cores() -> None:
    device = Host().device

    assert (device.key, device.kind) == (CPU_KEY, DeviceKind.CPU)
    assert device.name.strip()
    assert device.core_count == psutil.cpu_count()
    assert device.memory_total_mib == psutil.virtual_memory().total // MIB


def test_that_used_and_free_memory_make_the_total() -> None:
    reading = Host().read()

    assert reading.memory_used_mib is not None
    assert reading.memory_free_mib is not None
    assert reading.memory_total_mib is not None
    assert reading.memory_total_mib - reading.memory_used_mib - reading.memory_free_mib in (0, 1)


def test_that_utilization_is_the_busy_part_of_the_time_between_readings(
    cpu_times: list[list[CpuTimes]],
) -> None:
    cpu_times.append([BUSY, BUSIER])
    host = Host()

    reading = host.read()

    assert reading.core_utilization_percent == (30.0, 90.0)
    assert reading.gpu_utilization_percent == 60.0


def test_that_two_readings_within_a_clock_tick_have_no_utilization(
    cpu_times: list[list[CpuTimes]],
) -> None:
    host = Host()

    reading = host.read()

    assert reading.gpu_utilization_percent is None
    assert reading.core_utilization_percent == ()


def test_that_a_processor_whose_time_stands_still_is_idle(
    cpu_times: list[list[CpuTimes]],
) -> None:
    cpu_times.append([BUSY, IDLE])
    host = Host()

    reading = host.read()

    assert reading.core_utilization_percent == (30.0, 0.0)
    assert reading.gpu_utilization_percent == 30.0


def test_that_a_processor_that_is_switched_off_leaves_a_gap_of_one_reading(
    cpu_times: list[list[CpuTimes]],
) -> None:
    cpu_times += [[IDLE], [BUSY]]
    host = Host()

    assert host.read().core_utilization_percent == ()
    assert host.read().core_utilization_percent == (30.0,)


def test_that_the_real_host_knows_each_logical_processor() -> None:
    host = Host()
    deadline = time.monotonic() + 5.0
    while not (cores := host.read().core_utilization_percent) and time.monotonic() < deadline:
        time.sleep(0.02)

    assert len(cores) == psutil.cpu_count()
    assert all(0.0 <= percent <= 100.0 for percent in cores)


def test_that_a_disk_is_reported_also_for_a_folder_that_is_not_there_yet(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "of" / "mine"

    reading = disk_reading(folder)

    assert reading is not None
    assert reading.path == str(folder)
    assert reading.total_mib == shutil.disk_usage(tmp_path).total // MIB
    assert 0 <= reading.free_mib <= reading.total_mib


def test_that_a_disk_that_does_not_answer_is_not_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(path: Path) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(shutil, "disk_usage", refuse)

    assert disk_reading(tmp_path) is None


def test_that_the_package_sensor_is_preferred_to_single_cores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sensors = {
        "nvme": [SimpleNamespace(label="Composite", current=70.0)],
        "coretemp": [
            SimpleNamespace(label="Core 0", current=61.0),
            SimpleNamespace(label="Package id 0", current=58.0),
        ],
    }
    monkeypatch.setattr(psutil, "sensors_temperatures", lambda: sensors)

    assert Host().read().temperature_c == 58.0


def test_that_without_a_package_sensor_the_hottest_core_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cores = [SimpleNamespace(label="", current=61.0), SimpleNamespace(label="", current=58.0)]
    monkeypatch.setattr(psutil, "sensors_temperatures", lambda: {"cpu_thermal": cores})

    assert Host().read().temperature_c == 61.0


def test_that_a_sensor_that_goes_away_leaves_no_temperature(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sensors = {"k10temp": [SimpleNamespace(label="Tctl", current=61.0)]}
    monkeypatch.setattr(psutil, "sensors_temperatures", lambda: sensors)
    host = Host()
    sensors.clear()

    assert host.read().temperature_c is None


def test_that_the_temperature_is_asked_for_only_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sensors = {"k10temp": [SimpleNamespace(label="Tctl", current=61.0)]}
    monkeypatch.setattr(psutil, "sensors_temperatures", lambda: sensors)
    now_s = [0.0]
    host = Host(clock=lambda: now_s[0])
    assert host.read().temperature_c == 61.0

    sensors["k10temp"] = [SimpleNamespace(label="Tctl", current=75.0)]
    assert host.read().temperature_c == 61.0
    now_s[0] += TEMPERATURE_INTERVAL_S
    assert host.read().temperature_c == 75.0


def test_that_a_machine_without_sensors_is_asked_for_them_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []

    def nothing() -> dict[str, list[object]]:
        asked.append(1)
        return {}

    monkeypatch.setattr(psutil, "sensors_temperatures", nothing)
    host = Host()

    assert [host.read().temperature_c for _ in range(3)] == [None, None, None]
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("processor\t: 0\nmodel name\t: AMD Ryzen 9  7950X\n", "AMD Ryzen 9 7950X"),
        ("processor\t: 0\nBogoMIPS\t: 50.00\n", "quad core"),
        (None, "quad core"),
    ],
)
def test_that_the_processor_has_the_name_that_the_kernel_or_the_platform_gives(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str | None, name: str
) -> None:
    file = tmp_path / "cpuinfo"
    if text is not None:
        file.write_text(text)
    monkeypatch.setattr(host_module, "_CPU_INFO", file)
    monkeypatch.setattr("platform.processor", lambda: "quad core")

    assert Host().device.name == name
