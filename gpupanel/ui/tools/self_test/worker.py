"""Reads what is remembered of tests of this machine, off the GUI thread."""

from functools import partial

from PySide6.QtCore import QObject, Signal

from gpupanel.domain.device import DeviceInventory
from gpupanel.runs.self_test_memory import recall_self_test
from gpupanel.ui.workers.facade import WorkerFacade


class SelfTestMemory(WorkerFacade):
    """Reads what is remembered of tests of this machine."""

    recalled = Signal(object)
    """A :class:`SelfTest`; ``None``: nothing is remembered."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__("self-test memory", parent)

    def recall(self, inventory: DeviceInventory) -> None:
        """Read what is remembered of these devices; only the last answer is heard."""
        self.drop()
        self.submit(partial(recall_self_test, inventory), self.recalled.emit)
