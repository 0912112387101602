"""A page of a tab that is scrolled where it is higher than its place, never to the side."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget


class PageScroll(QScrollArea):
    """Holds a page on the window's own ground.

    Args:
        name: What the place is called for people who do not see it.
        parent: Owns it.
    """

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.page = QWidget()
        """What is filled by whoever made it."""
        self.page.setProperty("page", "true")
        self.setWidget(self.page)
