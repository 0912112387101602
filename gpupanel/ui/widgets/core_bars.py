"""How busy each logical processor is: a bar each."""

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.ui import theme
from gpupanel.ui.widgets.tips import wrapped

_HEIGHT = 24
_NARROWEST = 4.0
"""Pixels that a bar with its gap needs to be distinguished from its neighbours."""
_WIDEST = 24.0
_PALE = 0.35


class CoreBars(QWidget):
    """A bar per processor; several share one where there is no room for all.

    A shared bar is as high as their mean, and pale up to the busiest of them.

    Args:
        color: Number of the CPU's colour.
    """

    def __init__(self, color: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._color = color
        self._values: tuple[float, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Logical processors")

    def setValues(self, values: tuple[float, ...]) -> None:
        """Show these, from 0 to 100, in the order of the processors."""
        if values == self._values:
            return
        self._values = values
        words = f"{len(values)} logical processors"
        if values:
            busiest = max(values)
            words += f"; the busiest, number {values.index(busiest)}, is busy {busiest:.0f} %"
        self.setToolTip(wrapped(words))
        self.setAccessibleDescription(words)
        self.update()

    def bars(self) -> tuple[tuple[float, float], ...]:
        """What is drawn in the width of now: mean and greatest of those that share each bar."""
        room = max(1, int(self.width() / _NARROWEST))
        sharing = -(-len(self._values) // room) or 1
        groups = (
            self._values[start : start + sharing] for start in range(0, len(self._values), sharing)
        )
        return tuple((sum(group) / len(group), max(group)) for group in groups)

    @override
    def sizeHint(self) -> QSize:
        return QSize(160, _HEIGHT)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(48, _HEIGHT)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        bars = self.bars()
        if not bars:
            return
        painter = QPainter(self)
        color = theme.device_color(self._color)
        pale = theme.device_color(self._color)
        pale.setAlphaF(_PALE)
        pitch = min(_WIDEST, self.width() / len(bars))
        width = pitch - (2.0 if pitch >= 2 * _NARROWEST else 1.0)
        for position, (mean, greatest) in enumerate(bars):
            place = QRectF(position * pitch, 0.0, width, self.height())
            painter.fillRect(place, theme.current().color("track"))
            painter.fillRect(_lower(place, greatest), pale)
            painter.fillRect(_lower(place, mean), color)


def _lower(place: QRectF, percent: float) -> QRectF:
    height = place.height() * min(100.0, max(0.0, percent)) / 100.0
    return QRectF(place.left(), place.bottom() - height, place.width(), height)
