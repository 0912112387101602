"""A title that folds what is below it."""

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QToolButton, QWidget


class FoldButton(QToolButton):
    """Checked is unfolded; ``toggled`` tells of each change."""

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
