"""How a device looks and is called wherever a plan speaks of it."""

from dataclasses import dataclass

from PySide6.QtGui import QColor

from gpupanel.domain.device import DeviceInventory
from gpupanel.ui import formatting, theme


@dataclass(frozen=True, slots=True)
class DeviceLabels:
    """Colours and short names of the devices of this machine, by key.

    Attributes:
        inventory: ``None`` until the devices were listed; then every device is grey.
    """

    inventory: DeviceInventory | None = None

    def index(self, key: str) -> int | None:
        """The device's position in the inventory; ``None`` when it is not in this machine."""
        devices = self.inventory.devices if self.inventory else ()
        return next((index for index, device in enumerate(devices) if device.key == key), None)

    def color(self, key: str) -> QColor:
        """The one colour of the device in the theme that is shown now."""
        index = self.index(key)
        return theme.current().color("others") if index is None else theme.device_color(index)

    def label(self, key: str, name: str = "") -> str:
        """A short name that distinguishes the device; from ``name`` when it is unknown."""
        index = self.index(key)
        if self.inventory is None or index is None:
            return formatting.short_device_name(name or key)
        names = tuple(device.name for device in self.inventory.devices)
        return formatting.device_labels(names)[index]

    def names(self) -> dict[str, str]:
        """The short name of each device of this machine, by key."""
        devices = self.inventory.devices if self.inventory else ()
        return {device.key: self.label(device.key) for device in devices}
