"""A confusion matrix as a grid of coloured cells with their counts."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QImage, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.domain.visible_text import visible_line
from gpupanel.ui import formatting, theme
from gpupanel.ui.panels.evaluation_panel.matrix_colors import cell_color, matrix_image
from gpupanel.ui.widgets.painted_widget import PaintedWidget
from gpupanel.ui.widgets.share_segment import ink_on
from gpupanel.ui.widgets.tips import wrapped

if TYPE_CHECKING:
    # NumPy, which it needs, takes longer to load than a window may.
    from gpupanel.runs.following.confusion_matrix import ConfusionMatrix

_MOST_PAINTED = 128
"""Cells of more classes are not painted one by one, but as an image."""
_MOST_NAMES_MEASURED = 50
_MOST_SUMMED_UP = 100
_LEAST_CELL = 4
_LARGEST_CELL = 96
"""Unless a class name is wider."""
_WITH_COUNT = 22
"""Cells smaller than this, in pixels, have no room for a number."""
_WITH_GAP = 12
_LONGEST_NAME = 120
_GAP = 6
_LESSON = (
    "Rows are true classes, columns predicted classes. Correct predictions lie on the diagonal."
)


class ConfusionMap(PaintedWidget):
    """Rows are the true classes, columns those that their examples were taken for.

    Cells are as large as the place allows. Where they are too small for counts, colour and
    tooltip show them, and only as many class names are written as have room. Of more than a
    thousand classes a cell stands for several that follow each other.

    Args:
        opens: Whether a click on a cell shows its examples.
    """

    cellChosen = Signal(int, int)
    """A cell that is not empty was clicked: the numbers of its true and of its predicted class."""

    def __init__(self, parent: QWidget | None = None, *, opens: bool = True) -> None:
        super().__init__(parent)
        self._opens = opens
        self._matrix: ConfusionMatrix | None = None
        self._names: tuple[str, ...] = ()
        self._widest: tuple[str, ...] = ()
        self._block = 1
        self._size_blocks = 0
        self._row_totals: tuple[int, ...] = ()
        self._cells: tuple[tuple[int, int, int], ...] = ()
        self._painted: tuple[theme.Theme, QImage] | None = None
        self._chosen: int | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Confusion matrix")
        self.setMouseTracking(True)

    def setMatrix(self, matrix: "ConfusionMatrix") -> None:
        """Shows another matrix."""
        self._matrix = matrix
        self._names = tuple(visible_line(name) for name in matrix.class_names)
        # Nearly always among the longest: to measure thousands takes too long.
        self._widest = tuple(sorted(self._names, key=len)[-_MOST_NAMES_MEASURED:])
        self._block = matrix.drawn_block
        self._size_blocks = -(-matrix.size // self._block)
        self._row_totals = tuple(matrix.totals.tolist())
        self._cells = ()
        if matrix.size <= _MOST_PAINTED:
            self._cells = tuple(zip(*(each.tolist() for each in matrix.cells), strict=True))
        self._painted = None
        self._chosen = None
        self.setAccessibleDescription(visible_line(_summary(matrix)))
        self.updateGeometry()
        self.update()

    def choose(self, row: int | None) -> None:
        """Frames the row and column of a class; ``None``: of none."""
        self._chosen = row
        self.update()

    def name_of(self, number: int) -> str:
        """The name of a class."""
        return self._names[number]

    @override
    def minimumSizeHint(self) -> QSize:
        return self._size(self._least_cell())

    @override
    def sizeHint(self) -> QSize:
        few = self._size_blocks <= 20
        return self._size(self._largest_cell() if few else self._least_cell())

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        is_cell = self._filled_cell_at(event.position()) is not None
        self.setCursor(Qt.CursorShape.PointingHandCursor if is_cell else Qt.CursorShape.ArrowCursor)

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        found = self._filled_cell_at(event.position())
        if found is not None and event.button() is Qt.MouseButton.LeftButton:
            self.cellChosen.emit(*found)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setFont(theme.small_font(self.font()))
        self._paint_axes(painter)
        self._paint_names(painter)
        self._paint_cells(painter, QRectF(event.rect()))
        self._paint_chosen(painter)

    def cell_at(self, position: QPointF) -> tuple[int, int] | None:
        """Row and column of the cell at a position of this widget, counted in cells."""
        grid, cell = self._grid(), self._cell()
        if not self._size_blocks or not grid.contains(position):
            return None
        last = self._size_blocks - 1
        row = min(last, int((position.y() - grid.top()) / cell))
        return row, min(last, int((position.x() - grid.left()) / cell))

    def _filled_cell_at(self, position: QPointF) -> tuple[int, int] | None:
        """The cell there, where it is one of a single class and holds examples."""
        found = self.cell_at(position)
        if found is None or self._matrix is None or self._block > 1 or not self._opens:
            return None
        return found if self._matrix.count_at(*found) else None

    def _size(self, cell: int) -> QSize:
        side = cell * self._size_blocks
        return QSize(round(self._left()) + side + 1, round(self._top()) + side + 1)

    def _cell(self) -> float:
        """The side of a cell: whole pixels, so that no seams show."""
        return self._cell_below(self._top())

    def _cell_below(self, top: float) -> float:
        count = max(1, self._size_blocks)
        room = min(self.width() - self._left() - 1, self.height() - top - 1)
        return float(min(self._largest_cell(), max(self._least_cell(), int(room / count))))

    def _least_cell(self) -> int:
        """In an image of hundreds of classes a point is enough: all of it is seen at once."""
        return _LEAST_CELL if self._size_blocks <= _MOST_PAINTED else 1

    def _largest_cell(self) -> int:
        return max(_LARGEST_CELL, round(self._names_width()) + 2 * _GAP)

    def _grid(self) -> QRectF:
        side = self._cell() * self._size_blocks
        return QRectF(self._left(), self._top(), side, side)

    def _left(self) -> float:
        """Room for the axis's word, turned, and for the names of the rows."""
        return self._line() + self._names_width() + 2 * _GAP

    def _top(self) -> float:
        """Room for the axis's word and for the names of the columns."""
        names = self._names_width() if self._names_are_turned() else self._line()
        return self._line() + names + 2 * _GAP

    def _names_are_turned(self) -> bool:
        """Whether names are wider than columns, so that they are written upwards."""
        return self._names_width() + 4.0 > self._cell_below(2 * self._line() + 2 * _GAP)

    def _names_width(self) -> float:
        metrics = self.fontMetrics()
        widest = max((metrics.horizontalAdvance(name) for name in self._widest), default=0)
        return float(min(widest, _LONGEST_NAME))

    def _paint_axes(self, painter: QPainter) -> None:
        grid = self._grid()
        painter.setPen(theme.current().color("muted"))
        above = QRectF(grid.left(), 0.0, max(grid.width(), 90.0), self._line())
        painter.drawText(above, Qt.AlignmentFlag.AlignLeft, "predicted class")
        painter.save()
        painter.translate(0.0, grid.top() + max(grid.height(), 60.0))
        painter.rotate(-90.0)
        beside = QRectF(0.0, 0.0, max(grid.height(), 60.0), self._line())
        painter.drawText(beside, Qt.AlignmentFlag.AlignRight, "true class")
        painter.restore()

    def _paint_names(self, painter: QPainter) -> None:
        grid, cell, line = self._grid(), self._cell(), self._line()
        painter.setPen(theme.current().color("text"))
        step, width = max(1, -int(-line // cell)), self._names_width()
        left = grid.left() - width - _GAP
        for row in range(0, self._size_blocks, step):
            middle = grid.top() + (row + 0.5) * cell
            self._paint_name(painter, row, QRectF(left, middle - line / 2.0, width, line))
        if self._names_are_turned():
            painter.save()
            painter.rotate(-90.0)
            for column in range(0, self._size_blocks, step):
                middle = grid.left() + (column + 0.5) * cell
                place = QRectF(_GAP - grid.top(), middle - line / 2.0, width, line)
                self._paint_name(painter, column, place, Qt.AlignmentFlag.AlignLeft)
            painter.restore()
            return
        for column in range(self._size_blocks):
            place = QRectF(grid.left() + column * cell, grid.top() - line - 3.0, cell, line)
            self._paint_name(painter, column, place, Qt.AlignmentFlag.AlignHCenter)

    def _paint_name(
        self,
        painter: QPainter,
        number: int,
        place: QRectF,
        side: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignRight,
    ) -> None:
        words = painter.fontMetrics().elidedText(
            self._names[number * self._block], Qt.TextElideMode.ElideRight, int(place.width()) + 1
        )
        painter.drawText(place, side | Qt.AlignmentFlag.AlignVCenter, words)

    def _paint_cells(self, painter: QPainter, shown: QRectF) -> None:
        grid, cell = self._grid(), self._cell()
        shows_counts = cell >= _WITH_COUNT
        gap = 1.0 if cell >= _WITH_GAP else 0.0
        digits = int((cell - _GAP) // max(1, painter.fontMetrics().horizontalAdvance("0")))
        painter.fillRect(grid, theme.current().color("raised"))
        if self._size_blocks > _MOST_PAINTED:
            painter.drawImage(grid, self._image())
        for row, column, count in self._cells:
            place = QRectF(grid.left() + column * cell, grid.top() + row * cell, cell, cell)
            if not place.intersects(shown):
                continue
            place.adjust(0.0, 0.0, -gap, -gap)
            color = cell_color(count, self._row_totals[row], is_right=row == column)
            painter.fillRect(place, color)
            if shows_counts:
                painter.setPen(ink_on(color))
                whole = formatting.count(count)
                words = whole if len(whole) <= digits else _short(count)
                painter.drawText(place, Qt.AlignmentFlag.AlignCenter, words)
        painter.setPen(QPen(theme.current().color("border"), 1.0))
        painter.drawRect(grid.adjusted(-0.5, -0.5, 0.5, 0.5))

    def _image(self) -> QImage:
        """The cells as points, in the same colours; made once for each theme."""
        shown = theme.current()
        if self._painted is None or self._painted[0] is not shown:
            assert self._matrix is not None
            self._painted = shown, matrix_image(self._matrix, shown)
        return self._painted[1]

    def _paint_chosen(self, painter: QPainter) -> None:
        if self._chosen is None:
            return
        grid, cell = self._grid(), self._cell()
        painter.setPen(QPen(theme.current().color("text"), 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        offset = self._chosen // self._block * cell
        painter.drawRect(QRectF(grid.left(), grid.top() + offset, grid.width(), cell))
        painter.drawRect(QRectF(grid.left() + offset, grid.top(), cell, grid.height()))

    @override
    def tip_at(self, position: QPointF) -> str:
        return wrapped(self.words_at(position))

    def words_at(self, position: QPointF) -> str:
        """What is known of the cell there; else what the matrix shows."""
        found = self.cell_at(position)
        if found is None or self._matrix is None:
            return _LESSON
        row, column = found
        if self._block > 1:
            return self._block_text(row, column)
        count, total = self._matrix.count_at(row, column), self._row_totals[row]
        true, taken = self._names[row], self._names[column]
        part = formatting.fraction(count / total) if total else formatting.DASH
        number = f"{formatting.count(count)} of {formatting.count(total)} examples of {true}"
        verb = "was" if count == 1 else "were"
        click = " Click to see them." if count and self._opens else ""
        return f"{number} {verb} predicted as {taken} ({part}).{click}"

    def _block_text(self, row: int, column: int) -> str:
        assert self._matrix is not None
        count = int(self._matrix.drawn[row, column])
        total = sum(self._row_totals[row * self._block : (row + 1) * self._block])
        return (
            f"{formatting.count(count)} of {formatting.count(total)} examples of the classes "
            f"{self._span(row)} were predicted as one of {self._span(column)}."
        )

    def _span(self, block: int) -> str:
        names = self._names[block * self._block : (block + 1) * self._block]
        return f"{names[0]} to {names[-1]}"

    def _line(self) -> float:
        return float(self.fontMetrics().height())


def _summary(matrix: "ConfusionMatrix") -> str:
    metrics = matrix.classes
    named = "; ".join(
        f"{each.name}: {each.right:,} of {each.examples:,} correct"
        for each in metrics[:_MOST_SUMMED_UP]
    )
    more = len(metrics) - _MOST_SUMMED_UP
    return f"{named}; and {more:,} more classes" if more > 0 else named


def _short(count: int) -> str:
    """A count that fits into a cell: 12,345 is "12k"."""
    if count < 10_000:
        return str(count)
    return f"{count / 1000:.0f}k" if count < 10_000_000 else f"{count / 1e6:.0f}M"
