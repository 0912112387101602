"""Starting a run: its directory is made, then a supervisor that outlives whoever started it."""

import re
import sys
import time
from datetime import datetime
from pathlib import Path

from filelock import Timeout

from gpupanel.domain.events import RunRestarted, encode_event
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Change, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import dump_profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.line_log import LineLog
from gpupanel.files.locks import lock_in_folder
from gpupanel.planning.resuming import changes_between
from gpupanel.runs.detached import start_detached
from gpupanel.runs.directory.amendments import amend, finish_amendment
from gpupanel.runs.directory.disk_problems import disk_problem, space_problem
from gpupanel.runs.directory.private_files import (
    make_private_folder,
    touch_private,
)
from gpupanel.runs.directory.profile_file import anchored, read_profile, write_whole
from gpupanel.runs.resumable import goes_on, resume_problem
from gpupanel.runs.supervision.run_processes import await_end_of_processes
from gpupanel.runs.trust.trusted import check_trusted
from gpupanel.runs.trust.user_code import code_of_profile, code_of_run, keep_code

_LONGEST_SLUG = 40

_ORPHANS_S = 20.0
"""Trainers whose supervisor was killed have this long to save and end before the run goes on;
then they are ended."""


def launch(profile: Profile, plan: LaunchPlan, runs_dir: Path) -> RunLayout:
    """Make the run's directory and start its supervisor, detached, in a session of its own.

    Takes some milliseconds of disk and process work; it does not wait for the run.

    Raises:
        ProblemError: The directory cannot be made, or there is no space left for a run.
    """
    layout = create_run(profile, plan, runs_dir)
    start_supervisor(layout)
    return layout


def resume(
    layout: RunLayout,
    changed: tuple[Profile, LaunchPlan] | None = None,
    *,
    accepts_changed_data: bool = False,
) -> None:
    """Start a run again in its own directory: it goes on from its last checkpoint.

    Its events go on in the same file, beginning with a
    :class:`~gpupanel.domain.events.RunRestarted`; requests that it did not see any more are
    withdrawn. Processes that a killed supervisor left are given time to save and end. A run that
    died before its first step begins at the beginning.

    Args:
        layout: The run.
        changed: With what it is to go on instead, on other devices, for one; the former profile
            and plan are kept beside.
        accepts_changed_data: Let it go on also where its data is other than before, which is
            refused otherwise.

    Raises:
        CodeNotTrustedError: Its directory holds Python code that nobody trusted here.
        ProblemError: It runs, it has come to its end, there is no checkpoint to go on from, or
            the profile would make it another training; or its directory cannot be written.
    """
    try:
        with lock_in_folder(layout.resume_lock, _ORPHANS_S + 10.0):
            await_end_of_processes(layout, _ORPHANS_S)
            finish_amendment(layout)
            _start_again(layout, changed, accepts_changed_data=accepts_changed_data)
    except Timeout as error:
        raise ProblemError(goes_on(layout)) from error
    except OSError as error:
        raise ProblemError(disk_problem(error, layout.root)) from error


def _start_again(
    layout: RunLayout,
    changed: tuple[Profile, LaunchPlan] | None,
    *,
    accepts_changed_data: bool,
) -> None:
    wanted = None if changed is None else anchored(changed[0], Path.cwd())
    problem = resume_problem(layout, wanted)
    if problem is not None:
        raise ProblemError(problem)
    started = read_profile(layout.profile)
    check_trusted(code_of_run(layout, started))
    changes: tuple[Change, ...] = ()
    if changed is not None and wanted is not None:
        amend(layout, wanted, changed[1])
        changes = changes_between(started, wanted)
    make_private_folder(layout.requests)
    for request in Request:
        (layout.requests / request).unlink(missing_ok=True)
    # An earlier answer that no trainer has heard does not count any more.
    layout.accepted_data.unlink(missing_ok=True)
    if accepts_changed_data:
        touch_private(layout.accepted_data)
    restarted = RunRestarted(
        time_s=time.time(),
        attempt=0,
        changes=changes,
        accepts_changed_data=accepts_changed_data,
    )
    log = LineLog(layout.events)
    try:
        log.append(encode_event(restarted))
    finally:
        log.close()
    start_supervisor(layout)


def start_supervisor(layout: RunLayout) -> None:
    """Start the supervisor of a run that was filled or is to go on; returns at once.

    Several of them for one start do no harm: the first one takes it up, the others end.

    Raises:
        OSError: No process can be made, or the run's log cannot be written.
    """
    command = (sys.executable, "-P", "-m", "gpupanel.runs.supervision.supervisor", str(layout.root))
    start_detached(command, layout.root, layout.trainer_log, f"supervisor of {layout.name}")


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
        make_private_folder(runs_dir, parents=True)
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
