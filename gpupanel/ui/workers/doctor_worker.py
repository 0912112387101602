"""Examines driver and TensorFlow off the GUI thread: that takes seconds."""

from collections.abc import Callable
from threading import Event
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from gpupanel.ui.workers.single_request import SingleRequestFacade
from gpupanel.ui.workers.workplace import workplace

if TYPE_CHECKING:
    from gpupanel.devices.doctor.report import DoctorReport

Examination = Callable[[Event], "DoctorReport"]


def _examine(cancelled: Event) -> "DoctorReport":
    return workplace().examine(cancelled)


class DoctorExaminer(SingleRequestFacade):
    """One examination at a time."""

    examined = Signal(object)
    """The :class:`DoctorReport` of the examination that was asked for last."""

    def __init__(self, examination: Examination = _examine, parent: QObject | None = None) -> None:
        super().__init__("doctor", parent)
        self._examination = examination

    @Slot()
    def begin(self) -> None:
        """Begin an examination, unless one goes on; ``examined`` follows."""
        if not self.is_busy():
            examination = self._examination
            self.carry_out(lambda dropped, _: examination(dropped), self.examined.emit)
