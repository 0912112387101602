"""Which versions of what work here, to be copied into a report."""

import platform
from importlib import metadata

from PySide6.QtCore import Qt, qVersion
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gpupanel import __version__
from gpupanel.devices.packages import tensorflow_package
from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.visible_text import visible_line
from gpupanel.ui.theme import GRID


class AboutDialog(QDialog):
    """Name, purpose and versions.

    Args:
        inventory: The devices of this machine; ``None`` while they are not known.
        parent: Stands before it.
    """

    def __init__(self, inventory: DeviceInventory | None, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setObjectName("about_dialog")
        self.setWindowTitle("About gpupanel")
        self._versions = versions(inventory)
        title = QLabel("gpupanel")
        title.setProperty("role", "title")
        purpose = QLabel("Trains TensorFlow models on every GPU of a workstation, equal or not.")
        purpose.setWordWrap(True)
        licence = QLabel("MIT licence")
        licence.setProperty("tone", "muted")
        form = QFormLayout()
        form.setHorizontalSpacing(3 * GRID)
        form.setVerticalSpacing(GRID // 2)
        for name, version in self._versions:
            caption, shown = QLabel(name), QLabel(version)
            caption.setProperty("tone", "muted")
            shown.setWordWrap(True)
            shown.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            form.addRow(caption, shown)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        copy = QPushButton("&Copy", self)
        copy.setObjectName("about_copy")
        copy.setToolTip("Copies the versions, for a bug report")
        buttons.addButton(copy, QDialogButtonBox.ButtonRole.ActionRole)
        copy.clicked.connect(self.copy)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(GRID)
        layout.addWidget(title)
        layout.addWidget(purpose)
        layout.addLayout(form)
        layout.addWidget(licence)
        layout.addWidget(buttons)
        self.setMinimumWidth(52 * GRID)

    def text(self) -> str:
        """The versions, a line each."""
        return "\n".join(f"{name}: {version}" for name, version in self._versions)

    def copy(self) -> None:
        """Put the versions on the clipboard."""
        QGuiApplication.clipboard().setText(self.text())


def versions(inventory: DeviceInventory | None) -> tuple[tuple[str, str], ...]:
    """What works here, each with its version; TensorFlow and Keras are not imported for it.

    Args:
        inventory: Knows the driver and the GPUs; ``None`` while they are not known.
    """
    tensorflow = tensorflow_package()
    found = [
        ("gpupanel", __version__),
        ("Python", platform.python_version()),
        ("TensorFlow", "not installed" if tensorflow is None else _named(*tensorflow)),
        ("Keras", _version("keras")),
        ("Qt", f"{qVersion()} (PySide6 {_version('PySide6-Essentials')})"),
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
