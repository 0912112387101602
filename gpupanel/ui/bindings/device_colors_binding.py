"""Lets each device keep its colour, in this window and in the next ones."""

from PySide6.QtCore import QObject, QSettings, Slot

from gpupanel.domain.device import DeviceInventory
from gpupanel.ui import device_colors
from gpupanel.ui.remembered import remember_device_colors, remembered_device_colors
from gpupanel.ui.session import Session


class DeviceColorsBinding(QObject):
    """Sees the devices before all that draws them: make it before what shows the session.

    Args:
        session: Reports which devices there are.
        settings: Where the colours are remembered.
        parent: Owns it.
    """

    def __init__(self, session: Session, settings: QSettings, parent: QObject) -> None:
        super().__init__(parent)
        self._settings = settings
        device_colors.known.restore(remembered_device_colors(settings))
        session.inventoryChanged.connect(self._see)

    @Slot(object)
    def _see(self, inventory: DeviceInventory) -> None:
        before = device_colors.known.remembered()
        device_colors.known.see(device.key for device in inventory.devices)
        if device_colors.known.remembered() != before:
            remember_device_colors(self._settings, device_colors.known.remembered())
