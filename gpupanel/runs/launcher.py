"""Starting a run: its directory is made, then a supervisor that outlives whoever started it."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from filelock import Timeout

from gpupanel.domain.checked_files import CheckedFiles
from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.events import Event, RunEnded, RunRestarted, encode_event
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Change, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import dump_profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import make_folder, remove, touch
from gpupanel.files.line_log import LineLog
from gpupanel.files.locks import check_folder, lock_in_folder
from gpupanel.files.plan_file import plan_if_readable, write_plan
from gpupanel.files.whole_files import write_whole
from gpupanel.planning.resuming import changes_between
from gpupanel.runs.detached import start_detached
from gpupanel.runs.directory.amendments import amend, finish_amendment
from gpupanel.runs.directory.disk_problems import disk_problem, space_problem
from gpupanel.runs.directory.private_files import make_private_folder
from gpupanel.runs.directory.profile_file import anchored
from gpupanel.runs.directory.requests import write_suspend_after
from gpupanel.runs.directory.start_model import keep_start_model
from gpupanel.runs.directory.unsafe_entries import check_run_folder
from gpupanel.runs.error_problems import process_problem
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.runs.history.summaries import summarize_run
from gpupanel.runs.machine_settings import check_hours
from gpupanel.runs.named_paths import checked_path
from gpupanel.runs.processes.run_processes import await_end_of_processes, end_processes_of
from gpupanel.runs.resumable import goes_on, resume_problem
from gpupanel.runs.run_folders import named_run, named_run_folder, new_run_folder
from gpupanel.runs.trust.checked_start import check_start, checked_files
from gpupanel.runs.trust.trusted import check_trusted
from gpupanel.runs.trust.user_code import code_of_profile, digests_of_code, keep_code

_ORPHANS_S = 20.0
"""Trainers whose supervisor was killed have this long to save and end before the run goes on;
then they are ended."""


StartSupervisor = Callable[[RunLayout, CheckedFiles], None]
SUPERVISOR: Final = "gpupanel.runs.supervision.process"
"""The module that supervises a run."""


def launch(
    profile: Profile,
    plan: LaunchPlan,
    runs_dir: Path,
    name: str | None = None,
    *,
    outside_hours: bool = False,
) -> RunLayout:
    """Make the run's directory and start its supervisor, detached, in a session of its own.

    Takes some milliseconds of disk and process work, and as long as the driver needs to say
    whether the plan's GPUs answer; it does not wait for the run.

    Args:
        profile: What the person chose.
        plan: What was decided from it.
        runs_dir: The folder of runs.
        name: Of the run; ``None``: it is named after the moment and the profile.
        outside_hours: Let it begin though its hours have not.

    Raises:
        CodeNotTrustedError: The profile names Python code that nobody trusted yet.
        OutsideHoursError: Its hours have not begun.
        ProblemError: A GPU of the plan is gone, the directory cannot be made, there is no space
            left for a run, or the system starts no process. Nothing of the run is left.
    """
    if not outside_hours:
        check_hours(profile)
    _check_devices(plan)
    layout, checked = create_checked_run(profile, plan, runs_dir, name)
    try:
        if outside_hours:
            touch(layout.outside_hours)
        start_supervisor(layout, checked)
    except OSError as error:
        _remove(layout)
        raise ProblemError(process_problem(error, layout.root)) from error
    except Exception:
        _remove(layout)
        raise
    return layout


def resume(
    layout: RunLayout,
    changed: tuple[Profile, LaunchPlan] | None = None,
    *,
    accepts_changed_data: bool = False,
    outside_hours: bool = False,
    suspend_after_epoch: int | None = None,
    start: StartSupervisor | None = None,
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
        outside_hours: Let it work though its hours have not begun, until they have and end again.
        suspend_after_epoch: Suspend it again when this epoch has ended, counted from 1; ``None``:
            it goes on to its end.
        start: Starts its supervisor; ``None``: :func:`start_supervisor`.

    Raises:
        CodeNotTrustedError: Its directory holds Python code that nobody trusted here.
        OutsideHoursError: Its hours have not begun.
        ProblemError: It runs, it has come to its end, there is no checkpoint to go on from, a GPU
            of its plan is gone, or the profile would make it another training; or its directory
            cannot be written, or the system starts no process. The run's outcome is then what it
            was before.
    """
    try:
        check_run_folder(layout)
        with lock_in_folder(layout.resume_lock, _ORPHANS_S + 10.0):
            await_end_of_processes(layout, _ORPHANS_S)
            finish_amendment(layout)
            _start_again(
                layout,
                changed,
                accepts_changed_data=accepts_changed_data,
                outside_hours=outside_hours,
                suspend_after_epoch=suspend_after_epoch,
                start=start or start_supervisor,
            )
    except Timeout as error:
        raise ProblemError(goes_on(layout)) from error
    except OSError as error:
        raise ProblemError(disk_problem(error, layout.root)) from error


