"""A widget that paints itself, so that its parts have no tooltips of their own."""

from abc import abstractmethod

from PySide6.QtCore import QEvent, QPointF
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QToolTip, QWidget
from typing_extensions import override


class PaintedWidget(QWidget):
    """Explains what is below the pointer."""

    @abstractmethod
    def tip_at(self, position: QPointF) -> str:
        """The tooltip of what is painted there, as rich text; empty: it has none."""
        ...

    @override
    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self.tip_at(QPointF(event.pos())), self)
            return True
        return super().event(event)
