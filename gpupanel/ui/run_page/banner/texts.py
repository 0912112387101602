"""Labels of the banner, whose words can be selected."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget


def selectable(parent: QWidget, name: str, role: str = "", tone: str = "") -> QLabel:
    """A line of plain text."""
    label = QLabel(parent)
    label.setObjectName(name)
    label.setProperty("role", role)
    label.setProperty("tone", tone)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse
        | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    return label


def sentences(parent: QWidget, name: str = "", tone: str = "") -> QLabel:
    """Plain text that wraps."""
    label = selectable(parent, name, tone=tone)
    label.setWordWrap(True)
    return label
