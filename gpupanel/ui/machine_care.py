"""What the window does about TensorFlow and driver besides training: it asks, and it tells."""

from PySide6.QtCore import QObject

from gpupanel.ui.session import Session
from gpupanel.ui.workers.build_worker import BuildLoader
from gpupanel.ui.workers.device_worker import DeviceWatch


class MachineCare(QObject):
    """Tells the session what TensorFlow was built for."""

    def __init__(self, session: Session, watch: DeviceWatch, parent: QObject) -> None:
        super().__init__(parent)
        self._build_loader = BuildLoader(parent=self)
        watch.inventoryChanged.connect(self._build_loader.set_inventory)
        self._build_loader.known.connect(session.set_build)

    def stop(self) -> None:
        """Ask nobody any more; a process that was asked is ended."""
        self._build_loader.stop()
