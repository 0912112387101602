"""How a device looks and is called wherever a plan speaks of it."""

from dataclasses import dataclass

from PySide6.QtGui import QColor

from gpupanel.domain.device import DeviceInventory
from gpupanel.ui import device_colors, formatting, theme


@dataclass(frozen=True, slots=True)
class DeviceLabels:
    """Colours and short names of the devices of this machine, by key.

    Attributes:
        inventory: ``None`` until the devices were listed; then every device is grey.
    """

    inventory: DeviceInventory | None = None

    def color_number(self, key: str) -> int | None:
        """Of the device's colour; ``None`` when it is not in this machine."""
        devices = self.inventory.devices if self.inventory else ()
        return device_colors.known.numbers(device.key for device in devices).get(key)

    def color(self, key: str) -> QColor:
        """The one colour of the device in the theme that is shown now."""
        number = self.color_number(key)
        return theme.current().color("others") if number is None else theme.device_color(number)

    def label(self, key: str, name: str = "") -> str:
        """A short name that distinguishes the device; from ``name`` when it is unknown."""
        devices = self.inventory.devices if self.inventory else ()
        place = next((at for at, device in enumerate(devices) if device.key == key), None)
        if place is None:
            return formatting.short_device_name(name or key)
        return formatting.device_labels(tuple(device.name for device in devices))[place]

    def names(self) -> dict[str, str]:
        """The short name of each device of this machine, by key."""
        devices = self.inventory.devices if self.inventory else ()
        return {device.key: self.label(device.key) for device in devices}
