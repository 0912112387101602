"""A picture with what in it speaks for its class: yellow and red over it."""

import base64
import binascii

from PySide6.QtCore import QRect
from PySide6.QtGui import QImage, QPainter, QPixmap, qRgba

from gpupanel.domain.asked_prediction import HeatMap
from gpupanel.domain.preview import ExamplePreview
from gpupanel.ui.widgets.example_image import scaled_image

_MOST = 255
_OPAQUE = 0.85
_COLORS = [qRgba(_MOST, _MOST - heat, 0, round(_OPAQUE * heat)) for heat in range(_MOST + 1)]
"""From nothing over yellow to red."""


def heat_picture(image: ExamplePreview, heat: HeatMap, side: int) -> QPixmap | None:
    """The image within a square, with its heat map over it; ``None`` where either is damaged."""
    below, over = scaled_image(image, side), _over(heat)
    if below is None or over is None:
        return None
    painter = QPainter(below)
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
    painter.drawImage(QRect(0, 0, below.width(), below.height()), over)
    painter.end()
    return below


def _over(heat: HeatMap) -> QImage | None:
    try:
        pixels = base64.b64decode(heat.pixels_base64, validate=True)
    except binascii.Error:
        return None
    if not pixels or len(pixels) != heat.width * heat.height:
        return None
    indexed = QImage(pixels, heat.width, heat.height, heat.width, QImage.Format.Format_Indexed8)
    indexed.setColorTable(_COLORS)
    # What is converted owns its pixels.
    return indexed.convertToFormat(QImage.Format.Format_ARGB32)
