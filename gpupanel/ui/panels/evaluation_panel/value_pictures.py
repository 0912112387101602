"""How far predicted values are from the true ones: a point for each, and a histogram of errors."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QLabel, QWidget
from typing_extensions import override

from gpupanel.domain.number_text import count, short_number
from gpupanel.ui import theme
from gpupanel.ui.panels.evaluation_panel.picture import Picture, Range, card
from gpupanel.ui.panels.evaluation_panel.views import FiguresView
from gpupanel.ui.widgets.beside_or_below import BesideOrBelow
from gpupanel.ui.widgets.layouts import column_in

if TYPE_CHECKING:
    # NumPy, which it needs, takes longer to load than a window may.
    from gpupanel.runs.following.evaluation_figures import EvaluationFigures
    from gpupanel.runs.following.value_pairs import ValueFigures

_DOT, _DOT_OF_FEW = 3.0, 5.0
"""Pixels across."""
_FAINTEST, _FULL = 60, 220
"""How opaque a point is, of many and of few: where they lie close together, it gets darker."""
_FEW = 300


class PredictedOverTrue(Picture):
    """A point for each value; those on the diagonal are right."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(("true value", "predicted value"), parent)
        self._figures: ValueFigures | None = None
        self.setObjectName("predicted_over_true")
        self.setAccessibleName("Predicted over true values")

    def setFigures(self, figures: "ValueFigures") -> None:
        """Draw these values."""
        self._figures = figures
        self.setAccessibleDescription(f"{figures.words} Points on the diagonal are right.")
        self.update()

    @override
    def ranges(self) -> tuple[Range, Range] | None:
        figures = self._figures
        return None if figures is None else (figures.bounds, figures.bounds)

    @override
    def paint(self, painter: QPainter, area: QRectF) -> None:
        figures = self._figures
        if figures is None:
            return
        low, high = figures.bounds
        across, down = area.width() / (high - low), area.height() / (high - low)
        places = zip(
            (area.left() + (figures.true - low) * across).tolist(),
            (area.bottom() - (figures.predicted - low) * down).tolist(),
            strict=True,
        )
        color = QColor(theme.current().color("accent"))
        are_few = figures.true.size <= _FEW
        color.setAlpha(_FULL if are_few else _FAINTEST)
        pen = QPen(color, _DOT_OF_FEW if are_few else _DOT)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        painter.drawPoints([QPointF(x, y) for x, y in places])
        painter.setPen(QPen(theme.current().color("text"), 1.0, Qt.PenStyle.DashLine))
        painter.drawLine(QLineF(area.bottomLeft(), area.topRight()))


class ErrorHistogram(Picture):
    """How many values are off by how much; those in the middle are right."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(("predicted minus true", "values"), parent)
        self._figures: ValueFigures | None = None
        self.setObjectName("error_histogram")
        self.setAccessibleName("Histogram of errors")

    def setFigures(self, figures: "ValueFigures") -> None:
        """Draw their errors."""
        self._figures = figures
        counts, end = figures.errors
        most, ends = count(max(counts)), short_number(end, 4)
        self.setAccessibleDescription(
            f"Errors from -{ends} to {ends}; at most {most} values in a bar."
        )
        self.update()

    @override
    def ranges(self) -> tuple[Range, Range] | None:
        if self._figures is None:
            return None
        counts, end = self._figures.errors
        return (-end, end), (0.0, 1.05 * max(counts))

    @override
    def paint(self, painter: QPainter, area: QRectF) -> None:
        ranges = self.ranges()
        if self._figures is None or ranges is None:
            return
        counts, _ = self._figures.errors
        top, width = ranges[1][1], area.width() / len(counts)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.current().color("accent"))
        for place, each in enumerate(counts):
            height = area.height() * each / top
            left = area.left() + place * width
            bar = QRectF(left + 0.5, area.bottom() - height, max(1.0, width - 1.0), height)
            painter.drawRect(bar)
        middle = area.center().x()
        painter.setPen(QPen(theme.current().color("muted"), 1.0, Qt.PenStyle.DashLine))
        painter.drawLine(QLineF(middle, area.top(), middle, area.bottom()))


class ValuePictures(FiguresView):
    """Both pictures side by side, and of which examples they are."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("value_pictures")
        self._pictures = (PredictedOverTrue(), ErrorHistogram())
        self._which = QLabel()
        self._which.setTextFormat(Qt.TextFormat.PlainText)
        self._which.setWordWrap(True)
        self._which.setProperty("tone", "muted")
        column = column_in(self)
        points, errors = self._pictures
        pair = BesideOrBelow(card("Predicted over true", points), card("Errors", errors), share=1)
        column.addWidget(pair, 1)
        column.addWidget(self._which)

    @override
    def setFigures(self, figures: "EvaluationFigures") -> None:
        """Draw its values."""
        values = figures.values
        if values is None:
            return
        for picture in self._pictures:
            picture.setFigures(values)
        self._which.setText(
            f"{values.words} The farthest 0.5 % of the errors count in the outermost bars."
        )
