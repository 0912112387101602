"""Examines driver and TensorFlow off the GUI thread: that takes seconds."""

from collections.abc import Callable
from functools import partial
from threading import Event
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from typing_extensions import override

from gpupanel.domain.problem import Problem
from gpupanel.ui.workers.facade import WorkerFacade

if TYPE_CHECKING:
    from gpupanel.devices.doctor import DoctorReport

Examination = Callable[[Event], "DoctorReport"]


def _examine(cancelled: Event) -> "DoctorReport":
    # Here and not above: it is the worker's thread that waits for the import, and only when
    # somebody asks.
    from gpupanel.devices.doctor import examine

    return examine(cancelled=cancelled)


class DoctorExaminer(WorkerFacade):
    """One examination at a time."""

    examined = Signal(object)
    """The :class:`DoctorReport` of the examination that was asked for last."""
    busyChanged = Signal(bool)
    """Whether an examination goes on."""

    def __init__(self, examination: Examination = _examine, parent: QObject | None = None) -> None:
        super().__init__("doctor", parent)
        self._examination = examination

    @Slot()
    def begin(self) -> None:
        """Begin an examination, unless one goes on; ``examined`` follows."""
        if not self.is_busy():
            self.submit(partial(self._examination, self.dropped), self._take_report)
            self.busyChanged.emit(True)

    @Slot()
    def cancel(self) -> None:
        """End the examination that goes on, if any; nothing comes of it."""
        if self.is_busy():
            self.drop()
            self.busyChanged.emit(False)

    @override
    def stop(self) -> None:
        """Examine nothing any more; processes that were asked are ended."""
        self.cancel()
        super().stop()

    def _take_report(self, report: "DoctorReport") -> None:
        self.busyChanged.emit(False)
        self.examined.emit(report)

    @Slot(object)
    @override
    def _on_failed(self, problems: tuple[Problem, ...]) -> None:
        self.busyChanged.emit(False)
        super()._on_failed(problems)
