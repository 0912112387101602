"""What ``gpupanel run --json`` says of a run that has ended."""

from pathlib import Path

from gpupanel.cli.run_end import run_document
from gpupanel.domain.event_details import ReturnedMemory
from gpupanel.domain.events import FindingReported, MemoryReturned, RunEnded
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Fix, Problem, Severity
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


def found(code: str, time_s: float, device_key: str | None = None) -> FindingReported:
    problem = Problem(
        code=code,
        severity=Severity.HINT,
        message=f"Found at {time_s}.",
        fix=Fix.of("Cache in memory", "data.cache", "memory"),
    )
    return FindingReported(
        time_s=time_s, since_s=time_s - 9, problem=problem, cost_fraction=0.5, device_key=device_key
    )


def test_that_findings_stand_in_it_the_last_of_each_code_and_device(tmp_path: Path) -> None:
    status = RunStatus()
    for event in (found("a", 10.0), found("a", 20.0, "cpu"), found("a", 30.0), ENDED):
        status = status.after(event)

    findings = run_document(RunLayout(tmp_path), status)["findings"]

    assert [(each["since_s"], each["device_key"]) for each in findings] == [
        (11.0, "cpu"),
        (21.0, None),
    ]
    assert findings[0].keys() == {"problem", "since_s", "cost_fraction", "device_key"}
    assert findings[0]["problem"]["fix"]["changes"] == [
        {"path": ["data", "cache"], "value": "memory"}
    ]
