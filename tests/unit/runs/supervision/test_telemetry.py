"""What is kept of the devices' samples beside a run."""

import ctypes
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.telemetry import (
    DeviceProcess,
    DeviceReading,
    DeviceState,
    DiskReading,
    TelemetrySample,
    ThrottleReason,
)
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.supervision.telemetry import TelemetryRecorder, telemetry_line
from tests.fakes.small_disks import PAGE_BYTES, fill, full_page, logging_to, small_disk  # noqa: F401
from tests.nvml.standin import RTX_3060, Standin

GPU = DeviceReading(
    key="GPU-5f0c1a2b-aaaa-4aaa-8aaa-000000004090",
    memory_used_mib=21_000,
    memory_free_mib=3_000,
    memory_total_mib=24_564,
    memory_reserved_mib=564,
    gpu_utilization_percent=97.0,
    memory_utilization_percent=61.0,
    temperature_c=71.0,
    power_w=398.5,
    power_limit_w=450.0,
    fan_percent=64.0,
    clock_mhz=2_520,
    memory_clock_mhz=10_501,
    throttle_reasons=(ThrottleReason.POWER_CAP,),
    pcie_generation=4,
    pcie_width=16,
    ecc_corrected=0,
    ecc_uncorrected=0,
    retired_pages=0,
    processes=(
        DeviceProcess(
            pid=4242,
            name="python",
            user="ada",
            command="python -m gpupanel.trainer " + "x" * 500,
            memory_used_mib=20_500,
            started_s=1_795_000_000.25,
            is_mine=True,
        ),
    ),
)
CPU = DeviceReading(
    key="cpu",
    memory_used_mib=9_000,
    gpu_utilization_percent=12.5,
    core_utilization_percent=(12.5,) * 128,
)
DISK = DiskReading(path="/home/ada/runs", total_mib=900_000, free_mib=400_000)
SAMPLE = TelemetrySample(time_s=1_795_000_001.5, readings=(GPU, CPU), disk=DISK)


def test_that_what_moves_is_kept_and_a_reader_gets_it_back() -> None:
    kept = TelemetrySample.model_validate_json(telemetry_line(SAMPLE))

    gpu, cpu = kept.readings
    assert kept.time_s == SAMPLE.time_s
    assert (gpu.key, gpu.memory_used_mib, gpu.gpu_utilization_percent) == (GPU.key, 21_000, 97.0)
    assert (gpu.memory_utilization_percent, gpu.temperature_c, gpu.power_w) == (61.0, 71.0, 398.5)
    assert (gpu.clock_mhz, gpu.throttle_reasons) == (2_520, (ThrottleReason.POWER_CAP,))
    assert gpu.processes == (DeviceProcess(pid=4242, name="python", memory_used_mib=20_500),)
    assert (cpu.key, cpu.gpu_utilization_percent) == ("cpu", 12.5)


def test_that_a_lost_gpu_and_an_old_reading_are_kept_as_such() -> None:
    readings = (
        DeviceReading(key="GPU-1", state=DeviceState.LOST),
        DeviceReading(key="GPU-2", age_s=4.5, throttle_reasons=()),
    )
    sample = TelemetrySample(time_s=1.0, readings=readings)

    assert TelemetrySample.model_validate_json(telemetry_line(sample)) == sample


def test_that_a_line_of_eight_busy_gpus_is_short() -> None:
    sample = TelemetrySample(time_s=SAMPLE.time_s, readings=(*(GPU,) * 8, CPU), disk=DISK)

    line = telemetry_line(sample)

    assert len(line) < 3_000
    assert "\n" not in line
    for word in ("command", "disk", "core_utilization", "null", "user"):
        assert word not in line
    assert len(json.loads(line)["readings"]) == 9


def test_that_a_follower_reads_what_the_recorder_writes(runs_dir: Path) -> None:
    layout = RunLayout(runs_dir / "digits")
    layout.root.mkdir(parents=True)
    heard: list[TelemetrySample] = []
    has_heard = threading.Event()

    def listen(sample: TelemetrySample, begun_s: float) -> None:
        assert begun_s <= time.monotonic()
        heard.append(sample)
        if len(heard) == 3:
            has_heard.set()

    recorder = TelemetryRecorder(layout, listen)
    recorder.start()
    recorder.sample_faster()
    assert has_heard.wait(20.0)
    recorder.stop(timeout_s=20.0)

    followed = RunFollower(layout).poll().samples
    assert [sample.time_s for sample in followed] == [sample.time_s for sample in heard]
    assert followed[-1].readings[-1].memory_used_mib == heard[-1].readings[-1].memory_used_mib


