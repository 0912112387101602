"""Learns what TensorFlow was built for, off the GUI thread: its first answer takes seconds."""

from collections.abc import Callable
from threading import Event

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.tensorflow_facts import TensorFlowBuild
from gpupanel.ui.workers.worker_thread import Worker, WorkerThread

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

    @Slot()
    def ask(self) -> None:
        build = self._source(self._cancelled)
        if build is not None:
            self.known.emit(build)


class BuildLoader(QObject):
    """Asks once, a moment after the first GPU is there; without a GPU never.

    Lives in the GUI thread before the thread that waits for the answer.
    """

    known = Signal(object)
    """The :class:`TensorFlowBuild`."""

    def __init__(self, source: BuildSource = _ask, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._cancelled = Event()
        self._asker = _BuildAsker(source, self._cancelled)
        self._thread = WorkerThread(self._asker, "TensorFlow's build", self)
        self._thread.started.connect(self._asker.ask)
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

    def stop(self) -> None:
        """Ask no more; the process that was asked is ended."""
        self._timer.stop()
        self._cancelled.set()
        self._thread.join()

    @Slot()
    def _begin(self) -> None:
        self._thread.start()
