"""What people ask of the queue: each order is carried out on the files, and wakes the scheduler."""

import os
import secrets
import time
from dataclasses import dataclass
from pathlib import Path

from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import size_of
from gpupanel.planning.visible_gpus import cuda_variables_of
from gpupanel.runs.directory.profile_file import anchored, read_run_profile
from gpupanel.runs.queue.entry import QueueEntry
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.queue.waiting_line import WaitingLine
from gpupanel.runs.queue.waking import ensure_scheduler
from gpupanel.runs.resumable import resume_problem
from gpupanel.runs.trust.trusted import check_trusted
from gpupanel.runs.trust.user_code import code_of_profile


def add(files: QueueFiles, profile: Profile, runs_dir: Path) -> QueueEntry:
    """Let a run of the profile wait for its devices, behind all others.

    Relative paths in the profile are taken from the working directory.

    Raises:
        CodeNotTrustedError: It names Python code that nobody trusted yet.
        ProblemError: The queue cannot be changed.
    """
    check_trusted(code_of_profile(profile))
    entry = QueueEntry(
        id=secrets.token_hex(4),
        name=profile.name,
        runs_dir=runs_dir.absolute(),
        added_s=time.time(),
        cuda_variables=cuda_variables_of(os.environ),
    )

    def added(line: WaitingLine) -> WaitingLine:
        files.write_profile(entry.id, anchored(profile, Path.cwd()))
        return line.with_added(entry)

    files.change(added)
    _wake(files)
    return entry


def continue_run(
    files: QueueFiles, layout: RunLayout, profile: Profile | None = None
) -> QueueEntry:
    """Let a run that has ended wait, behind all others, to go on from its last checkpoint.

    One that waits for that already stays as it is.

    Args:
        files: Of the queue.
        layout: The run.
        profile: With what it is to go on; ``None``: as it was started.

    Raises:
        ProblemError: It cannot go on, or the queue cannot be changed.
    """
    problem = resume_problem(layout, profile and anchored(profile, Path.cwd()))
    if problem is not None:
        raise ProblemError(problem)
    wanted = profile or read_run_profile(layout)
    entry = QueueEntry(
        id=secrets.token_hex(4),
        name=wanted.name,
        runs_dir=layout.root.parent,
        added_s=time.time(),
        run=layout.root,
        is_filled=True,
        continues_from=size_of(layout.events),
        cuda_variables=cuda_variables_of(os.environ),
    )

    def added(line: WaitingLine) -> WaitingLine:
        if any(each.run == layout.root for each in (*line.waiting, *line.running)):
            return line
        files.write_profile(entry.id, anchored(wanted, Path.cwd()))
        return line.with_added(entry)

    line = files.change(added)
    _wake(files)
    return next(each for each in reversed(line.entries) if each.run == layout.root)


def edit(
    files: QueueFiles, entry_id: str, profile: Profile, revision: int | None = None
) -> QueueEntry:
    """Give an entry that was not started another profile; a refused one waits again.

    Args:
        files: Of the queue.
        entry_id: Which entry.
        profile: What it is to have.
        revision: The entry's when the profile was read of which this one was made; ``None``:
            whatever stands there is replaced.

    Raises:
        CodeNotTrustedError: The profile names Python code that nobody trusted yet.
        ProblemError: There is no such entry, or it was started, or somebody else has edited it
            meanwhile; or the queue cannot be changed.
    """
    check_trusted(code_of_profile(profile))

    def edited(line: WaitingLine) -> WaitingLine:
        after = line.with_edited(entry_id, profile.name, revision)
        files.write_profile(entry_id, anchored(profile, Path.cwd()))
        return after

    line = files.change(edited)
    _wake(files)
    return line.entry(entry_id)


def remove(files: QueueFiles, entry_id: str) -> WaitingLine:
    """Take an entry out of the queue; its run, if it has ended, stays among the runs.

    Raises:
        ProblemError: There is no such entry, or its run goes on; or the queue cannot be changed.
    """
    line = files.change(lambda line: line.with_removed(entry_id))
    files.remove_left_overs()
    return line


@dataclass(frozen=True, slots=True)
class RemovedEntry:
    """What was taken out of the queue, and can be put back.

    Attributes:
        place: Where it stood among all entries, counted from 0.
        sweep: The folder of the sweep whose trial it is; ``None``: of none.
    """

    entry: QueueEntry
    profile: Profile
    place: int
    sweep: Path | None = None


def take_out(files: QueueFiles, entry_id: str) -> RemovedEntry | None:
    """As :func:`remove`; ``None``: its profile cannot be read, so that it cannot be put back.

    Raises:
        ProblemError: There is no such entry, or its run goes on; or the queue cannot be changed.
    """
    line = files.read()
    entry = line.entry(entry_id)
    try:
        removed = RemovedEntry(entry, files.profile(entry_id), line.entries.index(entry))
    except ProblemError:
        removed = None
    remove(files, entry_id)
    return removed


def put_back(files: QueueFiles, removed: RemovedEntry) -> WaitingLine:
    """Undo :func:`take_out`: the entry stands where it stood, and waits again if it did.

    Raises:
        ProblemError: The queue cannot be changed.
    """

    def returned(line: WaitingLine) -> WaitingLine:
        after = line.with_returned(removed.entry, removed.place)
        if after != line:
            files.write_profile(removed.entry.id, removed.profile)
        return after

    line = files.change(returned)
    _wake(files)
    return line


def move(files: QueueFiles, entry_id: str, place: int) -> WaitingLine:
    """Put a waiting entry at another place among the waiting ones, counted from 1.

    Raises:
        ProblemError: There is no such entry, or it does not wait; or the queue cannot be changed.
    """
    return files.change(lambda line: line.with_moved(entry_id, place))


def pause(files: QueueFiles) -> WaitingLine:
    """Start nothing any more until :func:`go_on`; what runs goes on.

    Raises:
        ProblemError: The queue cannot be changed.
    """
    return files.change(lambda line: line.with_paused(paused=True))


def go_on(files: QueueFiles) -> WaitingLine:
    """Start what waits again after :func:`pause`.

    Raises:
        ProblemError: The queue cannot be changed.
    """
    line = files.change(lambda line: line.with_paused(paused=False))
    _wake(files)
    return line


def clear(files: QueueFiles) -> WaitingLine:
    """Take the entries out that have ended or were refused.

    Raises:
        ProblemError: The queue cannot be changed.
    """
    line = files.change(WaitingLine.without_ended)
    files.remove_left_overs()
    return line


def _wake(files: QueueFiles) -> None:
    """See to the scheduler after the queue was changed.

    Raises:
        ProblemError: It cannot be started now; the change stands.
    """
    try:
        ensure_scheduler(files)
    except ProblemError as error:
        stands = "The queue was changed nevertheless: `gpupanel queue` starts what waits."
        raise ProblemError(
            *(
                problem.model_copy(update={"hint": f"{problem.hint} {stands}".strip()})
                for problem in error.problems
            )
        ) from error
