"""The names that an example may have, with a bar each."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.domain.asked_prediction import PredictionAnswer
from gpupanel.ui import theme
from gpupanel.ui.run_page.predict.example_answer import number_text
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.painted_widget import PaintedWidget
from gpupanel.ui.widgets.tips import wrapped

_ROW = 18.0
_BAR = 6.0
_NAME_SHARE = 0.36
_NUMBER_WIDTH = 9.0 * GRID


class ProbabilityBars(PaintedWidget):
    """A row for each name: it, a bar as long as it is probable, and the number."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._answer = PredictionAnswer()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Probabilities")

    def setAnswer(self, answer: PredictionAnswer) -> None:
        """Show these."""
        self._answer = answer
        self.setAccessibleDescription(", ".join(self._sentences()))
        # One value stands above in large letters.
        least = 2 if answer.meaning == "values" else 1
        self.setVisible(len(answer.predicted) >= least)
        self.updateGeometry()
        self.update()

    @override
    def sizeHint(self) -> QSize:
        return QSize(30 * GRID, round(_ROW * max(1, len(self._answer.predicted))))

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(18 * GRID, self.sizeHint().height())

    @override
    def tip_at(self, position: QPointF) -> str:
        place = int(position.y() // _ROW)
        sentences = self._sentences()
        return wrapped(sentences[place]) if 0 <= place < len(sentences) else ""

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colors, metrics = theme.current(), QFontMetricsF(self.font())
        name_width = _NAME_SHARE * self.width()
        bar_left = name_width + GRID
        bar_width = max(0.0, self.width() - bar_left - _NUMBER_WIDTH - GRID)
        is_bar = self._answer.meaning != "values"
        middle = Qt.AlignmentFlag.AlignVCenter
        for place, one in enumerate(self._answer.predicted):
            top = place * _ROW
            painter.setPen(colors.color("text" if place == 0 else "muted"))
            name = metrics.elidedText(one.name, Qt.TextElideMode.ElideMiddle, name_width)
            painter.drawText(
                QRectF(0.0, top, name_width, _ROW), middle | Qt.AlignmentFlag.AlignLeft, name
            )
            painter.drawText(
                QRectF(self.width() - _NUMBER_WIDTH, top, _NUMBER_WIDTH, _ROW),
                middle | Qt.AlignmentFlag.AlignRight,
                number_text(self._answer, one),
            )
            if is_bar:
                whole = QRectF(bar_left, top + (_ROW - _BAR) / 2, bar_width, _BAR)
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(colors.color("track"))
                painter.drawRoundedRect(whole, _BAR / 2, _BAR / 2)
                part = min(1.0, max(0.0, one.number)) * bar_width
                if part > 1.0:
                    whole.setWidth(max(_BAR, part))
                    painter.setBrush(colors.color("accent" if place == 0 else "others"))
                    painter.drawRoundedRect(whole, _BAR / 2, _BAR / 2)

    def _sentences(self) -> list[str]:
        answer = self._answer
        return [f"{each.name}: {number_text(answer, each)}" for each in answer.predicted]
