"""The global batch as a bar that is divided by dragging its borders."""

from collections.abc import Sequence
from itertools import accumulate, pairwise

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.ui.widgets.painted_widget import PaintedWidget
from gpupanel.ui.widgets.share_segment import ShareSegment, paint_segment
from gpupanel.ui.widgets.tips import wrapped

_LESSON = (
    "Drag a border, or use the arrow keys: shares need not be equal. A faster device can take "
    "more; the result is the same, since gradients are summed over the whole batch."
)
_MEASURED_LESSON = (
    "The current shares of the run. Measured shares follow the speed of the devices during "
    "training; the result stays the same."
)
BAR_HEIGHT = 36
GRAB_DISTANCE = 8
MOST_SEGMENTS = 32
"""With more of them no border can be grabbed: each is a few pixels from the next."""
_RADIUS = 6.0
_MARGIN = 4


class ShareBar(PaintedWidget):
    """Segments as wide as their shares; the borders move by mouse and by arrow keys.

    Left and Right move the chosen border by one, with Shift by a sixteenth of the whole;
    Up and Down choose the border. The sum of the shares never changes here.
    """

    sharesChosen = Signal(object)
    """A person moved a border: the new shares, a tuple of int; once for each drag or key."""

    def __init__(
        self,
        *,
        movable: bool = True,
        counted: str = "examples",
        lesson: str = _LESSON,
        parent: QWidget | None = None,
    ) -> None:
        """Makes the bar.

        Args:
            movable: A person may move borders; otherwise it only shows them.
            counted: What is divided, in the plural.
            lesson: What moving borders does.
            parent: The owner in Qt's sense.
        """
        super().__init__(parent)
        self._movable = movable
        self._counted, self._lesson = counted, lesson
        self._segments: tuple[ShareSegment, ...] = ()
        self._shares: tuple[int, ...] = ()
        self._border = 0
        self._grabbed: tuple[int, ...] = ()
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Shares of the global batch")

    def shares(self) -> tuple[int, ...]:
        """The shares as drawn, those of an unfinished drag included."""
        return self._shares

    def setSegments(self, segments: Sequence[ShareSegment]) -> None:
        """Shows other segments; an unfinished drag goes on only where it still makes sense."""
        before = [segment.share for segment in self._segments]
        self._segments = tuple(segments)
        if before != [segment.share for segment in self._segments]:
            self._grabbed = ()
        if not self._grabbed:
            self._shares = tuple(segment.share for segment in self._segments)
        self._border = min(self._border, max(0, len(self._shares) - 2))
        can_focus = Qt.FocusPolicy.StrongFocus if self._has_borders() else Qt.FocusPolicy.NoFocus
        self.setFocusPolicy(can_focus)
        self._describe()
        self.update()

    def border_positions(self) -> tuple[float, ...]:
        """Where the movable borders are, in pixels from the left edge of the widget."""
        bar, total = self._bar(), max(1, sum(self._shares))
        return tuple(
            bar.left() + bar.width() * before / total for before in accumulate(self._shares[:-1])
        )

    @override
    def sizeHint(self) -> QSize:
        return QSize(320, BAR_HEIGHT + 2 * _MARGIN)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(160, BAR_HEIGHT + 2 * _MARGIN)

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is not Qt.MouseButton.LeftButton:
            event.ignore()
            return
        self._grabbed = self._borders_at(event.position().x())
        if self._grabbed:
            self._border = self._grabbed[-1]
            self.update()

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        x = event.position().x()
        if not self._grabbed:
            near = bool(self._borders_at(x))
            shape = Qt.CursorShape.SplitHCursor if near else Qt.CursorShape.ArrowCursor
            self.setCursor(shape)
            return
        bar, total = self._bar(), sum(self._shares)
        target = round((x - bar.left()) / max(1.0, bar.width()) * total)
        if len(self._grabbed) > 1:
            self._choose_grabbed(target)
        self._border = self._grabbed[-1]
        self._move_border(target)

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton and self._grabbed:
            self._grabbed = ()
            self._report()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._has_borders():
            super().keyPressEvent(event)
            return
        coarse = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        stride = max(1, sum(self._shares) // 16) if coarse else 1
        position = sum(self._shares[: self._border + 1])
        match event.key():
            case Qt.Key.Key_Left:
                self._move_border(position - stride)
                self._report()
            case Qt.Key.Key_Right:
                self._move_border(position + stride)
                self._report()
            case Qt.Key.Key_Up:
                self._border = max(0, self._border - 1)
                self.update()
            case Qt.Key.Key_Down:
                self._border = min(len(self._shares) - 2, self._border + 1)
                self.update()
            case _:
                super().keyPressEvent(event)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        outline = QPainterPath()
        outline.addRoundedRect(self._bar(), _RADIUS, _RADIUS)
        painter.save()
        painter.setClipPath(outline)
        painter.fillPath(outline, self.palette().mid())
        for segment, share, place in zip(self._segments, self._shares, self._places(), strict=True):
            color = segment.color if self.isEnabled() else self.palette().mid().color()
            paint_segment(painter, segment, share, place, color)
        painter.restore()
        if self._has_borders():
            for index, x in enumerate(self.border_positions()):
                self._paint_border(painter, x, chosen=self.hasFocus() and index == self._border)

    def _has_borders(self) -> bool:
        return self._movable and 1 < len(self._shares) <= MOST_SEGMENTS

    def _bar(self) -> QRectF:
        return QRectF(self.rect()).adjusted(_MARGIN, _MARGIN, -_MARGIN, -_MARGIN)

    def _places(self) -> list[QRectF]:
        bar = self._bar()
        edges = [bar.left(), *self.border_positions(), bar.right()]
        return [
            QRectF(left, bar.top(), right - left, bar.height()) for left, right in pairwise(edges)
        ][: len(self._shares)]

    def _paint_border(self, painter: QPainter, x: float, *, chosen: bool) -> None:
        bar = self._bar()
        painter.setPen(QPen(self.palette().window().color(), 3.0))
        painter.drawLine(QPointF(x, bar.top()), QPointF(x, bar.bottom()))
        grip = QRectF(x - 4.0, bar.center().y() - 10.0, 8.0, 20.0)
        rim = self.palette().highlight() if chosen else self.palette().windowText()
        painter.setPen(QPen(rim.color(), 2.0 if chosen else 1.0))
        painter.setBrush(self.palette().base())
        painter.drawRoundedRect(grip, 4.0, 4.0)

    def _borders_at(self, x: float) -> tuple[int, ...]:
        """The borders in reach of the pointer: those at the place nearest to it."""
        positions = self.border_positions()
        if not positions or not self._has_borders():
            return ()
        nearest = min(positions, key=lambda position: abs(position - x))
        if abs(nearest - x) > GRAB_DISTANCE:
            return ()
        return tuple(index for index, position in enumerate(positions) if position == nearest)

    def _choose_grabbed(self, target: int) -> None:
        """Of borders on one spot, the one that can go where the pointer goes."""
        position = sum(self._shares[: self._grabbed[0] + 1])
        if target != position:
            self._grabbed = (self._grabbed[0 if target < position else -1],)

    def _move_border(self, target: int) -> None:
        """Puts the chosen border after ``target`` examples, between its neighbours."""
        edges = [0, *accumulate(self._shares)]
        index = self._border + 1
        edges[index] = min(max(target, edges[index - 1]), edges[index + 1])
        self._shares = tuple(after - before for before, after in pairwise(edges))
        self._describe()
        self.update()

    def _report(self) -> None:
        if self._shares != tuple(segment.share for segment in self._segments):
            self.sharesChosen.emit(self._shares)

    def _describe(self) -> None:
        total = sum(self._shares)
        self.setAccessibleDescription(
            "; ".join(
                f"{segment.name}: {share:,} of {total:,} {self._counted}{segment.noted}"
                for segment, share in zip(self._segments, self._shares, strict=True)
            )
        )

    @override
    def tip_at(self, position: QPointF) -> str:
        if not self._segments:
            return ""
        total = max(1, sum(self._shares))
        lesson = (
            _MEASURED_LESSON
            if not self._movable
            else (
                self._lesson
                if self._has_borders()
                else ""
                if len(self._shares) > 1
                else "One replica takes the whole batch."
            )
        )
        for segment, share, place in zip(self._segments, self._shares, self._places(), strict=True):
            if place.left() <= position.x() < place.right():
                of_all = f"{share:,} of {total:,} {self._counted} ({share / total:.0%})"
                part = f"{segment.name}: {of_all}{segment.noted}."
                return f"{wrapped(part)}<p>{lesson}</p>"
        return wrapped(lesson)
