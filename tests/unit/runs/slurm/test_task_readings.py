"""What the devices of a job's nodes report while a run has tasks there."""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from gpupanel.domain.job_node import NodeReadings
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.runs.supervision.node_samples import NodeSamples, TaskReadings
from tests.fakes.devices import CPU_ONLY
from tests.patience import PATIENCE_S

_SRUN = """#!/bin/sh
while [ "$1" != env ]; do shift; done
exec "$@"
"""


@pytest.fixture(autouse=True)
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This process is in a job, and srun starts what it is given."""
    srun = tmp_path / "srun"
    srun.write_text(_SRUN)
    srun.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("SLURM_JOB_ID", "7")


def until(is_so: Callable[[], bool]) -> None:
    end_s = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end_s
        time.sleep(0.02)


@pytest.fixture
def tasks() -> Callable[[], list[psutil.Process]]:
    """Gives the children of this process that have come since."""
    before = psutil.Process().children()
    return lambda: [each for each in psutil.Process().children() if each not in before]


def test_that_the_devices_of_each_node_are_read_again_and_again_until_the_run_ends(
    tasks: Callable[[], list[psutil.Process]],
) -> None:
    samples = NodeSamples()
    with TaskReadings(("one", "two"), samples):
        until(lambda: len(samples.sample().readings) == 2)
        started = tasks()
        used = samples.sample().reading("cpu@two")
        assert used is not None
        assert used.memory_used_mib
        until(lambda: samples.sample().reading("cpu@two") not in (None, used))
    inventory = samples.inventory()
    assert inventory is not None
    # In the order in which they answer.
    assert sorted((device.key, device.node) for device in inventory.devices) == [
        ("cpu@one", "one"),
        ("cpu@two", "two"),
    ]
    assert len(started) == 2
    assert not any(task.is_running() for task in started)


def test_that_what_is_no_reading_says_nothing_and_that_devices_stay_known() -> None:
    sample = TelemetrySample(time_s=1.0, readings=())
    lines = [
        "Welcome!",
        NodeReadings(inventory=CPU_ONLY, sample=sample).model_dump_json(),
        '{"sample": 1}',
        NodeReadings(sample=sample).model_dump_json(),
    ]
    samples = NodeSamples()
    printing = f"print({chr(10).join(lines)!r}, flush=True)"
    with TaskReadings(("one",), samples, (sys.executable, "-c", printing)) as readings:
        del readings
        until(lambda: samples.inventory() is not None)
    inventory = samples.inventory()
    assert inventory is not None
    assert [device.key for device in inventory.devices] == ["cpu@one"]


def test_that_a_node_whose_readings_cannot_be_had_ends_no_run(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    samples = NodeSamples()
    with TaskReadings(("one",), samples, (sys.executable, "-c", "")):
        until(lambda: "one says nothing any more of its devices" in capfd.readouterr().err)
    monkeypatch.setenv("PATH", "/nowhere")
    with TaskReadings(("one",), samples):
        assert "no readings of one" in capfd.readouterr().err
    # As in the plan of a run that came from somebody else.
    with TaskReadings(("a\x1b[2J",), samples):
        said = capfd.readouterr().err
        assert "no readings of a" in said
        assert "\x1b" not in said
    monkeypatch.delenv("SLURM_JOB_ID")
    with TaskReadings(("one",), samples):
        assert "no readings of one" in capfd.readouterr().err
    assert samples.inventory() is None


def test_that_a_task_that_does_not_end_by_itself_is_ended(
    monkeypatch: pytest.MonkeyPatch, tasks: Callable[[], list[psutil.Process]]
) -> None:
    monkeypatch.setattr("gpupanel.runs.supervision.node_samples._END_S", 0.2)
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(99)"
    with TaskReadings(("one",), NodeSamples(), (sys.executable, "-c", deaf)):
        (task,) = tasks()
    assert not task.is_running()
