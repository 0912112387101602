"""What stands in the GUI thread before a worker."""

from collections.abc import Callable
from threading import Event
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Signal, Slot

from gpupanel.domain.problem import Problem
from gpupanel.ui.workers.worker_thread import Worker, WorkerThread

_T = TypeVar("_T")
_Refused = Callable[[tuple[Problem, ...]], object]


class WorkerFacade(QObject):
    """Lives in the GUI thread, and has work done in a thread of its own.

    One piece of work is done after the other, in the order in which they were submitted. What
    comes of each is heard in the GUI thread; what it raises, as problems.

    Args:
        name: Of the thread.
        parent: Owns the facade.
        worker: Moves into the thread; left out where all that it does is submitted.
    """

    refused = Signal(object)
    """Problems because of which something was not done: a tuple of :class:`Problem`."""
    _submitted = Signal(int, object)

    def __init__(
        self, name: str, parent: QObject | None = None, worker: Worker | None = None
    ) -> None:
        super().__init__(parent)
        self._performer = worker or Worker()
        self._thread = WorkerThread(self._performer, name, self)
        self._number = 0
        self.dropped = Event()
        """Set once what is submitted now is dropped: for work that can be cut short."""
        # Callbacks stay in this thread: the worker is given a number and the work.
        self._waiting: dict[int, tuple[Callable[[Any], object] | None, _Refused]] = {}
        self._submitted.connect(self._performer.perform)
        self._performer.answered.connect(self._on_answered)
        self._performer.refused.connect(self._on_refused)
        self._performer.failed.connect(self._on_failed)

    def submit(
        self,
        work: Callable[[], _T],
        done: Callable[[_T], object] | None = None,
        refused: _Refused | None = None,
    ) -> None:
        """Have something done after all that was submitted before; nothing once it has stopped.

        Args:
            work: Called in the worker's thread.
            done: Called in the GUI thread with what the work returned.
            refused: Called in the GUI thread with the problems when the work raises;
                ``refused`` is emitted when left out.
        """
        if self._thread.is_ending:
            return
        if not self._thread.isRunning():
            self._thread.start()
        self._number += 1
        self._waiting[self._number] = (done, refused or self._on_failed)
        self._submitted.emit(self._number, work)

    def is_busy(self) -> bool:
        """Whether something that was submitted is still wanted, and not done yet."""
        return bool(self._waiting)

    def drop(self) -> None:
        """Want nothing any more of what was submitted: neither answers nor problems are heard.

        What has not begun is not done; what goes on is interrupted where it heeds :attr:`dropped`.
        """
        self.dropped.set()
        self.dropped = Event()
        self._waiting.clear()
        self._performer.first_wanted = self._number + 1

    def stop(self) -> None:
        """Let the thread end after what was submitted; what takes long ends beside."""
        self._thread.join()

    @Slot(object)
    def _on_failed(self, problems: tuple[Problem, ...]) -> None:
        """Something was not done."""
        self.refused.emit(problems)

    @Slot(int, object)
    def _on_answered(self, number: int, answer: object) -> None:
        done, _ = self._waiting.pop(number, (None, None))
        if done is not None:
            done(answer)

    @Slot(int, object)
    def _on_refused(self, number: int, problems: tuple[Problem, ...]) -> None:
        _, refused = self._waiting.pop(number, (None, None))
        if refused is not None:
            refused(problems)
