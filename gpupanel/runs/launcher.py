"""Starting a run: its directory is made, then a supervisor that outlives whoever started it."""

import re
import subprocess
import sys
import threading
import time
from datetime import datetime
from pathlib import Path

from gpupanel.domain.events import RunRestarted, encode_event
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import dump_profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.disk_problems import disk_problem, space_problem
from gpupanel.runs.directory.line_log import LineLog
from gpupanel.runs.directory.profile_file import anchored
from gpupanel.runs.history.summaries import summarize_run

_LONGEST_SLUG = 40


def launch(profile: Profile, plan: LaunchPlan, runs_dir: Path) -> RunLayout:
    """Make the run's directory and start its supervisor, detached, in a session of its own.

    Takes some milliseconds of disk and process work; it does not wait for the run.

    Raises:
        ProblemError: The directory cannot be made, or there is no space left for a run.
    """
    layout = create_run(profile, plan, runs_dir)
    _start_supervisor(layout)
    return layout


def resume(layout: RunLayout) -> None:
    """Start a run again in its own directory: it goes on from its last checkpoint.

    Its events go on in the same file, beginning with a
    :class:`~gpupanel.domain.events.RunRestarted`; requests that it did not see any more are
    withdrawn.

    Raises:
        ProblemError: It runs, it has come to its end, or there is no checkpoint to go on from; or
            its directory cannot be written.
    """
    problem = resume_problem(layout)
    if problem is not None:
        raise ProblemError(problem)
    try:
        for request in Request:
            (layout.requests / request).unlink(missing_ok=True)
        log = LineLog(layout.events)
        try:
            log.append(encode_event(RunRestarted(time_s=time.time(), attempt=0)))
        finally:
            log.close()
        _start_supervisor(layout)
    except OSError as error:
        raise ProblemError(disk_problem(error, layout.root)) from error


def resume_problem(layout: RunLayout) -> Problem | None:
    """Why a run cannot be resumed now; ``None`` when it can."""
    summary = summarize_run(layout)
    if summary.is_running:
        return Problem(
            code="run_goes_on",
            message=f"{layout.name} is running: there is nothing to resume.",
            hint="Stop it first, or watch it.",
        )
    if summary.outcome is Outcome.COMPLETED:
        return _nothing_to_resume(layout, "it has come to its end")
    if not any(layout.checkpoints.glob("step-*")):
        return _nothing_to_resume(layout, "it has saved no checkpoint")
    return None


def _nothing_to_resume(layout: RunLayout, why: str) -> Problem:
    return Problem(
        code="nothing_to_resume",
        message=f"{layout.name} cannot be resumed: {why}.",
        hint="Start its profile again; that makes a new run.",
    )


def _start_supervisor(layout: RunLayout) -> None:
    with layout.trainer_log.open("ab") as log:
        supervisor = subprocess.Popen(
            [sys.executable, "-m", "gpupanel.runs.supervision.supervisor", str(layout.root)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=layout.root,
            start_new_session=True,
        )
    # It outlives this process; should it end before, somebody has to take its exit status.
    threading.Thread(
        target=supervisor.wait, name=f"supervisor of {layout.name}", daemon=True
    ).start()


def create_run(profile: Profile, plan: LaunchPlan, runs_dir: Path) -> RunLayout:
    """Make the run's directory with its profile and plan, readable by its owner only.

    Relative paths are taken from the working directory: the trainer has another.

    Raises:
        ProblemError: The directory cannot be made, or there is no space left for a run.
    """
    try:
        runs_dir.mkdir(parents=True, exist_ok=True)
        problem = space_problem(runs_dir)
        if problem is not None:
            raise ProblemError(problem)
        layout = RunLayout(_new_directory(runs_dir.absolute(), profile.name))
        layout.profile.write_text(dump_profile(anchored(profile, Path.cwd())), encoding="utf-8")
        layout.plan.write_text(plan.model_dump_json(indent=2), encoding="utf-8")
        layout.requests.mkdir()
        layout.trainer_log.touch()
    except OSError as error:
        raise ProblemError(disk_problem(error, runs_dir)) from error
    return layout


def _new_directory(runs_dir: Path, profile_name: str) -> Path:
    moment = datetime.now().astimezone().strftime("%Y-%m-%dT%H-%M-%S")
    slug = re.sub(r"[^a-z0-9]+", "-", profile_name.lower()).strip("-")[:_LONGEST_SLUG].strip("-")
    name = f"{moment}-{slug or 'run'}"
    attempt = 1
    while True:
        directory = runs_dir / (name if attempt == 1 else f"{name}-{attempt}")
        try:
            directory.mkdir(mode=0o700)
        except FileExistsError:
            attempt += 1
        else:
            return directory
