"""Past and present runs, newest first."""

import time
from pathlib import Path

from pydantic import ValidationError

from gpupanel.domain.events import (
    Event,
    RunEnded,
    RunRestarted,
    RunStarted,
    TrainingEnded,
    decode_event,
)
from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.value import Value
from gpupanel.runs.directory.log_tail import last_bytes_lines
from gpupanel.runs.directory.profile_file import read_profile
from gpupanel.runs.directory.run_lock import is_supervised

_STARTING_S = 10.0
"""How long a run without a supervisor may be one whose supervisor is just starting."""


class RunSummary(Value):
    """One run in a list.

    Attributes:
        name: That of its directory.
        outcome: ``None`` while it runs.
        started_s: Seconds since the epoch (UTC).
        devices: Names of the physical devices that it used.
    """

    name: str
    path: Path
    profile_name: str
    started_s: float | None = None
    ended_s: float | None = None
    outcome: Outcome | None = None
    is_running: bool = False
    metrics: Metrics = Metrics()
    examples_per_second: float | None = None
    devices: tuple[str, ...] = ()
    problem: Problem | None = None


def list_runs(runs_dir: Path) -> tuple[RunSummary, ...]:
    """The runs in a folder, newest first; folders that are no runs are passed over."""
    if not runs_dir.is_dir():
        return ()
    directories = [path for path in runs_dir.iterdir() if (path / "profile.toml").is_file()]
    summaries = [summarize_run(RunLayout(path)) for path in directories]
    return tuple(sorted(summaries, key=lambda run: (run.started_s or 0.0, run.name), reverse=True))


def summarize_run(layout: RunLayout) -> RunSummary:
    """One run, from the ends of its files."""
    started, last = _first_event(layout), _last_word(layout)
    started_s = started.time_s if started is not None else layout.profile.stat().st_mtime
    summary = RunSummary(
        name=layout.name,
        path=layout.root,
        profile_name=_profile_name(layout),
        started_s=started_s,
        devices=_device_names(layout),
    )
    if isinstance(last, RunEnded | TrainingEnded):
        return summary.model_copy(
            update={
                "ended_s": last.time_s,
                "outcome": last.outcome,
                "metrics": last.metrics,
                "examples_per_second": last.examples_per_second,
                "problem": last.problem,
            }
        )
    begun_s = last.time_s if last is not None else started_s
    starting = (started is None or last is not None) and time.time() - begun_s < _STARTING_S
    if is_supervised(layout) or starting:
        return summary.model_copy(update={"is_running": True})
    return summary.model_copy(update={"outcome": Outcome.LOST, "problem": _supervisor_lost()})


def _supervisor_lost() -> Problem:
    return Problem(
        code="supervisor_lost",
        message="The run ended without a last word: its supervisor was killed, or the machine "
        "went down.",
        hint="Start it again; the last complete checkpoint is in its folder.",
    )


def _first_event(layout: RunLayout) -> Event | None:
    try:
        with layout.events.open("rb") as file:
            line = file.readline()
    except OSError:
        return None
    event = decode_event(line)
    return event if isinstance(event, RunStarted) else None


def _last_word(layout: RunLayout) -> RunEnded | TrainingEnded | RunRestarted | None:
    """The supervisor's last word; the trainer's, where the supervisor is gone before its own."""
    for line in reversed(last_bytes_lines(layout.events, 256 * 1024)):
        event = decode_event(line)
        if isinstance(event, RunEnded | RunRestarted):
            return event
        if isinstance(event, TrainingEnded) and event.process == 0:
            return None if is_supervised(layout) else event
    return None


def _profile_name(layout: RunLayout) -> str:
    try:
        return read_profile(layout.profile).name
    except ProblemError:
        return layout.name


def _device_names(layout: RunLayout) -> tuple[str, ...]:
    try:
        plan = LaunchPlan.model_validate_json(layout.plan.read_text(encoding="utf-8"))
    except (OSError, ValidationError):
        return ()
    return tuple(device.name for device in plan.devices)
