"""A button that is an action, and one that folds what is below it."""

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QPushButton, QToolButton, QWidget


class ActionButton(QPushButton):
    """Follows its action, so that a menu and a button never say different things.

    Its object name is that of the action with ``_button`` behind it.

    Args:
        action: What a click does; one that has a menu opens it.
        parent: A button of its own window would be shown at once.
    """

    def __init__(self, action: QAction, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName(f"{action.objectName()}_button")
        self._action = action
        action.changed.connect(self._follow)
        menu = action.menu()
        if isinstance(menu, QMenu):
            self.setMenu(menu)
        else:
            self.clicked.connect(action.trigger)
        self._follow()

    @Slot()
    def _follow(self) -> None:
        self.setText(self._action.text())
        self.setToolTip(self._action.toolTip())
        self.setEnabled(self._action.isEnabled())
        self.setVisible(self._action.isVisible())


class FoldButton(QToolButton):
    """Checked is unfolded; ``toggled`` follows each change."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setText(title)
        self.setCheckable(True)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setProperty("role", "fold")
        self.setArrowType(Qt.ArrowType.RightArrow)
        self.toggled.connect(self._turn)

    @Slot(bool)
    def _turn(self, unfolded: bool) -> None:
        self.setArrowType(Qt.ArrowType.DownArrow if unfolded else Qt.ArrowType.RightArrow)
