"""How each of the compared runs looks: one colour and one kind of line."""

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPixmap

from gpupanel.ui import theme
from gpupanel.ui.plots.legend import LegendEntry, draw_mark

MARK_SIZE = QSize(32, 12)

_DASHES: tuple[tuple[float, ...], ...] = (
    (),
    (8.0, 4.0),
    (2.0, 3.0),
    (8.0, 3.0, 2.0, 3.0),
    (14.0, 4.0),
    (4.0, 4.0),
    (8.0, 3.0, 2.0, 3.0, 2.0, 3.0),
    (14.0, 4.0, 4.0, 4.0),
)


def color(place: int) -> QColor:
    """The colour of a run, by its place: of the set that the window distinguishes devices by."""
    return theme.device_color(place)


def dashes(place: int) -> tuple[float, ...]:
    """The line of a run, by its place: lengths of dashes and gaps in pixels; empty: no gaps."""
    return _DASHES[place % len(_DASHES)]


def mark(place: int, *, is_hidden: bool, ratio: float) -> QPixmap:
    """A piece of the run's line.

    Args:
        place: Of the run.
        is_hidden: Drawn without its colour.
        ratio: Pixels of the screen for each of the layout.
    """
    shade = theme.current().color("faint") if is_hidden else color(place)
    pixmap = QPixmap(MARK_SIZE * ratio)
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    entry = LegendEntry("", "", "", shade, dashes=dashes(place))
    draw_mark(painter, entry, QPointF(0.0, MARK_SIZE.height() / 2.0), MARK_SIZE.width())
    painter.end()
    return pixmap
