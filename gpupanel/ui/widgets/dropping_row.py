"""A row that leaves out what matters least where there is no room for all of it."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget
from typing_extensions import override


class DroppingRow(QWidget):
    """Parts side by side; what can be left out comes back when the row is wide enough again."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._droppable: tuple[QWidget, ...] = ()
        self.row = QHBoxLayout(self)
        """What the parts stand in."""

    def setDroppable(self, parts: Sequence[QWidget]) -> None:
        """Leave these out where it is narrow, the first one first."""
        self._droppable = tuple(parts)
        self._drop()

    @override
    def minimumSizeHint(self) -> QSize:
        least = super().minimumSizeHint()
        return QSize(least.width() - self._dropped_width(), least.height())

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._drop()

    @override
    def event(self, event: QEvent) -> bool:
        handled = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._drop()  # a part wants another width
        return handled

    def _dropped_width(self) -> int:
        """The width of what is there now and can be left out."""
        return sum(self._width(part) for part in self._droppable if not part.isHidden())

    def _width(self, part: QWidget) -> int:
        return max(part.minimumWidth(), part.minimumSizeHint().width()) + self.row.spacing()

    def _drop(self) -> None:
        free = self.width() - self.row.minimumSize().width() + self._dropped_width()
        for part in reversed(self._droppable):
            free -= self._width(part)
            if part.isHidden() != (free < 0):
                part.setVisible(free >= 0)