def _start_again(
    layout: RunLayout,
    changed: tuple[Profile, LaunchPlan] | None,
    *,
    accepts_changed_data: bool,
    outside_hours: bool,
    suspend_after_epoch: int | None,
    start: StartSupervisor,
) -> None:
    wanted = None if changed is None else anchored(changed[0], Path.cwd())
    problem = resume_problem(layout, wanted)
    if problem is not None:
        raise ProblemError(problem)
    started, checked = check_start(layout)
    if not outside_hours:
        check_hours(wanted or started, resumes=True)
    plan = plan_if_readable(layout) if changed is None else changed[1]
    if plan is not None:
        _check_devices(plan)
    changes: tuple[Change, ...] = ()
    if changed is not None and wanted is not None:
        checked = checked.and_of(amend(layout, wanted, changed[1]))
        changes = changes_between(started, wanted)
    make_folder(layout.requests)
    for request in Request:
        remove(layout.requests / request, layout.root)
    if suspend_after_epoch is not None:
        write_suspend_after(layout, suspend_after_epoch)
    # Earlier answers, which no trainer has heard, or which were meant for once.
    for answer, is_given in (
        (layout.accepted_data, accepts_changed_data),
        (layout.outside_hours, outside_hours),
    ):
        remove(answer)
        if is_given:
            touch(answer)
    # What they still write would be taken for words of the run that goes on.
    end_processes_of(layout)
    before = summarize_run(layout)
    restarted = RunRestarted(
        time_s=time.time(),
        attempt=0,
        changes=changes,
        accepts_changed_data=accepts_changed_data,
    )
    _append(layout, restarted)
    try:
        start(layout, checked)
    except OSError as error:
        _append(layout, _ended_as_before(before))
        raise ProblemError(process_problem(error, layout.root)) from error
    except Exception:
        _append(layout, _ended_as_before(before))
        raise


def _append(layout: RunLayout, event: Event) -> None:
    log = LineLog(layout.events)
    try:
        log.append(encode_event(event))
    finally:
        log.close()


def _ended_as_before(before: RunSummary) -> RunEnded:
    """The last word of a run that was to go on and did not: no supervisor is there to say one."""
    return RunEnded(
        time_s=time.time(),
        outcome=before.outcome or Outcome.LOST,
        metrics=before.metrics,
        examples_per_second=before.examples_per_second,
        waiting_for_data=before.waiting_for_data,
        problem=before.problem,
        saved=before.saved,
    )


def _check_devices(plan: LaunchPlan) -> None:
    # Here and not above: a window that starts needs none of it.
    from gpupanel.runs.readiness import check_devices_answer

    check_devices_answer(plan)


def start_supervisor(
    layout: RunLayout, checked: CheckedFiles, supervisor: str = SUPERVISOR
) -> None:
    """Start the supervisor of a run that was filled or is to go on; returns at once.

    Several of them for one start do no harm: the first one claims it, the others end.

    Args:
        layout: The run.
        checked: What was checked of its files. The run uses nothing else of them.
        supervisor: The module that supervises it.

    Raises:
        OSError: No process can be made, or the run's log cannot be written.
    """
    command = python_module_command(supervisor, str(layout.root), checked.model_dump_json())
    start_detached(command, layout.trainer_log, f"supervisor of {layout.name}")


def create_run(
    profile: Profile, plan: LaunchPlan, runs_dir: Path, name: str | None = None
) -> RunLayout:
    """Make the run's directory with its profile and plan, readable by its owner only.

    Relative paths are taken from the working directory: the trainer has another.

    Raises:
        CodeNotTrustedError: The profile names Python code that nobody trusted yet; nothing is
            made.
        ProblemError: The directory cannot be made, or there is no space left for a run; nothing
            of it is left.
    """
    layout, _ = create_checked_run(profile, plan, runs_dir, name)
    return layout


def create_checked_run(
    profile: Profile, plan: LaunchPlan, runs_dir: Path, name: str | None = None
) -> tuple[RunLayout, CheckedFiles]:
    """Like :func:`create_run`; also returns what :func:`start_supervisor` passes on."""
    check_trusted(code_of_profile(profile))
    layout = reserve_run(profile.name, runs_dir, name)
    try:
        return layout, fill_run(layout, profile, plan)
    except BaseException:
        _remove(layout)
        raise


def _remove(layout: RunLayout) -> None:
    """Remove a run that never began: no supervisor was started, so nobody works in it."""
    shutil.rmtree(layout.root, ignore_errors=True)


def reserve_run(profile_name: str, runs_dir: Path, name: str | None = None) -> RunLayout:
    """Make an empty directory that no other run has; it is no run yet.

    Raises:
        ProblemError: The directory cannot be made, the name cannot be given, or there is no space
            left for a run.
    """
    checked_path(str(runs_dir.absolute()))
    try:
        make_private_folder(runs_dir, parents=True)
        check_folder(runs_dir)
        problem = space_problem(runs_dir)
        if problem is not None:
            raise ProblemError(problem)
        if name is not None:
            return RunLayout(named_run_folder(named_run(runs_dir, name)))
        return RunLayout(new_run_folder(runs_dir.absolute(), profile_name))
    except OSError as error:
        raise ProblemError(disk_problem(error, runs_dir)) from error


def fill_run(layout: RunLayout, profile: Profile, plan: LaunchPlan) -> CheckedFiles:
    """Write what a run needs to start; its profile last, which makes it a run for everybody.

    Python code that the profile names is copied into the run, whose own it is from then on, and so
    is a saved model that is trained further.

    Returns:
        What these files hold; whoever starts the run hands that on.

    Raises:
        CodeNotTrustedError: Nobody trusted that code yet.
        ProblemError: Something cannot be written, or the model cannot be read.
    """
    code = code_of_profile(profile)
    check_trusted(code)
    try:
        planned = write_plan(layout, plan)
        make_folder(layout.requests)
        touch(layout.trainer_log)
        keep_code(layout, code)
        keep_start_model(layout, profile)
        content = dump_profile(anchored(profile.for_one_run, Path.cwd())).encode()
        write_whole(layout.profile, content, private=True)
    except OSError as error:
        raise ProblemError(disk_problem(error, layout.root)) from error
    return checked_files(layout, content, planned).and_of(digests_of_code(layout, code))
