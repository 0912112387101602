"""Sends for the doctor off the GUI thread: an examination takes seconds."""

from collections.abc import Callable
from threading import Event
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from typing_extensions import override

from gpupanel.domain.problem import Problem
from gpupanel.ui.workers.facade import WorkerFacade
from gpupanel.ui.workers.worker_thread import Worker, guarded_slot

if TYPE_CHECKING:
    from gpupanel.devices.doctor import DoctorReport

Examination = Callable[[Event], "DoctorReport"]


def _examine(cancelled: Event) -> "DoctorReport":
    # Here and not above: it is the worker's thread that waits for the import, and only when
    # somebody asks.
    from gpupanel.devices.doctor import examine

    return examine(cancelled=cancelled)


class _Examiner(Worker):
    examined = Signal(object, object)

    def __init__(self, examination: Examination) -> None:
        super().__init__()
        self._examination = examination

    @guarded_slot(object)
    def examine(self, cancelled: Event) -> None:
        if cancelled.is_set():
            return
        try:
            report = self._examination(cancelled)
        except Exception:
            if cancelled.is_set():
                return  # nobody wants it any more, and another one may have begun
            raise
        self.examined.emit(report, cancelled)


class DoctorVisits(WorkerFacade):
    """One examination at a time; lives in the GUI thread before the thread that waits for it."""

    examined = Signal(object)
    """The :class:`DoctorReport` of the examination that was asked for last."""
    busyChanged = Signal(bool)
    """Whether an examination goes on."""
    _asked = Signal(object)

    def __init__(self, examination: Examination = _examine, parent: QObject | None = None) -> None:
        self._examiner = _Examiner(examination)
        super().__init__(self._examiner, "doctor", parent)
        self._asked.connect(self._examiner.examine)
        self._examiner.examined.connect(self._take_report)
        self._cancelled: Event | None = None

    def is_busy(self) -> bool:
        """Whether an examination goes on."""
        return self._cancelled is not None

    @Slot()
    def begin(self) -> None:
        """Begin an examination, unless one goes on; ``examined`` follows."""
        if self._cancelled is not None:
            return
        self._thread.start()
        self._cancelled = Event()
        self._asked.emit(self._cancelled)
        self.busyChanged.emit(True)

    @Slot()
    def cancel(self) -> None:
        """End the examination that goes on, if any; nothing comes of it."""
        if self._cancelled is not None:
            self._cancelled.set()
            self._cancelled = None
            self.busyChanged.emit(False)

    @override
    def stop(self) -> None:
        """Examine nothing any more; processes that were asked are ended."""
        self.cancel()
        super().stop()

    @Slot(object, object)
    def _take_report(self, report: "DoctorReport", cancelled: Event) -> None:
        if cancelled is self._cancelled:
            self._cancelled = None
            self.busyChanged.emit(False)
            self.examined.emit(report)

    @Slot(str, object)
    @override
    def _on_failed(self, slot: str, problems: tuple[Problem, ...]) -> None:
        self.cancel()
        super()._on_failed(slot, problems)
