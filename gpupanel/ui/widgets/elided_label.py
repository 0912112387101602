"""A label that shortens what does not fit."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.domain.visible_text import visible_line


class ElidedLabel(QLabel):
    """One line of text, with an ellipsis where there is no room for all of it."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self._elide_mode = Qt.TextElideMode.ElideRight
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def setElideMode(self, mode: Qt.TextElideMode) -> None:
        """Shorten it there instead of at its end, where the end tells things apart."""
        self._elide_mode = mode
        self.update()

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(24, super().minimumSizeHint().height())

    @override
    def paintEvent(self, arg__1: QPaintEvent) -> None:
        painter = QPainter(self)
        rect = self.contentsRect()
        words = visible_line(self.text())
        text = self.fontMetrics().elidedText(words, self._elide_mode, rect.width())
        self.style().drawItemText(
            painter,
            rect,
            (self.alignment() | Qt.AlignmentFlag.AlignVCenter).value,
            self.palette(),
            self.isEnabled(),
            text,
            self.foregroundRole(),
        )
