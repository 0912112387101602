"""Watches the queue and carries out what is asked of it, off the GUI thread: both touch files."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from typing_extensions import override

from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.queue.entry import QueueEntry
from gpupanel.runs.queue.orders import RemovedEntry
from gpupanel.runs.queue.waiting_line import WaitingLine
from gpupanel.runs.trust.trusted import CodeNotTrustedError
from gpupanel.runs.trust.user_code import UserCode
from gpupanel.ui.workers.facade import WorkerFacade
from gpupanel.ui.workers.worker_thread import Worker, guarded_slot
from gpupanel.ui.workers.workplace import workplace

if TYPE_CHECKING:
    from gpupanel.domain.problem import Problem
    from gpupanel.ui.workers.workplace import Queue

POLL_MS = 500
EMPTY_POLL_MS = 2_000
"""Where nothing waits: an entry that another process adds may be seen a moment later, while each
look takes a tenth of what a window takes that nobody uses."""
_CHECKS_A_WAKING = 10
"""A scheduler that is not there is started again after so many checks: if it cannot work, it is
not started twice a second."""


@dataclass(frozen=True, slots=True)
class QueueOrder:
    """Something to do with the queue.

    Attributes:
        act: Does it.
        edited: The id of the entry that gets another profile by it.
    """

    act: Callable[["Queue"], object]
    edited: str = ""


class _QueueKeeper(Worker):
    changed = Signal(object)
    problemsChanged = Signal(object)

    def __init__(self, queue: "Queue") -> None:
        super().__init__()
        self._queue = queue
        self._seen: object = None
        self._line = WaitingLine()
        self._problems: tuple[Problem, ...] = ()
        self._checks = 0
        self._timer: QTimer | None = None

    def begin(self) -> None:
        """Start to watch; a timer belongs to the thread that makes it."""
        self._timer = QTimer(self, interval=POLL_MS)
        self._timer.timeout.connect(self.check)
        self._timer.start()
        self.check()

    @guarded_slot(polled=True)
    def check(self) -> None:
        fingerprint = self._queue.fingerprint()
        if fingerprint != self._seen:
            self._line = self._queue.read()
            self.changed.emit(self._line)
            self._seen = fingerprint
        if fingerprint is not None and self._checks % _CHECKS_A_WAKING == 0:
            # Before another scheduler is started: what kept the last one from working.
            self._see_problems()
            self._queue.wake()
        self._checks += 1
        pause_ms = POLL_MS if self._line.entries else EMPTY_POLL_MS
        if self._timer is not None and self._timer.interval() != pause_ms:
            self._timer.setInterval(pause_ms)

    def carry_out(self, order: QueueOrder) -> object:
        """Do it; returns what came of it, or that code keeps it which nobody trusts yet."""
        try:
            return order.act(self._queue)
        except CodeNotTrustedError as error:
            return error

    def carry_out_trusted(self, order: QueueOrder, code: tuple[UserCode, ...]) -> object:
        """Remember that the code is trusted, then do it."""
        workplace().trust(code)
        return self.carry_out(order)

    def profile(self, entry_id: str) -> tuple[int, Profile]:
        """The revision and the profile of an entry."""
        return self._queue.profile(entry_id)

    def _see_problems(self) -> None:
        problems = self._queue.problems(self._line)
        if problems != self._problems:
            self._problems = problems
            self.problemsChanged.emit(problems)

    @Slot()
    @override
    def close(self) -> None:
        if self._timer is not None:
            self._timer.stop()


class QueueWatch(WorkerFacade):
    """Knows the user's queue; ``refused`` says why something was not done.

    Orders are carried out in order; ``changed`` follows, or ``refused``, or ``notTrusted``.

    Args:
        folder: Of the queue, where it is one of this machine.
        parent: Owns it.
    """

    changed = Signal(object)
    """The queue as it is now: a :class:`WaitingLine`."""
    problemsChanged = Signal(object)
    """What keeps the queue from working: a tuple of :class:`Problem`."""
    profileRead = Signal(str, int, object)
    """The revision and the profile of the entry with that id: a :class:`Profile`."""
    added = Signal(str)
    """There is a new entry with that id."""
    removed = Signal(object)
    """An entry was taken out that can be put back: a :class:`RemovedEntry`."""
    edited = Signal(str)
    """The entry with that id has the other profile."""
    notTrusted = Signal(object, object)
    """A :class:`QueueOrder` waits for an answer, and the code that nobody trusted yet."""

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        self._keeper = _QueueKeeper(workplace().queue(folder))
        super().__init__("queue", parent, self._keeper)
        self._keeper.changed.connect(self.changed)
        self._keeper.problemsChanged.connect(self.problemsChanged)

    def begin(self) -> None:
        """Start to watch the queue; it is reported once, and whenever it has changed."""
        self.submit(self._keeper.begin)

    def add(self, profile: Profile, runs_dir: Path) -> None:
        """Let a run of the profile wait behind all others; ``added`` follows."""
        self._order(QueueOrder(lambda queue: queue.add(profile, runs_dir)))

    def continue_run(self, layout: RunLayout, profile: Profile | None) -> None:
        """Let a run wait that is to go on, with another profile where one is given."""
        self._order(QueueOrder(lambda queue: queue.continue_run(layout, profile)))

    def edit(self, entry_id: str, profile: Profile, revision: int) -> None:
        """Give a waiting entry another profile; ``edited`` follows.

        Args:
            entry_id: Which one.
            profile: What it is to have.
            revision: The entry's when the profile was read of which this one was made.
        """
        self._order(QueueOrder(lambda queue: queue.edit(entry_id, profile, revision), entry_id))

    def move(self, entry_id: str, place: int) -> None:
        """Put a waiting entry at another place, counted from 1."""
        self._order(QueueOrder(lambda queue: queue.move(entry_id, place)))

    def remove(self, entry_id: str) -> None:
        """Take an entry out; ``removed`` follows where it can be put back."""
        self._order(QueueOrder(lambda queue: queue.take_out(entry_id)))

    def put_back(self, removed: RemovedEntry) -> None:
        """Let an entry that was taken out stand where it stood."""
        self._order(QueueOrder(lambda queue: queue.put_back(removed)))

    def set_paused(self, *, paused: bool) -> None:
        """Start nothing any more, or go on."""
        self._order(QueueOrder(lambda queue: queue.set_paused(paused=paused)))

    def clear(self) -> None:
        """Take those out that have ended."""
        self._order(QueueOrder(lambda queue: queue.clear()))

    def read_profile(self, entry_id: str) -> None:
        """Read the profile of an entry; ``profileRead`` follows."""
        read = partial(self._keeper.profile, entry_id)
        self.submit(read, partial(self._on_profile_read, entry_id))

    def carry_out_trusted(self, order: QueueOrder, code: tuple[UserCode, ...]) -> None:
        """Do what waited for an answer: the person trusts the code."""
        act = partial(self._keeper.carry_out_trusted, order, code)
        self.submit(act, partial(self._on_carried_out, order))

    def _on_profile_read(self, entry_id: str, read: tuple[int, Profile]) -> None:
        self.profileRead.emit(entry_id, *read)

    def _order(self, order: QueueOrder) -> None:
        self.submit(partial(self._keeper.carry_out, order), partial(self._on_carried_out, order))

    def _on_carried_out(self, order: QueueOrder, found: object) -> None:
        if isinstance(found, CodeNotTrustedError):
            self.notTrusted.emit(order, found.code)
            return
        if order.edited:
            self.edited.emit(order.edited)
        elif isinstance(found, QueueEntry):
            self.added.emit(found.id)
        elif isinstance(found, RemovedEntry):
            self.removed.emit(found)
        self.submit(self._keeper.check)
