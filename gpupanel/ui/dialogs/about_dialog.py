"""Which versions of what work here, to be copied into a report."""

from PySide6.QtCore import Qt
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

from gpupanel.devices.versions import versions
from gpupanel.domain.device import DeviceInventory
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
        purpose = QLabel(
            "Trains TensorFlow models on every GPU of a workstation, even mismatched ones."
        )
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
