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
from gpupanel.runs.directory.private_files import make_private_folder, touch_private
from gpupanel.runs.directory.profile_file import anchored, read_profile, write_whole
from gpupanel.runs.history.summaries import summarize_run
from gpupanel.runs.trust.trusted import check_trusted
from gpupanel.runs.trust.user_code import code_of_profile, code_of_run, keep_code

_LONGEST_SLUG = 40


def launch(profile: Profile, plan: LaunchPlan, runs_dir: Path) -> RunLayout:
    """Make the run's directory and start its supervisor, detached, in a session of its own.

    Takes some milliseconds of disk and process work; it does not wait for the run.

    Raises:
        ProblemError: The directory cannot be made, or there is no space left for a run.
    """
    layout = create_run(profile, plan, runs_dir)
    start_supervisor(layout)
    return layout


def resume(layout: RunLayout) -> None:
    """Start a run again in its own directory: it goes on from its last checkpoint.

    Its events go on in the same file, beginning with a
    :class:`~gpupanel.domain.events.RunRestarted`; requests that it did not see any more are
    withdrawn.

    Raises:
        CodeNotTrustedError: Its directory holds Python code that nobody trusted here.
        ProblemError: It runs, it has come to its end, or there is no checkpoint to go on from; or
            its directory cannot be written.
    """
    problem = resume_problem(layout)
    if problem is not None:
        raise ProblemError(problem)
    check_trusted(code_of_run(layout, read_profile(layout.profile)))
    try:
        for request in Request:
            (layout.requests / request).unlink(missing_ok=True)
        log = LineLog(layout.events)
        try:
            log.append(encode_event(RunRestarted(time_s=time.time(), attempt=0)))
        finally:
            log.close()
        start_supervisor(layout)
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


def start_supervisor(layout: RunLayout) -> None:
    """Start the supervisor of a run that was filled or is to go on; returns at once.

    Several of them for one start do no harm: the first one takes it up, the others end.

    Raises:
        OSError: No process can be made, or the run's log cannot be written.
    """
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
        CodeNotTrustedError: The profile names Python code that nobody trusted yet; nothing is
            made.
        ProblemError: The directory cannot be made, or there is no space left for a run.
    """
    check_trusted(code_of_profile(profile))
    layout = reserve_run(profile.name, runs_dir)
    fill_run(layout, profile, plan)
    return layout


def reserve_run(profile_name: str, runs_dir: Path) -> RunLayout:
    """Make an empty directory that no other run has; it is no run yet.

    Raises:
        ProblemError: The directory cannot be made, or there is no space left for a run.
    """
    try:
        make_private_folder(runs_dir)
        problem = space_problem(runs_dir)
        if problem is not None:
            raise ProblemError(problem)
        return RunLayout(_new_directory(runs_dir.absolute(), profile_name))
    except OSError as error:
        raise ProblemError(disk_problem(error, runs_dir)) from error


def fill_run(layout: RunLayout, profile: Profile, plan: LaunchPlan) -> None:
    """Write what a run needs to start; its profile last, which makes it a run for everybody.

    Python code that the profile names is copied into the run, whose own it is from then on.

    Raises:
        CodeNotTrustedError: Nobody trusted that code yet.
        ProblemError: Something cannot be written.
    """
    code = code_of_profile(profile)
    check_trusted(code)
    try:
        write_whole(layout.plan, plan.model_dump_json(indent=2), private=True)
        make_private_folder(layout.requests)
        touch_private(layout.trainer_log)
        keep_code(layout, code)
        text = dump_profile(anchored(profile, Path.cwd()))
        write_whole(layout.profile, text, private=True)
    except OSError as error:
        raise ProblemError(disk_problem(error, layout.root)) from error


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
            directory.chmod(0o700)  # a umask may have taken the owner's own rights
            return directory
