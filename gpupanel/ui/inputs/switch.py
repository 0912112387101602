"""On or off: a switch, and a check box whose text says what."""

from PySide6.QtCore import QRectF, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QCheckBox, QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.ui import theme

_WIDTH, _HEIGHT = 34, 20


class Switch(QAbstractButton):
    """Distinguished by the knob's side and by a bar in it, not by colour alone.

    Space or a click turns it; ``toggled`` follows each change, ``clicked`` a person's act only.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    @override
    def sizeHint(self) -> QSize:
        return QSize(_WIDTH + 4, _HEIGHT + 4)

    @override
    def paintEvent(self, e: QPaintEvent) -> None:
        colors = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        body = QRectF(2.5, 2.5, _WIDTH - 1.0, _HEIGHT - 1.0)
        radius = body.height() / 2.0
        if self.hasFocus():
            painter.setPen(QPen(colors.color("text"), 1.0))
            painter.drawRoundedRect(body.adjusted(-2, -2, 2, 2), radius + 2, radius + 2)
        on = self.isChecked()
        fill = colors.color("accent" if on else "raised")
        edge = colors.color("accent" if on else "strong_border")
        if not self.isEnabled():
            fill = colors.color("faint" if on else "surface")
            edge = colors.color("faint" if on else "border")
        painter.setPen(QPen(edge, 1.0))
        painter.setBrush(fill)
        painter.drawRoundedRect(body, radius, radius)
        self._draw_knob(painter, body, on=on)

    def _draw_knob(self, painter: QPainter, body: QRectF, *, on: bool) -> None:
        colors = theme.current()
        size = body.height() - 6.0
        left = body.right() - 3.0 - size if on else body.left() + 3.0
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors.color("accent_text" if on else "muted"))
        painter.drawEllipse(QRectF(left, body.top() + 3.0, size, size))
        if on:
            middle = body.center().y()
            painter.drawRoundedRect(QRectF(body.left() + 8.0, middle - 3.0, 2.0, 6.0), 1.0, 1.0)


class CheckBox(QCheckBox):
    """Yes or no; its text says what."""

    valueChanged = Signal(bool)
    """A person turned it; :meth:`setValue` is silent."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.toggled.connect(self.valueChanged)

    def value(self) -> bool:
        """Whether it is checked."""
        return self.isChecked()

    def setValue(self, value: bool) -> None:
        """Checks it, or not, silently."""
        with QSignalBlocker(self):
            self.setChecked(value)
        self.update()
