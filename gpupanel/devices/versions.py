"""Which versions of what work here: for a report, in the window and in the terminal."""

import platform
from importlib import metadata

from gpupanel import __version__
from gpupanel.devices.packages import tensorflow_package
from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.visible_text import visible_line


def versions(inventory: DeviceInventory | None) -> tuple[tuple[str, str], ...]:
    """What works here, each with its version; TensorFlow, Keras and Qt are not imported for it.

    Args:
        inventory: Knows the driver and the GPUs; ``None`` while they are not known.
    """
    tensorflow = tensorflow_package()
    found = [
        ("gpupanel", __version__),
        ("Python", platform.python_version()),
        ("TensorFlow", "not installed" if tensorflow is None else _named(*tensorflow)),
        ("Keras", _version("keras")),
        ("Qt (PySide6)", _version("PySide6-Essentials")),
        ("System", visible_line(platform.platform())),
    ]
    if inventory is not None:
        found.append(("NVIDIA driver", visible_line(inventory.driver or "none")))
        found += [("GPU", visible_line(gpu.name)) for gpu in inventory.gpus]
    return tuple(found)


def _named(package: str, version: str) -> str:
    return version if package == "tensorflow" else f"{version} ({package})"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
