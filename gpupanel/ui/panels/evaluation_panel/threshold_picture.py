"""Precision and recall of a class over the threshold, which a line chooses."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.ui import formatting, theme
from gpupanel.ui.panels.evaluation_panel.picture import Picture, Range, place_of
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.tips import teach

if TYPE_CHECKING:
    # NumPy, which it needs, takes longer to load than a window may.
    from gpupanel.runs.following.thresholds import ThresholdCurves

_WHOLE: Range = (0.0, 1.0)
_HANDLE, _FOCUSED = 5.0, 8.0
_SAMPLE = 24.0
"""Pixels of a line in the legend."""
_TIP = (
    "Precision and recall if an example is taken for the class from this probability on. Drag the "
    "line; keys: the arrows by a thousandth, Page Up and Page Down by a twentieth, Home and End."
)
_FAR = 50


class ThresholdPicture(Picture):
    """Both curves; a person drags the line, or moves it by keys."""

    thresholdMoved = Signal(int)
    """By a person; in thousandths."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(("threshold", ""), parent)
        self._curves: ThresholdCurves | None = None
        self._place = 0
        self.setObjectName("threshold_picture")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        teach(self, "Precision and recall over the threshold", _TIP)

    def setCurves(self, curves: "ThresholdCurves") -> None:
        """Draw these."""
        self._curves = curves
        self._describe()
        self.update()

    def setPlace(self, place: int) -> None:
        """Where the line stands, in thousandths; without a signal."""
        self._place = place
        self._describe()
        self.update()

    @override
    def ranges(self) -> tuple[Range, Range] | None:
        return None if self._curves is None else (_WHOLE, _WHOLE)

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self._drag(event.position().x())

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._drag(event.position().x())

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        last = self._last
        moved = {
            Qt.Key.Key_Left: self._place - 1,
            Qt.Key.Key_Down: self._place - 1,
            Qt.Key.Key_Right: self._place + 1,
            Qt.Key.Key_Up: self._place + 1,
            Qt.Key.Key_PageDown: self._place - _FAR,
            Qt.Key.Key_PageUp: self._place + _FAR,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: last,
        }.get(Qt.Key(event.key()))
        if moved is None:
            super().keyPressEvent(event)
        else:
            self._move_to(moved)

    @override
    def paint(self, painter: QPainter, area: QRectF) -> None:
        if self._curves is None:
            return
        shown = theme.current()
        pens = (
            QPen(shown.color("accent"), 2.0),
            QPen(QColor(shown.devices[1]), 2.0, Qt.PenStyle.DashLine),
        )
        self._paint_legend(painter, area, pens)
        values = (self._curves.precision, self._curves.recall)
        for pen, curve in zip(pens, values, strict=True):
            painter.setPen(pen)
            for line in _lines(curve, area):
                painter.drawPolyline(QPolygonF(line))
        at = place_of(self._place / self._last, _WHOLE, area.left(), area.right())
        painter.setPen(QPen(shown.color("text"), 1.0))
        painter.drawLine(QLineF(at, area.top(), at, area.bottom()))
        for pen, curve in zip(pens, values, strict=True):
            value = curve[self._place]
            if value is not None:
                painter.setBrush(pen.color())
                height = place_of(value, _WHOLE, area.bottom(), area.top())
                painter.drawEllipse(QPointF(at, height), _HANDLE - 1.0, _HANDLE - 1.0)
        painter.setBrush(shown.color("text"))
        if self.hasFocus():
            painter.setPen(QPen(shown.color("accent"), 3.0))
        size = _FOCUSED if self.hasFocus() else _HANDLE
        painter.drawEllipse(QPointF(at, area.bottom()), size, size)

    def _describe(self) -> None:
        """What a screen reader says of where the line stands."""
        if self._curves is None:
            return
        precision, recall = (
            formatting.fraction(curve[self._place])
            for curve in (self._curves.precision, self._curves.recall)
        )
        now = f"Threshold {self._place / self._last:g}: precision {precision}, recall {recall}."
        self.setAccessibleDescription(f"{now} {_TIP}")

    def _paint_legend(self, painter: QPainter, area: QRectF, pens: tuple[QPen, QPen]) -> None:
        metrics = painter.fontMetrics()
        left, middle = area.left(), metrics.height() / 2.0
        for pen, words in zip(pens, ("precision", "recall"), strict=True):
            painter.setPen(pen)
            painter.drawLine(QLineF(left, middle, left + _SAMPLE, middle))
            painter.setPen(theme.current().color("text"))
            wide = metrics.horizontalAdvance(words)
            begin = left + _SAMPLE + GRID
            box = QRectF(begin, 0.0, wide + GRID, metrics.height())
            painter.drawText(box, Qt.AlignmentFlag.AlignLeft, words)
            left = begin + wide + 2 * GRID

    @property
    def _last(self) -> int:
        """The place of the greatest threshold."""
        return 1 if self._curves is None else len(self._curves.recall) - 1

    def _drag(self, x: float) -> None:
        area = self.area()
        if area.width() > 0:
            self._move_to(round(self._last * (x - area.left()) / area.width()))

    def _move_to(self, place: int) -> None:
        place = min(max(place, 0), self._last)
        if self._curves is not None and place != self._place:
            self.setPlace(place)
            self.thresholdMoved.emit(place)


def _lines(curve: tuple[float | None, ...], area: QRectF) -> list[list[QPointF]]:
    """The curve as lines, broken where there is no value."""
    found: list[list[QPointF]] = [[]]
    last = len(curve) - 1
    for place, value in enumerate(curve):
        if value is None:
            found.append([])
            continue
        x = place_of(place / last, _WHOLE, area.left(), area.right())
        found[-1].append(QPointF(x, place_of(value, _WHOLE, area.bottom(), area.top())))
    return [line for line in found if line]
