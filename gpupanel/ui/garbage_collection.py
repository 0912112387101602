"""Python's cyclic garbage collection, kept to the GUI thread."""

import gc

from PySide6.QtCore import QObject, QTimer, Slot

_OLDEST, _GROWN = 2, 1.25
_INTERVAL_MS = 1_000
"""Cycles of a second's work are small; an own thread that makes many is waited for no longer."""


class GarbageCollection(QObject):
    """Collects cycles by a timer of the GUI thread instead of wherever one was just allocated.

    Python collects in the thread whose allocation passes the threshold. A widget, a timer or a
    graphics item that is part of a cycle is then destroyed by a worker's thread, while Qt's event
    loop still has events for it: a segmentation fault without any line of Python. Seen with
    PySide6 6.11 on Linux; pyqtgraph describes the same in ``pyqtgraph.util.garbage_collector``.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._timer = QTimer(self, interval=_INTERVAL_MS)
        self._timer.timeout.connect(self.collect_due)
        self._was_enabled = gc.isenabled()
        self._long_lived = 0

    def install(self) -> None:
        """Collect in this thread only, from now on."""
        self._was_enabled = gc.isenabled()
        gc.disable()
        gc.freeze()  # what imports left is not garbage, and need not be searched again and again
        self._timer.start()

    def uninstall(self) -> None:
        """Let Python collect by itself again, after what is left here was collected."""
        self._timer.stop()
        gc.unfreeze()
        gc.collect()
        if self._was_enabled:
            gc.enable()

    @Slot()
    def collect_due(self) -> None:
        """Collect the oldest generation that is due by Python's own thresholds, if any."""
        due = [
            generation
            for generation, (count, threshold) in enumerate(
                zip(gc.get_count(), gc.get_threshold(), strict=True)
            )
            if count > threshold > 0
        ]
        if due:
            self._collect(due[-1])

    def _collect(self, generation: int) -> None:
        """Search all that lives long, a list of ten thousand runs, only where it has grown.

        By a quarter, as Python does by itself: else a window with much in it would stand still for
        a tenth of a second again and again.
        """
        if generation == _OLDEST and len(gc.get_objects(_OLDEST)) < _GROWN * self._long_lived:
            generation -= 1
        gc.collect(generation)
        if generation == _OLDEST:
            self._long_lived = len(gc.get_objects(_OLDEST))
