"""Learns what TensorFlow was built for, off the GUI thread: its first answer takes seconds."""

from collections.abc import Callable
from threading import Event

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from typing_extensions import override

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.problem import Problem
from gpupanel.domain.tensorflow_facts import TensorFlowBuild
from gpupanel.ui.workers.facade import WorkerFacade
from gpupanel.ui.workers.worker_thread import Worker, guarded_slot

DELAY_MS = 1_000
"""The window is drawn and its devices are read before a second process makes the disk busy."""

BuildSource = Callable[[Event], TensorFlowBuild | None]


def _ask(cancelled: Event) -> TensorFlowBuild | None:
    # Here and not above: it is the worker's thread that waits for the import.
    from gpupanel.devices.probes.tensorflow_build import tensorflow_build

    return tensorflow_build(cancelled=cancelled)


class _BuildAsker(Worker):
    known = Signal(object)

    def __init__(self, source: BuildSource, cancelled: Event) -> None:
        super().__init__()
        self._source = source
        self._cancelled = cancelled

    @guarded_slot()
    def ask(self) -> None:
        build = self._source(self._cancelled)
        if build is not None:
            self.known.emit(build)


class BuildLoader(WorkerFacade):
    """Asks once, a moment after the first GPU is there; without a GPU never.

    What could not be asked is asked again when the devices change.
    """

    known = Signal(object)
    """The :class:`TensorFlowBuild`."""
    _asked = Signal()

    def __init__(self, source: BuildSource = _ask, parent: QObject | None = None) -> None:
        self._cancelled = Event()
        self._asker = _BuildAsker(source, self._cancelled)
        super().__init__(self._asker, "TensorFlow's build", parent)
        self._asked.connect(self._asker.ask)
        self._asker.known.connect(self.known)
        self._was_asked = False
        self._timer = QTimer(self, singleShot=True, interval=DELAY_MS)
        self._timer.timeout.connect(self._begin)

    @Slot(object)
    def set_inventory(self, inventory: DeviceInventory) -> None:
        """Ask, if there is a GPU and nobody asked yet; ``known`` may follow."""
        if inventory.gpus and not self._was_asked:
            self._was_asked = True
            self._timer.start()

    @override
    def stop(self) -> None:
        """Ask no more; the process that was asked is ended."""
        self._timer.stop()
        self._cancelled.set()
        super().stop()

    @Slot()
    def _begin(self) -> None:
        self._thread.start()
        self._asked.emit()

    @Slot(str, object)
    @override
    def _on_failed(self, slot: str, problems: tuple[Problem, ...]) -> None:
        self._was_asked = False
        super()._on_failed(slot, problems)
