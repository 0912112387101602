"""Whether a model is as often right as it is confident: accuracy over confidence, and how many."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.number_text import count
from gpupanel.ui import formatting, theme
from gpupanel.ui.panels.evaluation_panel.picture import Picture, Range, card, place_of
from gpupanel.ui.panels.evaluation_panel.views import FiguresView
from gpupanel.ui.widgets.beside_or_below import BesideOrBelow
from gpupanel.ui.widgets.labels import EmptyState, ProseLabel
from gpupanel.ui.widgets.layouts import column_in
from gpupanel.ui.widgets.tips import wrapped

if TYPE_CHECKING:
    # NumPy, which it needs, takes longer to load than a window may.
    from gpupanel.runs.following.calibration import Calibration
    from gpupanel.runs.following.evaluation_figures import EvaluationFigures

_WHOLE: Range = (0.0, 1.0)
_RADIUS = 3.5
_BETWEEN = 4.0
_CURVE_TIP = (
    "Each point is a tenth of confidence: its examples' mean confidence and the fraction of them "
    "that is right. On the dashed line both are alike; below it the model is overconfident."
)
_NOT_KEPT = (
    "It is worked out from what became of each example, which earlier versions did not keep, and "
    "of at most 5,000,000 examples. Evaluate again to see it."
)
_BARS_TIP = "How many examples have that confidence, the probability of the predicted class."


class CalibrationCurve(Picture):
    """A point for each tenth of confidence, and the diagonal on which calibrated models lie."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(("confidence", "accuracy"), parent)
        self._shown: Calibration | None = None
        self.setObjectName("calibration_curve")
        self.setAccessibleName("Accuracy over confidence")
        self.setToolTip(wrapped(_CURVE_TIP))

    def setCalibration(self, found: "Calibration") -> None:
        """Draw this one."""
        self._shown = found
        points = (
            f"{formatting.fraction(each.confidence)} confident, "
            f"{formatting.fraction(each.accuracy)} right"
            for each in found.bins
        )
        self.setAccessibleDescription(f"{found.words} {'; '.join(points)}.")
        self.update()

    @override
    def ranges(self) -> tuple[Range, Range] | None:
        return None if self._shown is None else (_WHOLE, _WHOLE)

    @override
    def paint(self, painter: QPainter, area: QRectF) -> None:
        if self._shown is None:
            return
        shown = theme.current()
        painter.setPen(QPen(shown.color("muted"), 1.0, Qt.PenStyle.DashLine))
        painter.drawLine(QLineF(area.bottomLeft(), area.topRight()))
        points = [
            QPointF(
                place_of(each.confidence, _WHOLE, area.left(), area.right()),
                place_of(each.accuracy, _WHOLE, area.bottom(), area.top()),
            )
            for each in self._shown.bins
        ]
        painter.setPen(QPen(shown.color("accent"), 2.0))
        painter.drawPolyline(QPolygonF(points))
        painter.setBrush(shown.color("accent"))
        for point in points:
            painter.drawEllipse(point, _RADIUS, _RADIUS)


class ConfidenceBars(Picture):
    """How many examples there are in each tenth of confidence."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(("confidence", "examples"), parent)
        self._shown: Calibration | None = None
        self.setObjectName("confidence_bars")
        self.setAccessibleName("Examples by confidence")
        self.setToolTip(wrapped(_BARS_TIP))

    def setCalibration(self, found: "Calibration") -> None:
        """Draw this one."""
        self._shown = found
        bars = (f"from {each.low:.1f}: {count(each.examples)}" for each in found.bins)
        self.setAccessibleDescription(f"Examples by confidence, {', '.join(bars)}.")
        self.update()

    @override
    def ranges(self) -> tuple[Range, Range] | None:
        if self._shown is None:
            return None
        return _WHOLE, (0.0, 1.1 * max(each.examples for each in self._shown.bins))

    @override
    def paint(self, painter: QPainter, area: QRectF) -> None:
        ranges = self.ranges()
        if self._shown is None or ranges is None:
            return
        shown, line = theme.current(), painter.fontMetrics().height()
        width = 0.1 * area.width()
        for each in self._shown.bins:
            left = place_of(each.low, _WHOLE, area.left(), area.right())
            top = place_of(each.examples, ranges[1], area.bottom(), area.top())
            painter.fillRect(
                QRectF(left + 1.0, top, width - 2.0, area.bottom() - top), shown.color("accent")
            )
            words = count(each.examples)
            if painter.fontMetrics().horizontalAdvance(words) > width + _BETWEEN:
                continue  # it would run into the next one; the axis says how many
            above = QRectF(left - width, top - line, 3.0 * width, line)
            painter.setPen(shown.color("text"))
            painter.drawText(above, Qt.AlignmentFlag.AlignHCenter, words)


class CalibrationView(FiguresView):
    """Both pictures side by side, and in a sentence how far the model is off."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("calibration_view")
        self._pictures = (CalibrationCurve(), ConfidenceBars())
        self._words = ProseLabel()
        self._words.setObjectName("calibration_words")
        self._empty = EmptyState("", "")
        curve, bars = self._pictures
        self._pair = BesideOrBelow(
            card("Accuracy over confidence", curve), card("Examples by confidence", bars), share=1
        )
        column = column_in(self)
        column.addWidget(self._words)
        for part in (self._pair, self._empty):
            column.addWidget(part, 1)

    @override
    def setFigures(self, figures: "EvaluationFigures") -> None:
        """Draw this one, or say why there is none."""
        found = figures.calibration
        self._empty.setVisible(found is None)
        self._pair.setVisible(found is not None)
        self._words.setVisible(found is not None)
        if found is None:
            self._empty.setTexts("No calibration", figures.unread_words or _NOT_KEPT)
            return
        for picture in self._pictures:
            picture.setCalibration(found)
        self._words.setProse(found.words)
