"""Some examples: images with their labels, or the first values of each."""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QFont,
    QFontDatabase,
    QImage,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.domain.preview import ExamplePreview
from gpupanel.ui import theme
from gpupanel.ui.widgets.example_image import image_of
from gpupanel.ui.widgets.painted_widget import PaintedWidget
from gpupanel.ui.widgets.tips import wrapped

_IMAGE = 56
"""Pixels that an image is scaled towards, by a whole number so that its pixels stay crisp."""
_CELL = 64
_GAP = 8
_IMAGE_ROWS = 2
_TEXT_ROWS = 6
_STALE_OPACITY = 0.35


class ExamplesView(PaintedWidget):
    """Two rows of images, as many as there is room for; or a few lines of values."""

    def __init__(self, name: str = "Examples of the data", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._examples: tuple[ExamplePreview, ...] = ()
        self._images: tuple[QImage | None, ...] = ()
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName(name)

    def setExamples(self, examples: Sequence[ExamplePreview]) -> None:
        """Shows other examples."""
        self._examples = tuple(examples)
        self._images = tuple(image_of(example) for example in examples)
        self.setAccessibleDescription(", ".join(example.label for example in examples))
        self.updateGeometry()
        self.update()

    def shown_count(self) -> int:
        """How many examples there is room for."""
        most = _TEXT_ROWS if not self._has_images() else _IMAGE_ROWS * self._per_row()
        return min(most, len(self._examples))

    @override
    def hasHeightForWidth(self) -> bool:
        return True

    @override
    def heightForWidth(self, arg__1: int) -> int:
        if not self._examples:
            return 0
        if not self._has_images():
            return min(_TEXT_ROWS, len(self._examples)) * self._line_height()
        per_row = max(1, (arg__1 + _GAP) // (_CELL + _GAP))
        rows = min(_IMAGE_ROWS, -(-len(self._examples) // per_row))
        return rows * self._cell_height() + (rows - 1) * _GAP

    @override
    def sizeHint(self) -> QSize:
        return QSize(5 * (_CELL + _GAP), self.heightForWidth(max(self.width(), _CELL)))

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            # Layouts keep to the hint, whose rows depend on the width.
            self.updateGeometry()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setOpacity(1.0 if self.isEnabled() else _STALE_OPACITY)
        for index in range(self.shown_count()):
            image = self._images[index]
            if not self._has_images():
                self._paint_values(painter, self._examples[index], self._cell(index))
            else:
                self._paint_image(painter, self._examples[index], image, self._cell(index))

    @override
    def tip_at(self, position: QPointF) -> str:
        cells = range(self.shown_count())
        index = next((each for each in cells if self._cell(each).contains(position)), None)
        return "" if index is None else wrapped(_words(self._examples[index]))

    def _has_images(self) -> bool:
        return any(image is not None for image in self._images)

    def _per_row(self) -> int:
        return max(1, (self.width() + _GAP) // (_CELL + _GAP))

    def _cell(self, index: int) -> QRectF:
        if not self._has_images():
            return QRectF(0, index * self._line_height(), self.width(), self._line_height())
        row, column = divmod(index, self._per_row())
        height = self._cell_height()
        return QRectF(column * (_CELL + _GAP), row * (height + _GAP), _CELL, height)

    def _paint_image(
        self, painter: QPainter, example: ExamplePreview, image: QImage | None, cell: QRectF
    ) -> None:
        frame = QRectF(cell.left() + 0.5, cell.top() + 0.5, _CELL - 1.0, _CELL - 1.0)
        painter.setPen(QPen(theme.current().color("border"), 1.0))
        painter.setBrush(theme.current().color("raised"))
        painter.drawRoundedRect(frame, 4.0, 4.0)
        if image is not None:
            size = _scaled(image.size())
            place = QRectF(0.0, 0.0, size.width(), size.height())
            place.moveCenter(frame.center())
            # An image larger than its place is made smaller smoothly; a smaller one keeps edges.
            smooth = size.width() < image.width()
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, smooth)
            painter.drawImage(place, image)
        painter.setFont(theme.small_font(self.font()))
        painter.setPen(theme.current().color("text"))
        label = painter.fontMetrics().elidedText(example.label, Qt.TextElideMode.ElideRight, _CELL)
        below = QRectF(cell.left(), cell.top() + _CELL, _CELL, cell.height() - _CELL)
        painter.drawText(below, Qt.AlignmentFlag.AlignCenter, label)

    def _paint_values(self, painter: QPainter, example: ExamplePreview, cell: QRectF) -> None:
        label = QRectF(cell.left(), cell.top(), min(112.0, cell.width() / 3.0), cell.height())
        values = QRectF(
            label.right() + _GAP, cell.top(), cell.right() - label.right() - _GAP, cell.height()
        )
        for place, words, font, role in (
            (label, example.label, theme.small_font(self.font()), "text"),
            (values, example.text, _monospace(theme.small_font(self.font()).pointSizeF()), "muted"),
        ):
            painter.setFont(font)
            painter.setPen(theme.current().color(role))
            shown = painter.fontMetrics().elidedText(
                words, Qt.TextElideMode.ElideRight, int(place.width())
            )
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, shown)

    def _line_height(self) -> int:
        return self.fontMetrics().height() + 4

    def _cell_height(self) -> int:
        return _CELL + self.fontMetrics().height() + 2


def _scaled(size: QSize) -> QSize:
    longest = max(size.width(), size.height())
    if longest > _IMAGE + 8:
        return size.scaled(_IMAGE, _IMAGE, Qt.AspectRatioMode.KeepAspectRatio)
    return size * max(1, round(_IMAGE / longest))


def _words(example: ExamplePreview) -> str:
    size = f", {example.width} x {example.height} pixels" if example.width else ""
    return f"Label: {example.label}{size}" + (f"\n{example.text}" if example.text else "")


def _monospace(point_size: float) -> QFont:
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setPointSizeF(point_size)
    return font
