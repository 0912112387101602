"""Plots as one picture, of pixels or of lines."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, QIODevice, QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QGuiApplication, QImage, QPaintDevice, QPainter
from PySide6.QtWidgets import QApplication

from gpupanel.ui import theme
from gpupanel.ui.plots.legend import LegendEntry, draw_mark

if TYPE_CHECKING:
    from gpupanel.ui.plots.plot_canvas import PlotCanvas

_RATIO = 2.0
"""Pixels of the picture for each of its layout: sharp in print."""
WIDTH, MARGIN, GAP, ROW = 1280, 24, 16, 24
_TITLE, _PLOT = 24, 256
_COLUMNS = 2
_MARK = 20


class PictureFormat(StrEnum):
    """What a picture is made of, as the suffix of its file."""

    PNG = "png"
    SVG = "svg"

    @property
    def filter(self) -> str:
        """The format's filter for file dialogs."""
        return "SVG drawings (*.svg)" if self is PictureFormat.SVG else "PNG pictures (*.png)"


@dataclass(frozen=True, slots=True)
class PicturePlot:
    """One plot of a picture.

    Attributes:
        make_canvas: Makes what draws it, of a size and with lines so wide, in pixels.
        entries: Of its legend; empty: the picture's own says which curve is which.
    """

    title: str
    make_canvas: "Callable[[QSize, float], PlotCanvas]"
    entries: tuple[LegendEntry, ...] = ()


class CurvePicture:
    """Paints plots two beside each other, in the theme that is current.

    Args:
        title: Above all.
        plots: In the order of reading.
        foot: What has to be said below.
    """

    def __init__(self, title: str, plots: Sequence[PicturePlot], foot: str) -> None:
        self._title, self._plots, self._foot = title, tuple(plots), foot
        self.font = QApplication.font()
        self.bold = QFont(self.font)
        self.bold.setBold(True)

    def content(self, wanted: PictureFormat) -> bytes:
        """What is to be written into a file."""
        return self.drawing() if wanted is PictureFormat.SVG else _png(self.image())

    def image(self) -> QImage:
        """The picture, twice as many pixels as its layout has, for sharp lines."""
        image = QImage(self.size() * _RATIO, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(_RATIO)
        self._paint_on(image, _RATIO)
        return image

    def drawing(self) -> bytes:
        """The picture as an SVG document: lines and texts that stay sharp at any size."""
        # Only who wants one waits for what makes it.
        from PySide6.QtSvg import QSvgGenerator

        content = QBuffer()
        generator = QSvgGenerator()
        generator.setOutputDevice(content)
        generator.setSize(self.size())
        generator.setResolution(round(QGuiApplication.primaryScreen().logicalDotsPerInch()))
        generator.setViewBox(QRect(QPoint(0, 0), self.size()))
        generator.setTitle(self._title)
        content.open(QIODevice.OpenModeFlag.WriteOnly)
        self._paint_on(generator, 1.0)
        return bytes(content.data().data())

    def size(self) -> QSize:
        """The size of the layout."""
        rows = math.ceil(len(self._plots) / _COLUMNS)
        plots = rows * (_TITLE + _PLOT + GAP)
        return QSize(WIDTH, 2 * MARGIN + self.head_height() + GAP + plots + ROW)

    def head_height(self) -> int:
        """The height of what is above the plots."""
        return ROW

    def draw_head(self, painter: QPainter) -> None:
        """What is above the plots."""
        painter.setFont(self.bold)
        painter.setPen(theme.current().color("text"))
        place = QRect(MARGIN, MARGIN, WIDTH - 2 * MARGIN, ROW)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, self._title)

    def _paint_on(self, device: QPaintDevice, line_width: float) -> None:
        size = self.size()
        painter = QPainter(device)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(QRect(QPoint(0, 0), size), theme.current().color("surface"))
        self.draw_head(painter)
        for number, plot in enumerate(self._plots):
            self._draw_plot(painter, plot, self._place(number), line_width)
        painter.setPen(theme.current().color("muted"))
        painter.setFont(self.font)
        foot = QRect(MARGIN, size.height() - MARGIN - ROW, WIDTH - 2 * MARGIN, ROW)
        painter.drawText(foot, Qt.AlignmentFlag.AlignVCenter, self._foot)
        painter.end()

    def _place(self, number: int) -> QRect:
        width = (WIDTH - 2 * MARGIN - GAP) // _COLUMNS
        row, column = divmod(number, _COLUMNS)
        top = MARGIN + self.head_height() + GAP + row * (_TITLE + _PLOT + GAP)
        return QRect(MARGIN + column * (width + GAP), top, width, _TITLE + _PLOT)

    def _draw_plot(
        self, painter: QPainter, plot: PicturePlot, place: QRect, line_width: float
    ) -> None:
        painter.setFont(self.bold)
        painter.setPen(theme.current().color("text"))
        title = QRect(place.left(), place.top(), place.width(), _TITLE)
        painter.drawText(title, Qt.AlignmentFlag.AlignVCenter, plot.title)
        painter.save()
        self._draw_entries(painter, plot.entries, title)
        painter.restore()
        canvas = plot.make_canvas(QSize(place.width(), _PLOT), line_width)
        drawn = place.adjusted(0, _TITLE, 0, 0)
        if isinstance(painter.device(), QImage):
            canvas.render(painter, QRectF(drawn), canvas.viewport().rect())
        else:
            # What draws plots comes with pyqtgraph.
            from gpupanel.ui.plots.printed_plot import PrintedPlot

            PrintedPlot(canvas, painter, QPointF(drawn.topLeft())).draw()
        canvas.deleteLater()

    def _draw_entries(
        self, painter: QPainter, entries: tuple[LegendEntry, ...], place: QRect
    ) -> None:
        """Draw entries from the right, as many as have room beside the title."""
        painter.setFont(self.font)
        metrics, right = painter.fontMetrics(), place.right()
        for entry in reversed(entries):
            words = " ".join(word for word in (entry.label, entry.value) if word)
            left = right - metrics.horizontalAdvance(words) - 4
            if left - _MARK < place.left() + place.width() // 4:
                return
            draw_mark(painter, entry, QPointF(left - _MARK, place.center().y()), _MARK - 6)
            painter.setPen(theme.current().color("muted"))
            text = QRect(left, place.top(), right - left, place.height())
            painter.drawText(text, Qt.AlignmentFlag.AlignVCenter, words)
            right = left - _MARK - GAP


def _png(image: QImage) -> bytes:
    content = QBuffer()
    content.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(content, "png")  # type: ignore[call-overload]  # the stub knows paths only
    return bytes(content.data().data())
