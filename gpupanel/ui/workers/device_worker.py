"""Reads the devices in a thread of its own, so that a slow driver never stalls the window."""

import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from typing_extensions import override

from gpupanel.ui.workers.device_source import DeviceSource
from gpupanel.ui.workers.facade import WorkerFacade
from gpupanel.ui.workers.worker_thread import Worker, guarded_slot
from gpupanel.ui.workers.workplace import workplace

if TYPE_CHECKING:
    from gpupanel.domain.device import DeviceInventory

_LOG = logging.getLogger(__name__)
_JOIN_MS = 3_000
"""Longer than a sample and the end of sampling take with any driver that still answers."""


UNSEEN_INTERVAL_MS = 5_000
"""The least pause while nobody sees the window: what is kept of an hour has a value each ten
seconds, and no curve is drawn."""


class _DeviceWorker(Worker):
    """Lives in the thread: makes the source there, asks it, lets it go."""

    may_be_cut_short = True  # it only reads, and a driver may never answer
    inventoryChanged = Signal(object)
    sampled = Signal(object)

    def __init__(self, make_source: Callable[[], DeviceSource]) -> None:
        super().__init__()
        self._make_source = make_source
        self._interval_ms = 0
        self._is_seen = True
        self._source: DeviceSource | None = None
        self._timer: QTimer | None = None
        self._inventory: DeviceInventory | None = None
        self._is_ending = False

    def stop_waiting(self) -> None:
        """Hold up the end no longer than needed; may be called in any thread."""
        self._is_ending = True
        source = self._source
        if source is not None:
            source.stop_waiting()

    def begin(self, interval_ms: int) -> None:
        """Ask for the first time, then again and again."""
        if self._is_ending:
            return
        self._interval_ms = interval_ms
        self._timer = QTimer(self)
        # Counted from the end of one sample to the start of the next: a driver that is slower
        # than the interval is not asked without a pause.
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._ask)
        self._ask()

    def set_interval(self, interval_ms: int) -> None:
        """Pause so long between samples; a pause that lasts ends when the new one would."""
        self._interval_ms = interval_ms
        if self._timer is not None and self._timer.isActive():
            self._timer.start(self._pause_ms)

    def set_seen(self, is_seen: bool) -> None:
        """Pause longer while nobody sees the window; ask at once when it is seen again."""
        self._is_seen = is_seen
        if self._timer is not None and self._timer.isActive():
            self._timer.start(0 if is_seen else self._pause_ms)

    @property
    def _pause_ms(self) -> int:
        return self._interval_ms if self._is_seen else max(self._interval_ms, UNSEEN_INTERVAL_MS)

    def wake(self) -> None:
        """Ask sleeping GPUs, too, the next time."""
        if self._source is not None:
            self._source.wake()

    @Slot()
    @override
    def close(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if self._source is not None:
            self._source.close()
            self._source = None

    @guarded_slot(polled=True)
    def _ask(self) -> None:
        if self._timer is None:
            return
        try:
            if self._source is None:
                self._source = self._make_source()
            if self._is_ending:
                return
            # Each time: a GPU that appears is listed before its first reading comes.
            self._list_devices(self._source)
            self.sampled.emit(self._source.sample())
        finally:
            # Also after an error: the next time may be better.
            self._timer.start(self._pause_ms)

    def _list_devices(self, source: DeviceSource) -> None:
        inventory = source.inventory()
        if inventory != self._inventory:
            self._inventory = inventory
            self.inventoryChanged.emit(inventory)


class DeviceWatch(WorkerFacade):
    """The devices as the window knows them; never waits for a driver.

    Args:
        parent: Owns it.
        folder: Samples report how full its disk is.
        make_source: Called in the worker's thread; the devices of the machine that is worked on
            when left out.
    """

    inventoryChanged = Signal(object)
    """A :class:`DeviceInventory`: first of all, and whenever it changed."""
    sampled = Signal(object)
    """A :class:`TelemetrySample`."""

    def __init__(
        self,
        parent: QObject | None = None,
        *,
        folder: Path | None = None,
        make_source: Callable[[], DeviceSource] | None = None,
    ) -> None:
        source = make_source or partial(workplace().device_source, folder)
        self._worker = _DeviceWorker(source)
        super().__init__("devices", parent, self._worker)
        self._is_started = False
        self._worker.inventoryChanged.connect(self.inventoryChanged)
        self._worker.sampled.connect(self.sampled)

    def start(self, interval_ms: int = 1_000) -> None:
        """Read the devices with so much of a pause in between; nothing happens when it does."""
        if not self._is_started:
            self._is_started = True
            self.submit(partial(self._worker.begin, interval_ms))

    def set_interval(self, interval_ms: int) -> None:
        """Read them with so much of a pause in between from now on."""
        if self._is_started:
            self.submit(partial(self._worker.set_interval, interval_ms))

    def set_seen(self, *, is_seen: bool) -> None:
        """Say whether anybody sees the window: if not, devices are read less often."""
        if self._is_started:
            self.submit(partial(self._worker.set_seen, is_seen))

    @Slot()
    def wake(self) -> None:
        """Ask sleeping GPUs, too, the next time, which wakes them."""
        if self._is_started:
            self.submit(self._worker.wake)

    @override
    def stop(self) -> None:
        """End the thread: waits for the one sample that is being taken, within reason."""
        self.blockSignals(True)
        self._worker.stop_waiting()
        if not self._thread.join(_JOIN_MS):
            _LOG.warning("The NVIDIA driver does not answer; its thread was left behind.")
