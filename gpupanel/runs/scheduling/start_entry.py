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
"""

import shutil
import time
from collections.abc import Callable

from gpupanel.domain.checked_files import CheckedFiles
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.start_claim import is_start_claimed
from gpupanel.runs.error_problems import process_problem
from gpupanel.runs.launcher import fill_run, reserve_run
from gpupanel.runs.queue.entry import EntryState, QueueEntry
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.queue.waiting_line import WaitingLine
from gpupanel.runs.trust.checked_start import check_start

StartSupervisor = Callable[[RunLayout, CheckedFiles], None]


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
        changes = {"state": EntryState.RUNNING, "waits": "", "started_s": time.time()}
        return line.with_changed(line.entry(entry.id).model_copy(update=changes))

    after = files.change(reserved)
    return any(each.id == entry.id and each.is_running for each in after.entries)


def start_entry(
    files: QueueFiles,
    entry: QueueEntry,
    profile: Profile,
    plan: LaunchPlan,
    start_supervisor: StartSupervisor,
) -> None:
    """Make the run of an entry that was reserved, and start it.

    Raises:
        ProblemError: It cannot be made or started.
    """
    layout = reserve_run(profile.name, entry.runs_dir)
    entry = _noted(files, entry.model_copy(update={"run": layout.root, "is_filled": False}))
    checked = fill_run(layout, profile, plan)
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


def put_back(files: QueueFiles, entry: QueueEntry) -> None:
    """Let an entry wait again that was reserved and never started, with nothing left of it.

    Raises:
        ProblemError: The queue cannot be changed.
    """
    _remove_unfilled(entry)
    changes = {"state": EntryState.WAITING, "run": None, "started_s": None}
    _noted(files, entry.model_copy(update=changes))


def refuse(files: QueueFiles, entry: QueueEntry, error: ProblemError) -> None:
    """Note that an entry cannot be started, and why; an edited one waits again.

    Raises:
        ProblemError: The queue cannot be changed.
    """

    def refused(line: WaitingLine) -> WaitingLine:
        found = next((each for each in line.entries if each.id == entry.id), None)
        if found is None or found.revision != entry.revision or found.is_filled:
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


def _remove_unfilled(entry: QueueEntry) -> None:
    if entry.run is not None and not entry.is_filled:
        shutil.rmtree(entry.run, ignore_errors=True)
