"""From an entry whose turn has come to its run, once, wherever the scheduler may be killed.

Each step is written down in the queue before the next one is done, so that whoever comes after
knows how far it got:

1. The entry is *running*: nobody else starts it, edits it or removes it.
2. A directory of its own is made, and named in the entry. Killed before it was named, an empty
   folder stays.
3. The directory is filled, and the entry says so. Killed before, the directory is thrown away and
   the entry waits again: no supervisor was ever started in it.
4. A supervisor is started. Killed around that, another one is started: only one
   supervisor claims a start of a run.

An entry that continues a suspended run has its directory from the beginning. Killed before the
run's events say that it was continued, it waits again; else as in 4.
"""

import shutil
import time

from gpupanel.domain.checked_files import CheckedFiles
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import size_of
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.requests import write_suspend_after
from gpupanel.runs.directory.start_claim import is_start_claimed
from gpupanel.runs.error_problems import process_problem
from gpupanel.runs.launcher import StartSupervisor, fill_run, reserve_run, resume
from gpupanel.runs.queue.entry import EntryState, QueueEntry
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.queue.waiting_line import WaitingLine
from gpupanel.runs.trust.checked_start import check_start


def reserve(files: QueueFiles, entry: QueueEntry, selected_from: WaitingLine) -> bool:
    """Take a waiting entry, unless a person has changed something meanwhile; says whether it was.

    Args:
        files: The queue.
        entry: As it was when its turn came.
        selected_from: The queue as it was then. Reading the devices takes seconds, in which it
            may be paused, or another entry moved before this one.

    Raises:
        ProblemError: The queue cannot be changed.
    """

    def reserved(line: WaitingLine) -> WaitingLine:
        is_overtaken = not _waiting_before(line, entry) <= _waiting_before(selected_from, entry)
        if line.paused or is_overtaken or not _is_as_before(line, entry):
            return line
        return line.with_changed(line.entry(entry.id).model_copy(update=_running()))

    after = files.change(reserved)
    return any(each.id == entry.id and each.is_running for each in after.entries)


def start_entry(
    files: QueueFiles,
    entry: QueueEntry,
    profile: Profile,
    plan: LaunchPlan,
    start_supervisor: StartSupervisor,
) -> None:
    """Make the run of an entry that was reserved, or continue its run, and start it.

    Raises:
        ProblemError: It cannot be made, continued or started.
    """
    if entry.continues_from is not None:
        _continue(entry, profile, plan, start_supervisor)
        return
    layout = reserve_run(profile.name, entry.runs_dir)
    entry = _noted(files, entry.model_copy(update={"run": layout.root, "is_filled": False}))
    checked = fill_run(layout, profile, plan)
    if entry.suspend_after_epoch is not None:
        _write_suspend_after(layout, entry.suspend_after_epoch)
    entry = _noted(files, entry.model_copy(update={"is_filled": True}))
    start_again(entry, start_supervisor, checked)


def start_again(
    entry: QueueEntry, start_supervisor: StartSupervisor, checked: CheckedFiles | None = None
) -> None:
    """Start a supervisor for an entry whose run is filled, unless one has claimed it.

    Args:
        entry: Of the queue.
        start_supervisor: Starts it.
        checked: What was written into the run's folder; ``None``: whoever wrote it is gone, so the
            folder is checked as it is now.

    Raises:
        CodeNotTrustedError: It holds Python code that nobody trusts.
        ProblemError: It or the run's events cannot be read, or no process can be started.
    """
    if entry.run is None or not entry.run.is_dir():
        return  # somebody has removed it: it has ended
    layout = RunLayout(entry.run)
    try:
        if is_start_claimed(layout):
            return
    except OSError as error:
        raise ProblemError(disk_problem(error, layout.events)) from error
    try:
        start_supervisor(layout, checked or check_start(layout)[1])
    except OSError as error:
        raise ProblemError(process_problem(error, layout.root)) from error


def is_to_continue(entry: QueueEntry) -> bool:
    """Whether an entry continues a suspended run, and nobody has continued that yet."""
    if entry.continues_from is None or entry.run is None:
        return False
    return size_of(RunLayout(entry.run).events) <= entry.continues_from


def was_continued(entry: QueueEntry) -> bool:
    """Whether an entry waits to continue a run that a person has continued meanwhile."""
    waits_to = entry.is_waiting and entry.continues_from is not None and entry.run is not None
    return waits_to and not is_to_continue(entry)


def supervise(files: QueueFiles, entry: QueueEntry) -> None:
    """Note that the run of a waiting entry goes on, which somebody else has started.

    Raises:
        ProblemError: The queue cannot be changed.
    """

    def supervised(line: WaitingLine) -> WaitingLine:
        if not _is_as_before(line, entry):
            return line
        return line.with_changed(line.entry(entry.id).model_copy(update=_running()))

    files.change(supervised)


def _running() -> dict[str, object]:
    started = {"state": EntryState.RUNNING, "started_s": time.time()}
    return {**started, "waits": "", "begin_s": None}


def _continue(
    entry: QueueEntry, profile: Profile, plan: LaunchPlan, start_supervisor: StartSupervisor
) -> None:
    if entry.run is None or not is_to_continue(entry):
        start_again(entry, start_supervisor)
        return
    resume(
        RunLayout(entry.run),
        (profile, plan),
        suspend_after_epoch=entry.suspend_after_epoch,
        start=start_supervisor,
    )


def put_back(files: QueueFiles, entry: QueueEntry) -> None:
    """Let an entry wait again that was reserved and never started, with nothing left of it.

    Raises:
        ProblemError: The queue cannot be changed.
    """
    _remove_unfilled(entry)
    run = entry.run if entry.continues_from is not None else None
    changes = {"state": EntryState.WAITING, "run": run, "started_s": None}
    _noted(files, entry.model_copy(update=changes))


def refuse(files: QueueFiles, entry: QueueEntry, error: ProblemError) -> None:
    """Note that an entry cannot be started, and why; an edited one waits again.

    Raises:
        ProblemError: The queue cannot be changed.
    """

    def refused(line: WaitingLine) -> WaitingLine:
        found = next((each for each in line.entries if each.id == entry.id), None)
        if found is None or found.revision != entry.revision:
            return line
        if found.is_filled and found.continues_from is None:
            return line
        _remove_unfilled(found)
        problems = tuple(problem for problem in error.problems if problem.is_error)
        changes = {"state": EntryState.REFUSED, "run": None, "started_s": None, "waits": ""}
        return line.with_changed(found.model_copy(update={**changes, "problems": problems}))

    files.change(refused)


def _is_as_before(line: WaitingLine, entry: QueueEntry) -> bool:
    return any(
        each.id == entry.id and each.is_waiting and each.revision == entry.revision
        for each in line.entries
    )


def _waiting_before(line: WaitingLine, entry: QueueEntry) -> set[str]:
    ids = [each.id for each in line.waiting]
    return set(ids[: ids.index(entry.id)]) if entry.id in ids else set()


def _noted(files: QueueFiles, entry: QueueEntry) -> QueueEntry:
    files.change(lambda line: line.with_changed(entry))
    return entry


def _write_suspend_after(layout: RunLayout, epoch: int) -> None:
    try:
        write_suspend_after(layout, epoch)
    except OSError as error:
        raise ProblemError(disk_problem(error, layout.requests)) from error


def _remove_unfilled(entry: QueueEntry) -> None:
    if entry.run is not None and not entry.is_filled:
        shutil.rmtree(entry.run, ignore_errors=True)
