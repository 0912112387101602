"""A layout that goes on in the next line where a line is full, as words do."""

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget
from typing_extensions import override


class FlowLayout(QLayout):
    """Lets its widgets follow each other from left to right, in as many lines as it takes."""

    def __init__(self, parent: QWidget | None = None, *, spacing: int = 8) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)

    @override
    def addItem(self, arg__1: QLayoutItem) -> None:
        self._items.append(arg__1)

    @override
    def count(self) -> int:
        return len(self._items)

    @override
    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    @override
    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    @override
    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    @override
    def hasHeightForWidth(self) -> bool:
        return True

    @override
    def heightForWidth(self, arg__1: int) -> int:
        return self._flow(QRect(0, 0, arg__1, 0), place=False)

    @override
    def setGeometry(self, arg__1: QRect) -> None:
        super().setGeometry(arg__1)
        self._flow(arg__1, place=True)

    @override
    def sizeHint(self) -> QSize:
        hints = [item.sizeHint() for item in self._shown()]
        gaps = self.spacing() * max(0, len(hints) - 1)
        height = max((hint.height() for hint in hints), default=0)
        return QSize(sum(hint.width() for hint in hints) + gaps, height)

    @override
    def minimumSize(self) -> QSize:
        least = [item.minimumSize() for item in self._shown()]
        return QSize(
            max((size.width() for size in least), default=0),
            max((size.height() for size in least), default=0),
        )

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _flow(self, area: QRect, *, place: bool) -> int:
        """Goes through the items line by line; returns how high they stand."""
        x, y, line_height = area.x(), area.y(), 0
        line: list[tuple[QLayoutItem, QRect]] = []
        for item in self._shown():
            size = item.sizeHint().boundedTo(QSize(area.width(), item.sizeHint().height()))
            if x > area.x() and x + size.width() > area.x() + area.width():
                if place:
                    _place(line, line_height)
                x, y = area.x(), y + line_height + self.spacing()
                line, line_height = [], 0
            line.append((item, QRect(x, y, size.width(), size.height())))
            x += size.width() + self.spacing()
            line_height = max(line_height, size.height())
        if place:
            _place(line, line_height)
        return y + line_height - area.y()


def _place(line: list[tuple[QLayoutItem, QRect]], height: int) -> None:
    """Put the items of a line beside each other, with their middles at one height."""
    for item, place in line:
        item.setGeometry(place.translated(0, (height - place.height()) // 2))
