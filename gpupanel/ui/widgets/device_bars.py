"""How busy each of several devices is: a bar each, in its colour."""

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.ui import formatting, theme
from gpupanel.ui.widgets.tips import wrapped

_HEIGHT = 20
_WIDEST = 40.0
_GAP = 3.0


class DeviceBars(QWidget):
    """A bar per device; an empty one where its utilization is not known."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._colors: tuple[int, ...] = ()
        self._labels: tuple[str, ...] = ()
        self._values: tuple[float | None, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Utilization of the devices")

    def setDevices(self, colors: tuple[int, ...], labels: tuple[str, ...]) -> None:
        """Show so many bars.

        Args:
            colors: Numbers of their colours.
            labels: What each is called.
        """
        if (colors, labels) != (self._colors, self._labels):
            self._colors, self._labels = colors, labels
            self.setValues(())

    def setValues(self, values: tuple[float | None, ...]) -> None:
        """Show these, from 0 to 100, in the order of the devices."""
        if values and values == self._values:
            return
        self._values = values
        # Words for whoever cannot see the bars, and over them.
        pairs = zip(self._labels, values, strict=False)
        words = "\n".join(f"{label}: {formatting.percent(value)}" for label, value in pairs)
        self.setToolTip(wrapped(words))
        self.setAccessibleDescription(words)
        self.update()

    @override
    def sizeHint(self) -> QSize:
        return QSize(160, _HEIGHT)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(48, _HEIGHT)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._colors:
            return
        painter = QPainter(self)
        pitch = min(_WIDEST, (self.width() + _GAP) / len(self._colors))
        for place, number in enumerate(self._colors):
            bar = QRectF(place * pitch, 0.0, max(1.0, pitch - _GAP), self.height())
            painter.fillRect(bar, theme.current().color("track"))
            value = self._values[place] if place < len(self._values) else None
            if value is not None:
                height = bar.height() * min(100.0, max(0.0, value)) / 100.0
                bar.setTop(bar.bottom() - height)
                painter.fillRect(bar, theme.device_color(number))