def test_that_a_run_reads_its_own_gpus_alone(runs_dir: Path, nvml_in_process: Standin) -> None:
    calls = ctypes.CDLL(str(nvml_in_process.library)).standin_calls
    reset = ctypes.CDLL(str(nvml_in_process.library)).standin_reset_calls
    for keys, of_gpus in ((frozenset({RTX_3060.uuid}), [RTX_3060.uuid]), (frozenset({"cpu"}), [])):
        layout = RunLayout(runs_dir / f"{len(of_gpus)}")
        layout.root.mkdir(parents=True)
        heard: list[TelemetrySample] = []
        reset()
        recorder = TelemetryRecorder(
            layout, lambda sample, _begun_s, heard=heard: heard.append(sample), keys=keys
        )
        recorder.start()
        recorder.sample_faster()
        until(lambda heard=heard: len(heard) >= 5, "samples")
        recorder.stop(timeout_s=20.0)
        for sample in heard:
            assert [each.key for each in sample.readings] == [*of_gpus, "cpu"]
        # All are listed: what is remembered of a machine, and other devices to use, depend on it.
        assert recorder.inventory is not None
        assert len(recorder.inventory.gpus) == 2
        assert recorder.inventory.driver == "570.86.15"
        assert calls(b"nvmlDeviceGetTemperature") == len(of_gpus) * len(heard)
        assert calls(b"nvmlDeviceGetUUID") == 2


@contextmanager
def recording(layout: RunLayout, heard: list[TelemetrySample]) -> Iterator[None]:
    recorder = TelemetryRecorder(layout, lambda sample, _begun_s: heard.append(sample))
    recorder.start()
    recorder.sample_faster()
    try:
        yield
    finally:
        recorder.stop(timeout_s=20.0)
        assert "telemetry" not in {thread.name for thread in threading.enumerate()}


def until(seen: Callable[[], bool], what: str) -> None:
    end_s = time.monotonic() + 30.0
    while not seen():
        assert time.monotonic() < end_s, what
        time.sleep(0.02)


def kept(layout: RunLayout) -> list[float]:
    return [sample.time_s for sample in RunFollower(layout).poll().samples]


def test_that_samples_go_on_after_a_disk_was_full_and_those_before_stay_whole(
    small_disk: Path,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    layout, heard = RunLayout(small_disk), list[TelemetrySample]()
    log = full_page(layout.trainer_log)
    # Most of its last page is full already.
    layout.telemetry.write_text(" " * (PAGE_BYTES - 1_000) + "\n")
    with logging_to(log), recording(layout, heard):
        until(lambda: len(kept(layout)) >= 2, "the first samples")
        filler = fill(small_disk)
        until(lambda: layout.telemetry.stat().st_size % PAGE_BYTES == 0, "a torn line")
        before, count = kept(layout), len(heard)
        until(lambda: len(heard) > count + 3, "samples while the disk is full")
        assert kept(layout) == before
        filler.unlink()
        until(lambda: len(kept(layout)) > len(before) + 2, "samples after that")
    after, told = kept(layout), [sample.time_s for sample in heard]
    assert after[: len(before)] == before == told[: len(before)]
    assert set(after) < set(told), "there is a gap, and nothing is made up"
    assert after == sorted(after)
    said = log.read_text().splitlines()[1:]
    assert [each.endswith("samples could not be written: a gap.") for each in said] == [True]


def test_that_samples_are_taken_though_none_can_be_written(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    layout, heard = RunLayout(tmp_path), list[TelemetrySample]()
    layout.telemetry.mkdir()
    with recording(layout, heard):
        until(lambda: len(heard) > 2, "samples")
    assert capfd.readouterr().err.count("samples are left out") == 1


def test_that_deleted_samples_are_reported_in_the_log(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    layout, heard = RunLayout(tmp_path), list[TelemetrySample]()
    with recording(layout, heard):
        until(lambda: len(kept(layout)) >= 2, "the first samples")
        layout.telemetry.unlink()
        until(lambda: layout.telemetry.exists() and len(kept(layout)) >= 2, "the next ones")
    told = [line for line in capfd.readouterr().err.splitlines() if line]
    (words,) = told
    assert words.startswith("telemetry: telemetry.jsonl was deleted or replaced")


def test_that_a_line_written_before_there_were_so_many_readings_is_still_read() -> None:
    line = (
        '{"time_s":5.0,"readings":[{"key":"cpu","state":"ok","memory_used_mib":10,'
        '"memory_total_mib":100,"gpu_utilization_percent":3.0,"temperature_c":null,"power_w":null,'
        '"processes":[{"pid":7,"name":"python","user":"ada","memory_used_mib":3}]}]}'
    )

    sample = TelemetrySample.model_validate_json(line)

    assert sample.readings[0].memory_used_mib == 10
    assert sample.readings[0].gpu_utilization_percent == pytest.approx(3.0)
