"""The comparison as one picture: the legend above all plots."""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRect, Qt
from PySide6.QtGui import QPainter
from typing_extensions import override

from gpupanel.domain.visible_text import visible_line
from gpupanel.ui import theme
from gpupanel.ui.panels.comparison_panel import run_styles
from gpupanel.ui.panels.comparison_panel.comparison_curves import ComparisonCurves
from gpupanel.ui.plots.axis_range import AxisKind
from gpupanel.ui.plots.legend import LegendEntry, draw_mark
from gpupanel.ui.plots.picture import MARGIN, ROW, WIDTH, CurvePicture, PicturePlot

_MARK, _COLUMN_GAP, _ROOM = 32, 20, 4
"""A text is a little wider in print than on the screen."""
_WORD_COLUMNS = 2
"""The others of the legend are numbers."""
FEET = {
    AxisKind.STEP: "Over steps.",
    AxisKind.EPOCH: "Over epochs.",
    AxisKind.TIME: "Over the time since each run's start.",
}


class ComparisonPicture(CurvePicture):
    """Paints what a comparison shows, in the theme that is current.

    Args:
        curves: What is drawn.
        legend: The texts of the legend: titles first, then a row for each run.
        plots: Those of the curves.
    """

    def __init__(
        self, curves: ComparisonCurves, legend: list[list[str]], plots: Sequence[PicturePlot]
    ) -> None:
        foot = FEET[curves.axis]
        if curves.span > 0.0:
            foot += f" Curves of steps are smoothed over {curves.span:,.0f} steps."
        super().__init__("Curves of several runs", plots, foot)
        self._titles = legend[0]
        self._rows = [
            (curves.runs[place].style, [visible_line(text) for text in row])
            for place, row in enumerate(legend[1:])
            if place not in curves.hidden
        ]

    @override
    def head_height(self) -> int:
        return ROW * (1 + len(self._rows))

    @override
    def draw_head(self, painter: QPainter) -> None:
        texts = [self._titles, *(row for _, row in self._rows)]
        painter.setFont(self.bold)
        metrics = painter.fontMetrics()
        widths = [
            _ROOM + max(map(metrics.horizontalAdvance, column))
            for column in zip(*texts, strict=True)
        ]
        names = WIDTH - 2 * MARGIN - _MARK - sum(width + _COLUMN_GAP for width in widths[1:])
        widths[0] = min(widths[0], names - 8)
        colors = theme.current()
        painter.setPen(colors.color("muted"))
        self._draw_row(painter, MARGIN, self._titles, widths)
        painter.setFont(self.font)
        for number, (style, row) in enumerate(self._rows, start=1):
            top = MARGIN + number * ROW
            entry = LegendEntry(
                "", "", "", run_styles.color(style), dashes=run_styles.dashes(style)
            )
            draw_mark(painter, entry, QPointF(MARGIN, top + ROW / 2.0), _MARK - 8)
            painter.setPen(colors.color("text"))
            self._draw_row(painter, top, row, widths)

    def _draw_row(self, painter: QPainter, top: int, texts: list[str], widths: list[int]) -> None:
        left = MARGIN + _MARK
        for column, (text, width) in enumerate(zip(texts, widths, strict=True)):
            is_words = column < _WORD_COLUMNS
            side = Qt.AlignmentFlag.AlignLeft if is_words else Qt.AlignmentFlag.AlignRight
            text = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideMiddle, width)
            place = QRect(left, top, width, ROW)
            painter.drawText(place, side | Qt.AlignmentFlag.AlignVCenter, text)
            left += width + _COLUMN_GAP
