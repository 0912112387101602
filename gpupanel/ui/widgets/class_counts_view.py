"""How many examples each class has, as bars with numbers."""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.domain.visible_text import visible_line
from gpupanel.ui import formatting, theme
from gpupanel.ui.widgets.painted_widget import PaintedWidget
from gpupanel.ui.widgets.tips import wrapped

_MOST_ROWS = 12
_TWO_COLUMNS_FROM = 360
_GAP = 16
_HISTOGRAM_HEIGHT = 48
_STALE_OPACITY = 0.35


class ClassCountsView(PaintedWidget):
    """A bar for each class; more than twelve classes become one small histogram."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._counts: tuple[tuple[str, int], ...] = ()
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName("Examples per class")

    def setCounts(self, counts: Sequence[tuple[str, int]]) -> None:
        """Shows other classes, in their order."""
        self._counts = tuple((visible_line(name), count) for name, count in counts)
        self.setAccessibleDescription(", ".join(f"{name}: {count:,}" for name, count in counts))
        self.updateGeometry()
        self.update()

    @override
    def hasHeightForWidth(self) -> bool:
        return True

    @override
    def heightForWidth(self, arg__1: int) -> int:
        if not self._counts:
            return 0
        if self._is_histogram():
            return _HISTOGRAM_HEIGHT + self._line_height()
        return self._rows(arg__1) * self._line_height()

    @override
    def sizeHint(self) -> QSize:
        return QSize(320, self.heightForWidth(max(self.width(), 320)))

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            # Layouts keep to the hint, whose rows depend on the width.
            self.updateGeometry()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setOpacity(1.0 if self.isEnabled() else _STALE_OPACITY)
        painter.setFont(theme.small_font(self.font()))
        if self._is_histogram():
            self._paint_histogram(painter)
            return
        for index, (name, count) in enumerate(self._counts):
            self._paint_row(painter, self._row(index), name, count)

    def _is_histogram(self) -> bool:
        return len(self._counts) > _MOST_ROWS

    def _rows(self, width: int) -> int:
        two = width >= _TWO_COLUMNS_FROM and len(self._counts) > 4
        return -(-len(self._counts) // 2) if two else len(self._counts)

    def _row(self, index: int) -> QRectF:
        rows = self._rows(self.width())
        columns = 1 if rows == len(self._counts) else 2
        width = (self.width() - _GAP * (columns - 1)) / columns
        column, row = divmod(index, rows)
        height = self._line_height()
        return QRectF(column * (width + _GAP), row * height, width, height)

    def _paint_row(self, painter: QPainter, place: QRectF, name: str, count: int) -> None:
        metrics = painter.fontMetrics()
        names = min(
            max(metrics.horizontalAdvance(label) for label, _ in self._counts), place.width() * 0.4
        )
        numbers = max(metrics.horizontalAdvance(formatting.count(n)) for _, n in self._counts)
        painter.setPen(theme.current().color("text"))
        shown = metrics.elidedText(name, Qt.TextElideMode.ElideRight, int(names) + 1)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, shown)
        painter.setPen(theme.current().color("muted"))
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(place, right, formatting.count(count))
        track = QRectF(place.left() + names + 8.0, place.center().y() - 4.0, 0.0, 8.0)
        track.setRight(place.right() - numbers - 8.0)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.current().color("track"))
        painter.drawRoundedRect(track, 3.0, 3.0)
        track.setWidth(track.width() * count / self._greatest())
        painter.setBrush(theme.current().color("accent"))
        painter.drawRoundedRect(track, 3.0, 3.0)

    def _paint_histogram(self, painter: QPainter) -> None:
        step = self.width() / len(self._counts)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.current().color("accent"))
        for index, (_, count) in enumerate(self._counts):
            height = _HISTOGRAM_HEIGHT * count / self._greatest()
            gap = 1.0 if step >= 3.0 else 0.0
            painter.drawRect(QRectF(index * step, _HISTOGRAM_HEIGHT - height, step - gap, height))
        painter.setPen(theme.current().color("muted"))
        words = painter.fontMetrics().elidedText(
            self._extremes(), Qt.TextElideMode.ElideRight, self.width()
        )
        below = QRectF(0.0, _HISTOGRAM_HEIGHT, self.width(), self._line_height())
        painter.drawText(below, Qt.AlignmentFlag.AlignVCenter, words)

    def _extremes(self) -> str:
        least = min(self._counts, key=lambda each: each[1])
        most = max(self._counts, key=lambda each: each[1])
        if least[1] == most[1]:
            return f"{len(self._counts)} classes with {formatting.count(most[1])} examples each"
        return (
            f"{len(self._counts)} classes: from {formatting.count(least[1])} ({least[0]}) "
            f"to {formatting.count(most[1])} ({most[0]}) examples"
        )

    @override
    def tip_at(self, position: QPointF) -> str:
        return wrapped(self._words_at(position))

    def _words_at(self, position: QPointF) -> str:
        if not self._counts:
            return ""
        if self._is_histogram():
            index = int(position.x() / max(1, self.width()) * len(self._counts))
            name, count = self._counts[min(max(0, index), len(self._counts) - 1)]
            return f"{name}: {formatting.count(count)} examples"
        for index, (name, count) in enumerate(self._counts):
            if self._row(index).contains(position):
                return f"{name}: {formatting.count(count)} examples"
        return "How many examples each class has."

    def _greatest(self) -> int:
        return max(1, *(count for _, count in self._counts))

    def _line_height(self) -> int:
        return self.fontMetrics().height() + 4
