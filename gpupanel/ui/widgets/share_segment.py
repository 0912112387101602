"""One replica's part of a bar of shares."""

from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from gpupanel.ui import theme


@dataclass(frozen=True, slots=True)
class ShareSegment:
    """One replica's part of the bar.

    Attributes:
        share: Examples of each global batch.
        name: Who takes them, in words ("Replica 0 \N{MIDDLE DOT} RTX 4090").
        color: The colour of its device.
        note: What is known of it beside the share, such as its speed; shown below it.
    """

    share: int
    name: str
    color: QColor
    note: str = ""

    @property
    def noted(self) -> str:
        """The note as the end of a sentence; empty when there is none."""
        return f", {self.note}" if self.note else ""


def paint_segment(
    painter: QPainter, segment: ShareSegment, share: int, place: QRectF, color: QColor
) -> None:
    """Fills the place and writes the share into it, and the note below, where they fit."""
    painter.fillRect(place, color)
    painter.setPen(ink_on(color))
    bold, small = QFont(painter.font()), theme.small_font(painter.font())
    bold.setBold(True)
    small.setBold(False)
    above = QRectF(place)
    if segment.note and QFontMetricsF(small).horizontalAdvance(segment.note) + 16 <= place.width():
        above.setBottom(place.center().y() + 2.0)
        below = QRectF(place.left(), place.center().y(), place.width(), place.height() / 2.0)
        painter.setFont(small)
        painter.drawText(below, Qt.AlignmentFlag.AlignCenter, segment.note)
    painter.setFont(bold)
    if QFontMetricsF(bold).horizontalAdvance(f"{share:,}") + 8 <= place.width():
        painter.drawText(above, Qt.AlignmentFlag.AlignCenter, f"{share:,}")


def ink_on(color: QColor) -> QColor:
    """Black or white, whichever reads better on the colour."""
    luminance = 0.299 * color.redF() + 0.587 * color.greenF() + 0.114 * color.blueF()
    return QColor(Qt.GlobalColor.black if luminance > 0.5 else Qt.GlobalColor.white)
