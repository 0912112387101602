"""How a device looks and is called wherever a plan speaks of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from PySide6.QtGui import QColor

from gpupanel.domain.device import DeviceInventory
from gpupanel.ui import device_colors, formatting, theme


@dataclass(frozen=True)
class DeviceLabels:
    """Colours and short names of the devices that are shown, by key.

    Attributes:
        inventory: ``None`` until the devices were listed; then every device is grey.
    """

    inventory: DeviceInventory | None = None

    def color_number(self, key: str) -> int | None:
        """The number of the device's colour; ``None`` when it is not among them."""
        return self._numbers.get(key)

    def color(self, key: str) -> QColor:
        """The one colour of the device in the theme that is shown now."""
        number = self.color_number(key)
        return theme.current().color("others") if number is None else theme.device_color(number)

    def label(self, key: str, name: str = "") -> str:
        """A short name that distinguishes the device; from ``name`` when it is unknown."""
        return self._labels.get(key) or formatting.short_device_name(name or key)

    def together(self, keys: Sequence[str]) -> str:
        """The short names of devices that work together."""
        return " + ".join(map(self.label, keys))

    def names(self) -> dict[str, str]:
        """The short name of each of the devices, by key."""
        return dict(self._labels)

    # Of hundreds of devices each is asked for.
    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        devices = self.inventory.devices if self.inventory else ()
        return device_colors.known.numbers(device.key for device in devices)

    @cached_property
    def _labels(self) -> Mapping[str, str]:
        devices = self.inventory.devices if self.inventory else ()
        labels = formatting.labels_of(devices)
        return {device.key: label for device, label in zip(devices, labels, strict=True)}
