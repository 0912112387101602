"""The user's queue as a window works with it: what it holds, and what people ask of it."""

from dataclasses import replace
from pathlib import Path

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.queue import orders
from gpupanel.runs.queue.entry import QueueEntry
from gpupanel.runs.queue.orders import RemovedEntry
from gpupanel.runs.queue.queue_files import Fingerprint, QueueFiles
from gpupanel.runs.queue.scheduler_trouble import queue_problems
from gpupanel.runs.queue.waiting_line import WaitingLine
from gpupanel.runs.queue.waking import ensure_scheduler
from gpupanel.runs.sweeps.trial_entries import check_sweep_goes_on, sweep_of_entry


class UserQueue:
    """One on this machine; each method may wait for files and locks.

    What cannot be done raises :class:`~gpupanel.domain.problem.ProblemError`, code that nobody
    trusts yet :class:`~gpupanel.runs.trust.trusted.CodeNotTrustedError`.

    Args:
        folder: Of the queue.
    """

    def __init__(self, folder: Path) -> None:
        self._files = QueueFiles(folder)

    def fingerprint(self) -> Fingerprint | None:
        """Something that differs after each change; ``None`` while there is no queue."""
        return self._files.fingerprint()

    def read(self) -> WaitingLine:
        """The queue as it is now."""
        return self._files.read()

    def problems(self, line: WaitingLine) -> tuple[Problem, ...]:
        """What keeps the queue, which is as that line, from working."""
        return queue_problems(self._files, line)

    def wake(self) -> None:
        """See to it that what waits is started; what is wrong is reported where it is read."""
        try:
            ensure_scheduler(self._files)
        except ProblemError:
            return

    def profile(self, entry_id: str) -> tuple[int, Profile]:
        """The revision and the profile of an entry."""
        # In this order: a profile that is written in between is of a later revision, and what is
        # made of it is refused rather than that it replaces another's.
        revision = self._files.read().entry(entry_id).revision
        return revision, self._files.profile(entry_id)

    def add(self, profile: Profile, runs_dir: Path) -> QueueEntry:
        """Let a run of the profile wait behind all others."""
        return orders.add(self._files, profile, runs_dir)

    def continue_run(self, layout: RunLayout, profile: Profile | None) -> QueueEntry:
        """Let a run wait that is to go on, with another profile where one is given."""
        return orders.continue_run(self._files, layout, profile)

    def edit(self, entry_id: str, profile: Profile, revision: int) -> QueueEntry:
        """Give a waiting entry another profile, which was made of that revision of its own."""
        return orders.edit(self._files, entry_id, profile, revision)

    def move(self, entry_id: str, place: int) -> None:
        """Put a waiting entry at another place, counted from 1."""
        orders.move(self._files, entry_id, place)

    def take_out(self, entry_id: str) -> RemovedEntry | None:
        """Take an entry out; ``None``: it cannot be put back."""
        sweep = sweep_of_entry(self._files.read(), entry_id)
        removed = orders.take_out(self._files, entry_id)
        return None if removed is None else replace(removed, sweep=sweep)

    def put_back(self, removed: RemovedEntry) -> None:
        """Let an entry that was taken out stand where it stood."""
        if removed.sweep is not None:
            check_sweep_goes_on(self._files.read(), removed.sweep)
        orders.put_back(self._files, removed)

    def set_paused(self, *, paused: bool) -> None:
        """Start nothing any more, or go on."""
        (orders.pause if paused else orders.go_on)(self._files)

    def clear(self) -> None:
        """Take those out that have ended."""
        orders.clear(self._files)
