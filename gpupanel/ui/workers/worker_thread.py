"""A QThread with one worker in it, which begins and ends cleanly."""

from PySide6.QtCore import QObject, QThread, Slot
from typing_extensions import override

JOIN_LIMIT_MS = 5_000
"""Longer than any worker's longest single piece of work by far."""


class Worker(QObject):
    """Lives in a thread of its own: only its slots are called, and only through signals."""

    @Slot()
    def close(self) -> None:
        """Let go of timers and files; called in the worker's thread when it ends."""


class WorkerThread(QThread):
    """Runs the event loop that a worker lives in.

    The facade that owns both must call :meth:`join` before it goes: the worker's own timers and
    file watches may only be taken down in its own thread.
    """

    def __init__(self, worker: Worker, name: str, parent: QObject) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self._worker = worker
        worker.moveToThread(self)

    @override
    def run(self) -> None:
        """The event loop, and then, still in this thread, the worker's end."""
        self.exec()
        self._worker.close()

    def join(self) -> None:
        """End the loop and wait for the piece of work in hand; may be called twice."""
        self.quit()
        self.wait(JOIN_LIMIT_MS)
