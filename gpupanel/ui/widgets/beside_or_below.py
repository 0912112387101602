"""Two parts beside each other, or one below the other where there is no room for both."""

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QWidget
from typing_extensions import override

from gpupanel.ui.theme import GRID


class BesideOrBelow(QWidget):
    """Keeps no window wider than the wider part of both.

    Args:
        first: Gets the room that is left.
        second: On the right, or below it.
    """

    def __init__(self, first: QWidget, second: QWidget) -> None:
        super().__init__()
        self._parts = first, second
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(GRID)
        self._row.addWidget(first, 1)
        self._row.addWidget(second)

    @override
    def minimumSizeHint(self) -> QSize:
        widest = max(part.minimumSizeHint().width() for part in self._parts)
        return QSize(widest, super().minimumSizeHint().height())

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        wanted = sum(part.minimumSizeHint().width() for part in self._parts) + GRID
        direction = QBoxLayout.Direction
        has_room = self.width() >= wanted
        self._row.setDirection(direction.LeftToRight if has_room else direction.TopToBottom)
