"""A facade that has one request carried out at a time, which can be cancelled."""

from collections.abc import Callable
from functools import partial
from threading import Event
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Signal, Slot
from typing_extensions import override

from gpupanel.domain.problem import Problem
from gpupanel.ui.workers.facade import WorkerFacade

_T = TypeVar("_T")
Report = Callable[[Any], None]
"""Called in the worker's thread with how far it is."""


class SingleRequestFacade(WorkerFacade):
    """Carries out the last request; nothing is heard of one that was replaced or cancelled.

    The work is given an event that is set once it is cancelled, and ends what it has begun then.
    """

    busyChanged = Signal(bool)
    """Whether a request is being carried out."""
    _reported = Signal(object, object)
    """In the worker's thread: which request, by its event, and how far it is."""

    def __init__(self, name: str, parent: QObject | None = None) -> None:
        super().__init__(name, parent)
        self._report: Report | None = None
        self._reported.connect(self._on_reported)

    def carry_out(
        self,
        work: Callable[[Event, Report], _T],
        done: Callable[[_T], object],
        *,
        failed: Callable[[tuple[Problem, ...]], _T] | None = None,
        report: Report | None = None,
    ) -> None:
        """Carry this out; a request before it is cancelled.

        Args:
            work: Called in the worker's thread with its event of cancellation, and with what
                carries its reports to the GUI thread.
            done: Called in the GUI thread with what the work returned.
            failed: Makes of problems what ``done`` is called with when the work raises; nothing
                is done when left out. ``refused`` is emitted in any case.
            report: Called in the GUI thread with each report.
        """
        was_busy = self.is_busy()
        self.drop()
        self._report = report
        self.submit(
            partial(work, self.dropped, partial(self._reported.emit, self.dropped)),
            partial(self._end, done),
            partial(self._fail, done, failed),
        )
        if self.is_busy() and not was_busy:
            self.busyChanged.emit(True)

    @Slot()
    def cancel(self) -> None:
        """End the request that is being carried out, if any; nothing comes of it."""
        if self.is_busy():
            self.drop()
            self.busyChanged.emit(False)

    @override
    def stop(self) -> None:
        """End the request that is being carried out, if any, and leave no process behind."""
        self.cancel()
        super().stop()

    def _end(self, done: Callable[[_T], object], answer: _T) -> None:
        self.busyChanged.emit(False)
        done(answer)

    def _fail(
        self,
        done: Callable[[_T], object],
        failed: Callable[[tuple[Problem, ...]], _T] | None,
        problems: tuple[Problem, ...],
    ) -> None:
        self.busyChanged.emit(False)
        if failed is not None:
            done(failed(problems))
        self.refused.emit(problems)

    @Slot(object, object)
    def _on_reported(self, dropped: Event, news: object) -> None:
        if self._report is not None and dropped is self.dropped and self.is_busy():
            self._report(news)
