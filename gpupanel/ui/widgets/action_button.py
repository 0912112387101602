"""A button that is an action: its words, its tip and whether it can be done."""

from PySide6.QtCore import Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QPushButton, QWidget


class ActionButton(QPushButton):
    """Follows its action, so that a menu and a button never say different things.

    Its object name is that of the action with ``_button`` behind it.

    Args:
        action: What a click does.
        parent: A button of its own window would be shown at once.
    """

    def __init__(self, action: QAction, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName(f"{action.objectName()}_button")
        self._action = action
        action.changed.connect(self._follow)
        self.clicked.connect(action.trigger)
        self._follow()

    @Slot()
    def _follow(self) -> None:
        self.setText(self._action.text())
        self.setToolTip(self._action.toolTip())
        self.setEnabled(self._action.isEnabled())
        self.setVisible(self._action.isVisible())
