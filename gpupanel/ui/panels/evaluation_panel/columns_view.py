"""How good a model is for each value of a column that is chosen."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Slot
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QLabel, QScrollArea, QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.domain.visible_text import visible_line
from gpupanel.ui import formatting, theme
from gpupanel.ui.inputs.quiet_inputs import ComboBox
from gpupanel.ui.panels.evaluation_panel.picture import card
from gpupanel.ui.panels.evaluation_panel.views import FiguresView
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import Note
from gpupanel.ui.widgets.layouts import column_in, row_in
from gpupanel.ui.widgets.painted_widget import PaintedWidget
from gpupanel.ui.widgets.tips import teach, wrapped

if TYPE_CHECKING:
    # NumPy, which it needs, takes longer to load than a window may.
    from gpupanel.runs.following.column_slices import ColumnSlices, Slice, SlicedColumn
    from gpupanel.runs.following.evaluation_figures import EvaluationFigures

_ROW = 28
_BAR = 14
_WIDEST_NAME = 260
_NUMBER = 80
_COLUMN_TIP = (
    "Any column of the table, also one that nothing is learned from. Numbers are divided into "
    "ranges with about as many examples each."
)


class SliceBars(PaintedWidget):
    """A bar for each value, and a line at what all examples come to."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("slice_bars")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._rows: tuple[Slice, ...] = ()
        self._whole, self._is_accuracy = 0.0, True

    def setColumn(self, column: "SlicedColumn", whole: float, *, is_accuracy: bool) -> None:
        """Show its values.

        Args:
            column: Which.
            whole: The measure of all examples.
            is_accuracy: Which is a fraction; else the mean absolute error.
        """
        self._rows, self._whole, self._is_accuracy = column.slices, whole, is_accuracy
        self.setAccessibleName(f"{self._title()} by {visible_line(column.name)}")
        self.setAccessibleDescription("; ".join(map(self._words, self._rows)))
        self.updateGeometry()
        self.update()

    @override
    def sizeHint(self) -> QSize:
        return QSize(480, self._head() + _ROW * len(self._rows))

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(320, self._head() + _ROW * len(self._rows))

    @override
    def tip_at(self, position: QPointF) -> str:
        place = int((position.y() - self._head()) // _ROW)
        return wrapped(self._words(self._rows[place])) if 0 <= place < len(self._rows) else ""

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._rows:
            return
        painter, shown = QPainter(self), theme.current()
        painter.setFont(theme.small_font(self.font()))
        metrics, head = painter.fontMetrics(), self._head()
        names = [visible_line(each.value) for each in self._rows]
        wide = min(_WIDEST_NAME, max(map(metrics.horizontalAdvance, names)) + 2)
        left, right = wide + 2 * GRID, self.width() - 2 * _NUMBER - 2 * GRID
        scale = max(1, right - left) / self._end()
        painter.setPen(shown.color("muted"))
        place = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for number, title in enumerate((self._title(), "Examples")):
            box = QRectF(right + number * (_NUMBER + GRID), 0, _NUMBER, head)
            painter.drawText(box, place, title)
        for row, (each, name) in enumerate(zip(self._rows, names, strict=True)):
            top = head + row * _ROW
            painter.setPen(shown.color("text"))
            words = metrics.elidedText(name, Qt.TextElideMode.ElideRight, wide)
            painter.drawText(QRectF(0, top, wide, _ROW), place, words)
            bar = QRectF(left, top + (_ROW - _BAR) / 2.0, max(1, right - left), _BAR)
            painter.fillRect(bar, shown.color("track"))
            bar.setWidth(each.measure * scale)
            painter.fillRect(bar, shown.color("accent"))
            for number, text in enumerate(
                (self._measure(each.measure), formatting.count(each.examples))
            ):
                box = QRectF(right + number * (_NUMBER + GRID), top, _NUMBER, _ROW)
                painter.drawText(box, place, text)
        at = left + self._whole * scale
        painter.setPen(QPen(shown.color("text"), 1.0, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(at, head), QPointF(at, head + _ROW * len(self._rows)))

    def _head(self) -> int:
        return self.fontMetrics().height() + GRID

    def _end(self) -> float:
        """What a whole bar stands for."""
        if self._is_accuracy:
            return 1.0
        return max(self._whole, *(each.measure for each in self._rows)) or 1.0

    def _title(self) -> str:
        return "Accuracy" if self._is_accuracy else "Off by"

    def _measure(self, value: float) -> str:
        return formatting.fraction(value) if self._is_accuracy else formatting.number(value)

    def _words(self, each: "Slice") -> str:
        kind = "accuracy" if self._is_accuracy else "off by, on average,"
        return (
            f"{visible_line(each.value)}: {kind} {self._measure(each.measure)}, of "
            f"{formatting.count(each.examples)} examples"
        )


class ColumnResultsView(FiguresView):
    """A column, its values as bars, and what the whole comes to."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("columns_view")
        self._shown: ColumnSlices | None = None
        self._column = ComboBox()
        self._column.setObjectName("sliced_column")
        self._column.setMinimumContentsLength(24)
        teach(self._column, "Column", _COLUMN_TIP)
        self._whole = Note()
        self._whole.setObjectName("sliced_whole")
        self._bars = SliceBars()
        head, scroll, place = QWidget(), QScrollArea(), QWidget()
        caption = QLabel("Column")
        caption.setBuddy(self._column)
        row = row_in(head)
        row.addWidget(caption)
        row.addWidget(self._column)
        row.addWidget(self._whole, 1)
        place.setProperty("page", "true")
        inside = column_in(place)
        inside.addWidget(self._bars)
        inside.addStretch(1)
        scroll.setAccessibleName("Values of the column")
        scroll.setWidgetResizable(True)
        scroll.setWidget(place)
        column_in(self).addWidget(card("By the values of a column", head, scroll))
        self._column.currentIndexChanged.connect(self._show_column)

    @override
    def setFigures(self, figures: "EvaluationFigures") -> None:
        """Show its columns; the one that was chosen stays where there is one of that name."""
        found = self._shown = figures.slices
        if found is None:
            return
        before = self._column.currentText()
        self._column.blockSignals(True)
        self._column.clear()
        self._column.addItems([visible_line(each.name) for each in found.columns])
        self._column.setCurrentIndex(max(0, self._column.findText(before)))
        self._column.blockSignals(False)
        value = (
            f"accuracy {formatting.fraction(found.whole)}"
            if found.is_accuracy
            else f"off by {formatting.number(found.whole)}"
        )
        words = f"The dashed line is all examples: {value}."
        if found.column_count > len(found.columns):
            words += (
                f" {formatting.count(found.column_count - len(found.columns))} further columns do "
                "not divide the examples, or are too many to be counted."
            )
        self._whole.setText(words)
        self._show_column()

    @Slot()
    def _show_column(self) -> None:
        number = self._column.currentIndex()
        if self._shown is not None and number >= 0:
            self._bars.setColumn(
                self._shown.columns[number],
                self._shown.whole,
                is_accuracy=self._shown.is_accuracy,
            )
