"""The comparison as one picture: the legend above all plots."""

import math
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, QIODevice, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QImage, QPainter
from PySide6.QtWidgets import QApplication

from gpupanel.domain.visible_text import visible_line
from gpupanel.files.whole_files import whole_file
from gpupanel.runs.history.metrics import Metric
from gpupanel.ui import theme
from gpupanel.ui.panels.comparison_panel import run_styles
from gpupanel.ui.panels.comparison_panel.comparison_curves import ComparisonCurves
from gpupanel.ui.panels.comparison_panel.metric_text import WORDS
from gpupanel.ui.plots.axis_range import AxisKind
from gpupanel.ui.plots.legend import LegendEntry, draw_mark

if TYPE_CHECKING:
    from gpupanel.ui.plots.plot_canvas import PlotCanvas

_RATIO = 2.0
"""Pixels of the picture for each of its layout: sharp in print."""
_WIDTH, _MARGIN, _GAP = 1280, 24, 16
_ROW, _TITLE, _PLOT = 24, 24, 256
_MARK, _COLUMN_GAP, _ROOM = 32, 20, 4
"""A text is a little wider in print than on the screen."""
_COLUMNS = 2
_FEET = {
    AxisKind.STEP: "Over steps.",
    AxisKind.EPOCH: "Over epochs.",
    AxisKind.TIME: "Over the time since each run's start.",
}


def write_picture(image: QImage, path: Path) -> None:
    """Write a picture as PNG, all or nothing.

    Raises:
        OSError: It cannot be written; what stood there before still stands.
    """
    content = QBuffer()
    content.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(content, "png")  # type: ignore[call-overload]  # the stub knows paths only
    with whole_file(path) as file:
        file.write(content.data().data())


class ComparisonPicture:
    """Paints what a comparison shows, in the theme that is current.

    Args:
        curves: What is drawn.
        legend: The texts of the legend: titles first, then a row for each run.
        span: The part of the axis that is shown.
    """

    def __init__(
        self, curves: ComparisonCurves, legend: list[list[str]], span: tuple[float, float]
    ) -> None:
        self._curves, self._span = curves, span
        self._titles = legend[0]
        self._rows = [
            (place, [visible_line(text) for text in row])
            for place, row in enumerate(legend[1:])
            if place not in curves.hidden
        ]
        self._metrics = [metric for metric in curves.metrics() if curves.curves(metric)]
        self._font = QApplication.font()
        self._bold = QFont(self._font)
        self._bold.setBold(True)

    def image(self) -> QImage:
        """The picture, twice as many pixels as its layout has, for sharp lines."""
        size = QSize(_WIDTH, self._height())
        image = QImage(size * _RATIO, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(_RATIO)
        image.fill(theme.current().color("surface"))
        painter = QPainter(image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._draw_legend(painter)
        for place, metric in enumerate(self._metrics):
            self._draw_plot(painter, metric, self._plot_place(place))
        painter.setPen(theme.current().color("muted"))
        painter.setFont(self._font)
        foot = QRect(_MARGIN, size.height() - _MARGIN - _ROW, _WIDTH - 2 * _MARGIN, _ROW)
        painter.drawText(foot, Qt.AlignmentFlag.AlignVCenter, self._foot())
        painter.end()
        return image

    def _legend_height(self) -> int:
        return _ROW * (1 + len(self._rows))

    def _height(self) -> int:
        rows = math.ceil(len(self._metrics) / _COLUMNS)
        plots = rows * (_TITLE + _PLOT + _GAP)
        return 2 * _MARGIN + self._legend_height() + _GAP + plots + _ROW

    def _plot_place(self, place: int) -> QRect:
        width = (_WIDTH - 2 * _MARGIN - _GAP) // _COLUMNS
        row, column = divmod(place, _COLUMNS)
        top = _MARGIN + self._legend_height() + _GAP + row * (_TITLE + _PLOT + _GAP)
        return QRect(_MARGIN + column * (width + _GAP), top, width, _TITLE + _PLOT)

    def _foot(self) -> str:
        words = _FEET[self._curves.axis]
        if self._curves.span > 0.0:
            words += f" Curves of steps are smoothed over {self._curves.span:,.0f} steps."
        return words

    def _draw_legend(self, painter: QPainter) -> None:
        texts = [self._titles, *(row for _, row in self._rows)]
        painter.setFont(self._bold)
        metrics = painter.fontMetrics()
        widths = [
            _ROOM + max(map(metrics.horizontalAdvance, column))
            for column in zip(*texts, strict=True)
        ]
        names = _WIDTH - 2 * _MARGIN - _MARK - sum(width + _COLUMN_GAP for width in widths[1:])
        widths[0] = min(widths[0], names - 8)
        colors = theme.current()
        painter.setPen(colors.color("muted"))
        self._draw_row(painter, _MARGIN, self._titles, widths)
        painter.setFont(self._font)
        for number, (place, row) in enumerate(self._rows, start=1):
            top = _MARGIN + number * _ROW
            entry = LegendEntry(
                "", "", "", run_styles.color(place), dashes=run_styles.dashes(place)
            )
            draw_mark(painter, entry, QPointF(_MARGIN, top + _ROW / 2.0), _MARK - 8)
            painter.setPen(colors.color("text"))
            self._draw_row(painter, top, row, widths)

    def _draw_row(self, painter: QPainter, top: int, texts: list[str], widths: list[int]) -> None:
        left = _MARGIN + _MARK
        for column, (text, width) in enumerate(zip(texts, widths, strict=True)):
            is_words = column < _COLUMNS
            side = Qt.AlignmentFlag.AlignLeft if is_words else Qt.AlignmentFlag.AlignRight
            text = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideMiddle, width)
            place = QRect(left, top, width, _ROW)
            painter.drawText(place, side | Qt.AlignmentFlag.AlignVCenter, text)
            left += width + _COLUMN_GAP

    def _draw_plot(self, painter: QPainter, metric: Metric, place: QRect) -> None:
        painter.setFont(self._bold)
        painter.setPen(theme.current().color("text"))
        extra = " (smoothed)" if self._curves.is_smoothed(metric) else ""
        title = QRect(place.left(), place.top(), place.width(), _TITLE)
        painter.drawText(title, Qt.AlignmentFlag.AlignVCenter, f"{WORDS[metric].title}{extra}")
        canvas = self._canvas(metric, QSize(place.width(), _PLOT))
        drawn = place.adjusted(0, _TITLE, 0, 0)
        canvas.render(painter, QRectF(drawn), canvas.viewport().rect())
        canvas.deleteLater()

    def _canvas(self, metric: Metric, size: QSize) -> "PlotCanvas":
        from gpupanel.ui.plots.plot_canvas import PlotCanvas

        canvas = PlotCanvas(None, WORDS[metric].bounds, line_width=_RATIO)
        canvas.setAxis(self._curves.axis)
        canvas.setLogarithmic(self._curves.is_log and WORDS[metric].can_be_log)
        canvas.setCurves(self._curves.curves(metric))
        canvas.resize(size)
        # A widget that is not shown learns its size when it is painted: what is drawn follows it.
        canvas.grab()
        canvas.setTimeRange(*self._span)
        canvas.redraw(keep_axes=False)
        return canvas
