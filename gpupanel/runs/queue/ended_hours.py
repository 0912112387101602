"""A run whose hours end: it stands in the queue, and waits there once it is suspended.

Its supervisor notes that in the queue before it asks the run to suspend, so that whoever dies
after that, the entry stays: it is followed as that of any run that goes on, and waits again when
the run has ended. Noting it twice is noting it once: an entry is known by its run.
"""

import secrets
import time
from contextlib import suppress
from pathlib import Path

from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import size_of
from gpupanel.files.plan_file import plan_if_readable
from gpupanel.runs.directory.profile_file import read_run_profile
from gpupanel.runs.directory.requests import is_asked
from gpupanel.runs.history.summaries import summarize_run
from gpupanel.runs.queue.entry import EntryState, QueueEntry
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.queue.running_runs import held_devices
from gpupanel.runs.queue.waiting_line import WaitingLine
from gpupanel.runs.queue.waking import ensure_scheduler
from gpupanel.runs.resumable import resume_problem


def await_hours(files: QueueFiles, layout: RunLayout, profile: Profile) -> None:
    """Have a run that goes on wait for its hours in the queue once it is suspended.

    Args:
        files: The queue.
        layout: The run.
        profile: Its profile.

    Raises:
        ProblemError: The queue cannot be changed.
    """

    def noted(line: WaitingLine) -> WaitingLine:
        now_s = time.time()
        live = (*line.running, *line.waiting)
        entry = next((each for each in live if each.run == layout.root), None)
        if entry is None:
            entry = QueueEntry(
                id=secrets.token_hex(4),
                name=profile.name,
                runs_dir=layout.root.parent,
                added_s=now_s,
                run=layout.root,
                is_filled=True,
                started_s=now_s,
                devices=_devices(layout),
            )
            files.write_profile(entry.id, profile)
            line = line.with_added(entry)
        changes = {"state": EntryState.RUNNING, "hours_ended_s": now_s}
        return line.with_changed(entry.model_copy(update={**changes, "waits": "", "begin_s": None}))

    files.change(noted)
    with suppress(ProblemError):  # the run's supervisor tries it again at its end
        ensure_scheduler(files)


def hours_entry(line: WaitingLine, run: Path) -> QueueEntry | None:
    """The entry that continues a run when its hours begin; ``None``: nothing does."""
    return next(
        (
            each
            for each in line.entries
            if each.run == run and (each.is_suspended or (each.is_running and each.hours_ended_s))
        ),
        None,
    )


def note_end(files: QueueFiles, entry: QueueEntry, ended: QueueEntry) -> None:
    """Note how the run of an entry has ended; suspended for its hours, the entry waits again.

    Args:
        files: The queue.
        entry: As it was while its run went on.
        ended: As it is now that the run has ended.

    Raises:
        ProblemError: The queue cannot be changed.
    """
    profile = _profile_to_continue(entry, ended)

    def noted(line: WaitingLine) -> WaitingLine:
        if profile is None or entry.run is None:
            return line.with_changed(ended)
        # As the run has it by now: on the device that it was given, with what was changed since.
        files.write_profile(entry.id, profile)
        changes = {
            "state": EntryState.WAITING,
            "started_s": None,
            "hours_ended_s": None,
            "continues_from": size_of(RunLayout(entry.run).events),
        }
        return line.with_changed(entry.model_copy(update=changes))

    files.change(noted)


def _profile_to_continue(entry: QueueEntry, ended: QueueEntry) -> Profile | None:
    """With what the run continues when its hours begin again; ``None``: it does not."""
    if entry.hours_ended_s is None or entry.run is None:
        return None
    layout = RunLayout(entry.run)
    by_person = is_asked(layout, Request.STOP) or is_asked(layout, Request.END)
    if by_person or ended.outcome in (Outcome.COMPLETED, Outcome.FAILED):
        return None
    try:
        if resume_problem(layout) is not None or _is_at_its_epoch(entry, layout):
            return None
        return _on_its_devices(read_run_profile(layout), layout)
    except ProblemError:
        return None  # its folder is gone, or damaged: that it is lost was said


def _is_at_its_epoch(entry: QueueEntry, layout: RunLayout) -> bool:
    """Whether the run was suspended after the epoch that was named for it: it saves its model."""
    saved = None if entry.suspend_after_epoch is None else summarize_run(layout).saved
    return saved is not None and saved.model


def _on_its_devices(profile: Profile, layout: RunLayout) -> Profile:
    """The profile with the devices that the run has, where it leaves them open.

    Others could be free by then, and gave other roundings; or the shell that it was started from
    had named them, which nobody asks any more.
    """
    plan = plan_if_readable(layout)
    if profile.devices.visible or plan is None or plan.is_on_nodes:
        return profile
    keys = tuple(device.key for device in plan.devices)
    devices = profile.devices.model_copy(update={"visible": keys})
    return profile.model_copy(update={"devices": devices})


def _devices(layout: RunLayout) -> tuple[str, ...]:
    plan = plan_if_readable(layout)
    return () if plan is None else tuple(held_devices(plan).values())
