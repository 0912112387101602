"""Two parts beside each other, or one below the other where there is no room for both."""

from PySide6.QtCore import QEvent, QSize
from PySide6.QtWidgets import QBoxLayout, QWidget
from typing_extensions import override

from gpupanel.ui.theme import GRID


class BesideOrBelow(QWidget):
    """Keeps no window wider than the wider part of both.

    Args:
        first: Gets the room that is left.
        second: On the right, or below it.
        share: How much of that room the second gets for each pixel of the first.
    """

    def __init__(self, first: QWidget, second: QWidget, *, share: int = 0) -> None:
        super().__init__()
        self._parts = first, second
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(GRID)
        self._row.addWidget(first, 1)
        self._row.addWidget(second, share)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(max(map(_least_width, self._parts)), super().minimumSizeHint().height())

    @override
    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        # Before they are shown, and while a part comes or goes, the room is another one.
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Show, QEvent.Type.LayoutRequest):
            self._arrange()
        return done

    def _arrange(self) -> None:
        seen = [part for part in self._parts if not part.isHidden()]
        wanted = sum(map(_least_width, seen)) + GRID * (len(seen) - 1)
        direction = QBoxLayout.Direction
        has_room = self.width() >= wanted
        self._row.setDirection(direction.LeftToRight if has_room else direction.TopToBottom)


def _least_width(part: QWidget) -> int:
    return max(part.minimumSizeHint().width(), part.minimumWidth())
