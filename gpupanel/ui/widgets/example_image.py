"""The image of an example that came as bytes."""

import base64
import binascii

from PySide6.QtCore import Qt
from PySide6.QtGui import QImage, QPixmap

from gpupanel.domain.preview import ExamplePreview

_FORMATS = {1: QImage.Format.Format_Grayscale8, 3: QImage.Format.Format_RGB888}


def image_of(example: ExamplePreview) -> QImage | None:
    """The image in an example; ``None`` when it holds none, or one that is cut short."""
    shape = _FORMATS.get(example.channels)
    if shape is None or not example.width or not example.height:
        return None
    try:
        pixels = base64.b64decode(example.pixels_base64, validate=True)
    except binascii.Error:
        return None
    stride = example.width * example.channels
    if len(pixels) != stride * example.height:
        return None
    # The copy owns its pixels; without it the image would point into bytes that go away.
    return QImage(pixels, example.width, example.height, stride, shape).copy()


def scaled_image(example: ExamplePreview, side: int) -> QPixmap | None:
    """The same within a square; an image smaller than that keeps its edges crisp."""
    image = image_of(example)
    if image is None:
        return None
    smooth = max(image.width(), image.height()) > side
    how = (
        Qt.TransformationMode.SmoothTransformation
        if smooth
        else Qt.TransformationMode.FastTransformation
    )
    return QPixmap.fromImage(image.scaled(side, side, Qt.AspectRatioMode.KeepAspectRatio, how))
