"""A QThread with one worker in it: how it works, what becomes of its errors, and how it ends."""

import time
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from PySide6.QtCore import QObject, QThread, Signal, Slot
from shiboken6 import isValid
from typing_extensions import override

from gpupanel.runs.error_problems import problems_of

JOIN_LIMIT_MS = 5_000
"""Longer than most pieces of work; what takes longer goes on beside."""


class Worker(QObject):
    """Lives in a thread of its own, where it performs what its facade submits.

    One that works without being asked, by timers and file watches, is a subclass: its slots are
    made by :func:`guarded_slot`.
    """

    may_be_cut_short: bool = False
    """Whether the process may end in the middle of its work: else that is waited for, within
    reason."""

    answered = Signal(int, object)
    """The work of that number is done: what it returned."""
    refused = Signal(int, object)
    """The work of that number raised: a tuple of :class:`Problem`."""
    failed = Signal(object)
    """A slot raised: a tuple of :class:`Problem`."""

    def __init__(self, *, may_be_cut_short: bool | None = None) -> None:
        super().__init__()
        if may_be_cut_short is not None:
            self.may_be_cut_short = may_be_cut_short
        self._failing: dict[str, tuple[str, ...]] = {}
        self.first_wanted = 0
        """Work of smaller numbers is not begun any more; set in the GUI thread."""

    @Slot(int, object)
    def perform(self, number: int, work: Callable[[], object]) -> None:
        """Do what was submitted, unless it was dropped meanwhile."""
        if number < self.first_wanted:
            return
        try:
            answer = work()
        except Exception as error:  # noqa: BLE001 - whichever it is, the facade has to hear it
            self.refused.emit(number, problems_of(error))
        else:
            self.answered.emit(number, answer)

    @Slot()
    def close(self) -> None:
        """Let go of timers and files; called in the worker's thread when it ends."""

    @Slot()
    def leave(self) -> None:
        """End the thread's event loop: all that was submitted before has been done."""
        self.thread().quit()

    def note_success(self, slot: str) -> None:
        """A slot that is called again and again has done its work."""
        self._failing.pop(slot, None)

    def note_failure(self, slot: str, error: Exception, *, once: bool) -> None:
        """Report why a slot failed.

        Args:
            slot: Its name.
            error: What it raised.
            once: Not again as long as it fails for the same reason.
        """
        problems = problems_of(error)
        reason = tuple(f"{problem.code} {problem.message}" for problem in problems)
        if once and self._failing.get(slot) == reason:
            return
        self._failing[slot] = reason
        self.failed.emit(problems)


_WorkerT = TypeVar("_WorkerT", bound=Worker)
_P = ParamSpec("_P")


def guarded_slot(
    *types: type, polled: bool = False
) -> Callable[
    [Callable[Concatenate[_WorkerT, _P], None]], Callable[Concatenate[_WorkerT, _P], None]
]:
    """A slot of a worker, whose exceptions reach the facade as :attr:`Worker.failed`.

    An exception that leaves a slot is printed by Qt for Python and forgotten: the facade would
    wait for an answer for ever.

    Args:
        types: Of the slot's arguments.
        polled: It is called again and again by a timer: what fails for the same reason each time
            is reported once.
    """

    def guarded(
        method: Callable[Concatenate[_WorkerT, _P], None],
    ) -> Callable[Concatenate[_WorkerT, _P], None]:
        @wraps(method)
        def call(self: _WorkerT, /, *arguments: _P.args, **named: _P.kwargs) -> None:
            try:
                method(self, *arguments, **named)
            except Exception as error:  # noqa: BLE001 - whichever it is, the facade has to hear it
                self.note_failure(method.__name__, error, once=polled)
            else:
                self.note_success(method.__name__)

        slot: Callable[Concatenate[_WorkerT, _P], None] = Slot(*types)(call)
        return slot

    return guarded


class WorkerThread(QThread):
    """Runs the event loop that a worker lives in.

    The facade that owns both must call :meth:`end` or :meth:`join` before it goes: the worker's
    own timers and file watches may only be taken down in its own thread. Destroying a QThread
    that runs aborts the process; so one that ends is kept here until it has ended, whatever
    becomes of its facade.
    """

    _endAsked = Signal()

    def __init__(self, worker: Worker, name: str, parent: QObject) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self._worker = worker
        self._is_ending = False
        worker.moveToThread(self)
        self._endAsked.connect(worker.leave)

    @property
    def is_ending(self) -> bool:
        """Whether it was asked to end."""
        return self._is_ending

    @property
    def may_be_cut_short(self) -> bool:
        """Whether nothing is lost where the process ends in the middle of its work."""
        return self._worker.may_be_cut_short

    @override
    def run(self) -> None:
        """The event loop, and then, still in this thread, the worker's end."""
        self.exec()
        self._worker.close()

    def end(self) -> None:
        """Let the thread end after all that was ordered; does not wait, may be called twice."""
        if self._is_ending:
            return
        self._is_ending = True
        if not self.isRunning():
            return
        self.setParent(None)
        _ending.append(self)
        self.finished.connect(self._let_go)
        # Not quit(): what was ordered a moment ago would be left undone.
        self._endAsked.emit()

    def when_ended(self, then: Callable[[], None]) -> None:
        """End the thread, and do something in the GUI thread when it has ended.

        Whoever hears a worker's signals must be there until then: its thread may just send one.
        """
        self.end()
        if isValid(self) and self.isRunning():
            self.finished.connect(then)
            return
        self._wait_for_last_steps()
        then()

    def join(self, limit_ms: int = JOIN_LIMIT_MS) -> bool:
        """End the thread and wait for it, unless it ends beside already; may be called twice.

        Returns:
            Whether it is left to end beside, or has ended; false: it still works after the limit.
        """
        if self._is_ending:
            return True
        self.end()
        return self.wait(limit_ms)

    @Slot()
    def _let_go(self) -> None:
        self._wait_for_last_steps()
        if self in _ending:
            _ending.remove(self)

    def _wait_for_last_steps(self) -> None:
        """Wait the instant in which a thread that has said so is not quite gone.

        After ``finished`` it still deletes what its worker left to it.
        """
        if isValid(self):
            self.wait()


_ending: list[WorkerThread] = []
"""Threads that were asked to end and may still work; nothing else keeps them."""


def end_threads_of(owner: QObject) -> None:
    """Let every thread of what belongs to the owner end; waits for none."""
    for thread in owner.findChildren(WorkerThread):
        thread.end()


def is_work_left() -> bool:
    """Whether a thread that was asked to end still does something that is to be finished."""
    return any(thread.isRunning() and not thread.may_be_cut_short for thread in _ending)


def wait_for_ending(limit_ms: int) -> bool:
    """Wait until all threads that were asked to end have ended.

    Returns:
        Whether they have.
    """
    until_s = time.monotonic() + limit_ms / 1000
    for thread in tuple(_ending):
        thread.wait(max(0, round((until_s - time.monotonic()) * 1000)))
    return not any(thread.isRunning() for thread in _ending)
