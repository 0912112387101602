"""What ``gpupanel run --json`` says of a run that has ended."""

from pathlib import Path

from gpupanel.cli.run_end import run_document
from gpupanel.domain.event_details import ReturnedMemory
from gpupanel.domain.events import MemoryReturned, RunEnded
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.following.status import RunStatus

ENDED = RunEnded(time_s=2.0, outcome=Outcome.COMPLETED)
RETURNED = MemoryReturned(
    time_s=1.0,
    seconds=1.2,
    devices=(ReturnedMemory(device_key="GPU-4090", freed_mib=21_811),),
)


def test_that_the_memory_that_came_back_is_reported(tmp_path: Path) -> None:
    status = RunStatus().after(RETURNED).after(ENDED)
    returned = run_document(RunLayout(tmp_path), status)["memory_returned"]
    assert returned["seconds"] == 1.2
    assert returned["devices"][0]["freed_mib"] == 21_811


def test_that_a_run_that_held_no_gpu_memory_reports_none(tmp_path: Path) -> None:
    assert run_document(RunLayout(tmp_path), RunStatus().after(ENDED))["memory_returned"] is None
