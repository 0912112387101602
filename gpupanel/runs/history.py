"""Past and present runs, newest first."""

import time
from pathlib import Path

from pydantic import ValidationError

from gpupanel.domain.events import Event, RunEnded, RunStarted, TrainingEnded, decode_event
from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.value import Value
from gpupanel.runs.log_tail import last_bytes_lines
from gpupanel.runs.profile_file import read_profile
from gpupanel.runs.run_lock import is_supervised

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
    started, ended = _first_event(layout), _ending(layout)
    started_s = started.time_s if started is not None else layout.profile.stat().st_mtime
    summary = RunSummary(
        name=layout.name,
        path=layout.root,
        profile_name=_profile_name(layout),
        started_s=started_s,
        devices=_device_names(layout),
    )
    if ended is not None:
        return summary.model_copy(
            update={
                "ended_s": ended.time_s,
                "outcome": ended.outcome,
                "metrics": ended.metrics,
                "examples_per_second": ended.examples_per_second,
                "problem": ended.problem,
            }
        )
    starting = started is None and time.time() - started_s < _STARTING_S
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


def _ending(layout: RunLayout) -> RunEnded | TrainingEnded | None:
    """The supervisor's last word; the trainer's, where the supervisor is gone before its own."""
    said: TrainingEnded | None = None
    for line in reversed(last_bytes_lines(layout.events, 256 * 1024)):
        event = decode_event(line)
        if isinstance(event, RunEnded):
            return event
        if isinstance(event, TrainingEnded):
            said = event
            break
    return said if said is not None and not is_supervised(layout) else None


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
