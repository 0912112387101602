"""NVIDIA GPUs that are plugged in, whether a driver knows them or not."""

from pathlib import Path
from typing import Final

_PCI_DEVICES: Final = Path("/sys/bus/pci/devices")
_NVIDIA_VENDOR: Final = "0x10de"
_DISPLAY_CLASS: Final = "0x03"
"""PCI base class of display controllers: VGA (0300) and 3D (0302)."""


def nvidia_gpus_on_the_bus(pci_devices: Path = _PCI_DEVICES) -> tuple[str, ...]:
    """PCI bus ids of NVIDIA's display controllers, as the kernel lists them; empty off Linux."""
    try:
        entries = sorted(pci_devices.iterdir())
    except OSError:
        return ()
    return tuple(
        entry.name
        for entry in entries
        if _attribute(entry / "vendor") == _NVIDIA_VENDOR
        and _attribute(entry / "class").startswith(_DISPLAY_CLASS)
    )


def _attribute(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return ""
