"""How far predicted values are from the true ones: a point for each, and a histogram of errors."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QLineF, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget
from typing_extensions import override

from gpupanel.domain.number_text import count, short_number
from gpupanel.domain.round_numbers import round_numbers
from gpupanel.ui import theme
from gpupanel.ui.theme import GRID

if TYPE_CHECKING:
    # NumPy, which it needs, takes longer to load than a window may.
    from gpupanel.runs.following.value_pairs import ValueFigures

_TICKS = 4
_DOT = 3.0
_FAINTEST, _FULL = 60, 220
"""How opaque a point is, of many and of few: where they lie close together, it gets darker."""
_FEW = 300


class _Picture(QWidget):
    """A picture over two axes, each with a few round numbers.

    Args:
        titles: Of the axes, from left to right and from below.
    """

    def __init__(self, titles: tuple[str, str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._titles = titles
        self._figures: ValueFigures | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def setFigures(self, figures: "ValueFigures") -> None:
        """Draw these values."""
        self._figures = figures
        self.setAccessibleDescription(self._words(figures))
        self.update()

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(240, 180)

    @override
    def sizeHint(self) -> QSize:
        return QSize(400, 320)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if self._figures is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.small_font(self.font()))
        x, y = self._ranges(self._figures)
        y_texts = [(each, short_number(each, 3)) for each in round_numbers(*y, _TICKS)]
        metrics = painter.fontMetrics()
        wide = max((metrics.horizontalAdvance(text) for _, text in y_texts), default=0)
        line = metrics.height()
        area = QRectF(self.rect()).adjusted(wide + GRID, line + GRID, -2 * GRID, -2 * line - GRID)
        painter.setPen(theme.current().color("muted"))
        above, below = Qt.AlignmentFlag.AlignTop, Qt.AlignmentFlag.AlignBottom
        whole = QRectF(self.rect())
        painter.drawText(whole, above | Qt.AlignmentFlag.AlignLeft, self._titles[1])
        right = whole.adjusted(0, 0, -2 * GRID, 0)
        painter.drawText(right, below | Qt.AlignmentFlag.AlignRight, self._titles[0])
        for value, text in y_texts:
            at = _place(value, y, area.bottom(), area.top())
            self._paint_line(painter, QLineF(area.left(), at, area.right(), at))
            box = QRectF(0, at - line / 2, wide, line)
            painter.drawText(box, Qt.AlignmentFlag.AlignRight, text)
        ticks = max(2, min(_TICKS, int(area.width() / (2.0 * max(wide, 40)))))
        for value in round_numbers(*x, ticks):
            at = _place(value, x, area.left(), area.right())
            box = QRectF(at - 100, area.bottom() + GRID / 2, 200, line)
            painter.drawText(box, Qt.AlignmentFlag.AlignHCenter, short_number(value, 3))
        self._paint(painter, area, self._figures)

    def _paint_line(self, painter: QPainter, line: QLineF) -> None:
        painter.save()
        painter.setPen(theme.current().color("border"))
        painter.drawLine(line)
        painter.restore()

    def _ranges(self, figures: "ValueFigures") -> tuple[tuple[float, float], tuple[float, float]]:
        raise NotImplementedError

    def _words(self, figures: "ValueFigures") -> str:
        raise NotImplementedError

    def _paint(self, painter: QPainter, area: QRectF, figures: "ValueFigures") -> None:
        raise NotImplementedError


class PredictedOverTrue(_Picture):
    """A point for each value; those on the diagonal are right."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(("true value", "predicted value"), parent)
        self.setObjectName("predicted_over_true")
        self.setAccessibleName("Predicted over true values")

    @override
    def _ranges(self, figures: "ValueFigures") -> tuple[tuple[float, float], tuple[float, float]]:
        return figures.bounds, figures.bounds

    @override
    def _words(self, figures: "ValueFigures") -> str:
        return f"{figures.words} Points on the diagonal are right."

    @override
    def _paint(self, painter: QPainter, area: QRectF, figures: "ValueFigures") -> None:
        low, high = figures.bounds
        across, down = area.width() / (high - low), area.height() / (high - low)
        places = zip(
            (area.left() + (figures.true - low) * across).tolist(),
            (area.bottom() - (figures.predicted - low) * down).tolist(),
            strict=True,
        )
        color = QColor(theme.current().color("accent"))
        color.setAlpha(_FULL if figures.true.size <= _FEW else _FAINTEST)
        pen = QPen(color, _DOT)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        painter.drawPoints([QPointF(x, y) for x, y in places])
        painter.setPen(QPen(theme.current().color("text"), 1.0, Qt.PenStyle.DashLine))
        painter.drawLine(QLineF(area.bottomLeft(), area.topRight()))


class ErrorHistogram(_Picture):
    """How many values are off by how much; those in the middle are right."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(("predicted minus true", "values"), parent)
        self.setObjectName("error_histogram")
        self.setAccessibleName("Histogram of errors")

    @override
    def _ranges(self, figures: "ValueFigures") -> tuple[tuple[float, float], tuple[float, float]]:
        counts, end = figures.errors
        return (-end, end), (0.0, 1.05 * max(counts))

    @override
    def _words(self, figures: "ValueFigures") -> str:
        counts, end = figures.errors
        most = count(max(counts))
        ends = short_number(end, 4)
        return f"Errors from -{ends} to {ends}; at most {most} values in a bar."

    @override
    def _paint(self, painter: QPainter, area: QRectF, figures: "ValueFigures") -> None:
        counts, _ = figures.errors
        (_, top), width = self._ranges(figures)[1], area.width() / len(counts)
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


class ValuePictures(QWidget):
    """Both pictures side by side, and of which examples they are."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("value_pictures")
        self._pictures = (PredictedOverTrue(), ErrorHistogram())
        self._which = QLabel()
        self._which.setTextFormat(Qt.TextFormat.PlainText)
        self._which.setWordWrap(True)
        self._which.setProperty("tone", "muted")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        row = QHBoxLayout()
        row.setSpacing(GRID)
        titles = ("Predicted over true", "Errors")
        for title, picture in zip(titles, self._pictures, strict=True):
            row.addWidget(_card(title, picture), 1)
        column.addLayout(row, 1)
        column.addWidget(self._which)

    def setFigures(self, figures: "ValueFigures") -> None:
        """Draw these values."""
        for picture in self._pictures:
            picture.setFigures(figures)
        self._which.setText(
            f"{figures.words} The farthest 0.5 % of the errors count in the outermost bars."
        )


def _card(title: str, picture: QWidget) -> QFrame:
    card = QFrame()
    card.setProperty("card", "true")
    caption = QLabel(title)
    caption.setProperty("role", "section")
    inside = QVBoxLayout(card)
    inside.setContentsMargins(2 * GRID, GRID, GRID, GRID)
    inside.addWidget(caption)
    inside.addWidget(picture, 1)
    return card


def _place(value: float, of: tuple[float, float], start: float, end: float) -> float:
    return start + (value - of[0]) / (of[1] - of[0]) * (end - start)
