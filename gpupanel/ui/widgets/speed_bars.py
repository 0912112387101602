"""Speeds as horizontal bars, one below the other, the longest as long as there is room."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.ui import formatting, theme
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import ProseLabel
from gpupanel.ui.widgets.painted_widget import PaintedWidget
from gpupanel.ui.widgets.tips import wrapped

_HEIGHT = 16
_RADIUS = 4.0


@dataclass(frozen=True, slots=True)
class SpeedRow:
    """One bar.

    Attributes:
        name: Whose speed it is.
        speed: Examples a second; ``None``: it has none, and ``note`` says why.
        color: Number of a device's colour; ``None``: of several devices.
        efficiency: As a fraction, shown behind the speed; ``None``: not known.
        note: More about it, in words.
        is_marked: Whether it is the fastest.
    """

    name: str
    speed: float | None
    color: int | None = None
    efficiency: float | None = None
    note: str = ""
    is_marked: bool = False

    @property
    def sentence(self) -> str:
        """All of it in words."""
        words = "no speed" if self.speed is None else formatting.rate(self.speed)
        percent = "" if self.efficiency is None else f"efficiency {_percent(self.efficiency)}"
        fastest = "the fastest" if self.is_marked else ""
        return ", ".join(filter(None, (words, percent, fastest, self.note)))


class SpeedBars(QWidget):
    """Name, bar, speed and efficiency of each, in columns."""

    def __init__(self, rows: Sequence[SpeedRow], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("speed_bars")
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(2 * GRID)
        grid.setVerticalSpacing(GRID)
        grid.setColumnStretch(0, 2)
        grid.setColumnStretch(1, 3)
        for column, title in enumerate(("Tried", "", "Speed", "Efficiency")):
            head = QLabel(title)
            head.setProperty("tone", "muted")
            head.setAlignment(_side(column))
            grid.addWidget(head, 0, column)
        longest = max((row.speed or 0.0 for row in rows), default=0.0)
        for place, row in enumerate(rows, start=1):
            name = ProseLabel()
            name.setProse(row.name)
            speed = QLabel("failed" if row.speed is None else formatting.rate(row.speed))
            efficiency = QLabel("" if row.efficiency is None else _percent(row.efficiency))
            for label in (name, speed, efficiency):
                label.setToolTip(wrapped(row.sentence))
                font = label.font()
                font.setBold(row.is_marked)
                label.setFont(font)
            if row.speed is None:
                speed.setProperty("tone", "error")
            for column, part in enumerate((name, SpeedBar(row, longest), speed, efficiency)):
                if isinstance(part, QLabel):
                    part.setAlignment(_side(column))
                grid.addWidget(part, place, column)


class SpeedBar(PaintedWidget):
    """One of the bars.

    Args:
        row: Its speed.
        longest: The greatest speed of all.
    """

    def __init__(self, row: SpeedRow, longest: float, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._row = row
        self._part = (row.speed or 0.0) / longest if longest > 0.0 else 0.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(row.name)
        self.setAccessibleDescription(row.sentence)

    @override
    def sizeHint(self) -> QSize:
        return QSize(240, _HEIGHT)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(64, _HEIGHT)

    @override
    def tip_at(self, position: QPointF) -> str:
        return wrapped(self._row.sentence)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        whole = QRectF(self.rect())
        painter.setBrush(theme.current().color("track"))
        painter.drawRoundedRect(whole, _RADIUS, _RADIUS)
        if self._part > 0.0:
            # A slow one is seen, too.
            width = max(2.0 * _RADIUS, self._part * whole.width())
            painter.setBrush(self._color())
            painter.drawRoundedRect(QRectF(0.0, 0.0, width, whole.height()), _RADIUS, _RADIUS)

    def _color(self) -> QColor:
        number = self._row.color
        return theme.current().color("accent") if number is None else theme.device_color(number)


def _percent(fraction: float) -> str:
    return f"{100.0 * fraction:,.0f} %"


def _side(column: int) -> Qt.AlignmentFlag:
    left = column < 2
    side = Qt.AlignmentFlag.AlignLeft if left else Qt.AlignmentFlag.AlignRight
    return side | Qt.AlignmentFlag.AlignVCenter
