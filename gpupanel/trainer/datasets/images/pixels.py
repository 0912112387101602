"""From an image's file to its pixels, whatever way it has of storing them.

What is made of an open image stands in :mod:`gpupanel.trainer.parts.image_pixels`, which scripts
contain.
"""

import logging
import os
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
from PIL import Image

from gpupanel.files.regular_files import read_beginning_with
from gpupanel.trainer.datasets.images.jpeg_header import JPEG_BEGIN, usual_header
from gpupanel.trainer.parts.image_formats import FORMATS
from gpupanel.trainer.parts.image_pixels import (
    WHITE_OF_8_BITS,
    averaged_over,
    image_pixels,
    jpeg_reduction,
    mode_of,
)

# What it finds wrong with a file it also raises, or makes up for.
logging.getLogger("PIL").setLevel(logging.CRITICAL)
_LARGE_PIXELS = 16 * 2**20
_LARGE_BYTES = 64 * 2**20
_ORIENTATION = 0x0112
_UPRIGHT = 1


@dataclass(frozen=True, slots=True)
class ImageForm:
    """How an image is stored, as its header says.

    Attributes:
        format: As Pillow names it.
        mode: What its pixels are: "RGB", "L" (grey), "P" (palette) and so on.
        width: In pixels, before it is turned upright.
        height: In pixels, before it is turned upright.
    """

    format: str
    mode: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class PlainJpeg:
    """A JPEG whose pixels only have to be decoded and scaled, which other decoders do alike.

    Attributes:
        content: Of its file.
        reduction: It is unpacked at one part of so many of its width and height: 1, 2, 4 or 8.
    """

    content: bytes
    reduction: int


def pixels_of(
    file: BinaryIO,
    size: tuple[int, int],
    channels: int,
    most_pixels: int,
    white: int | None = None,
) -> npt.NDArray[np.uint8]:
    """The image of a file, upright and scaled; of several frames the first.

    As :func:`~gpupanel.trainer.parts.image_pixels.image_pixels` makes it.

    Args:
        file: Open at its beginning.
        size: Height and width that it is scaled to.
        channels: 3 for RGB, 1 for greyscale.
        most_pixels: More are not unpacked.
        white: The value that is white; up to 255 also of images of 8 bits. ``None``: the greatest
            that 8 or 16 bits have.

    Returns:
        Shape [height, width, channels].

    Raises:
        TooManyPixelsError: It has more.
        UnknownRangeError: Its pixels have no range that is known.
        Exception: Whatever the bytes of a damaged file make of the decoders.
    """
    with Image.open(file, formats=FORMATS) as image:
        return image_pixels(image, size, channels, most_pixels, white)


def usual_jpeg_of(
    path: str,
    size: tuple[int, int],
    channels: int,
    most_pixels: int,
    white: int | None = None,
) -> PlainJpeg | None:
    """What :func:`plain_jpeg_or_pixels_of` finds in a usual JPEG, in a fifth of its time.

    Args:
        path: Of the file.
        size: As :func:`pixels_of` takes it.
        channels: As :func:`pixels_of` takes it.
        most_pixels: As :func:`pixels_of` takes it.
        white: As :func:`pixels_of` takes it.

    Returns:
        ``None``: that has to be asked.
    """
    if white is not None and white < WHITE_OF_8_BITS:
        return None
    try:
        content = read_beginning_with(JPEG_BEGIN, path, _LARGE_BYTES)
    except OSError:
        return None  # who reads it otherwise says why
    header = None if content is None else usual_header(content)
    if content is None or header is None or header.components != channels:
        return None
    reduction = _plain_reduction(header.width, header.height, size, most_pixels)
    return None if reduction is None else PlainJpeg(content, reduction)


def _plain_reduction(
    width: int, height: int, size: tuple[int, int], most_pixels: int
) -> int | None:
    """At which part an upright JPEG is unpacked; ``None``: it is not only decoded and scaled."""
    reduction = jpeg_reduction(width, height, size)
    there = -(-width // reduction), -(-height // reduction)
    is_plain = (
        width * height <= most_pixels
        and there[0] * there[1] <= _LARGE_PIXELS
        and averaged_over(there, size) == (1, 1)
    )
    return reduction if is_plain else None


def plain_jpeg_or_pixels_of(
    file: BinaryIO,
    size: tuple[int, int],
    channels: int,
    most_pixels: int,
    white: int | None = None,
) -> PlainJpeg | npt.NDArray[np.uint8]:
    """The image of a file, or what it takes to decode it otherwise; its bytes decide which.

    Args:
        file: As :func:`pixels_of` takes it.
        size: As :func:`pixels_of` takes it.
        channels: As :func:`pixels_of` takes it.
        most_pixels: As :func:`pixels_of` takes it.
        white: As :func:`pixels_of` takes it.

    Raises:
        Exception: As :func:`pixels_of` raises it.
    """
    with Image.open(file, formats=FORMATS) as image:
        is_dark = white is not None and white < WHITE_OF_8_BITS
        if image.format != "JPEG" or image.mode != mode_of(channels) or is_dark:
            return image_pixels(image, size, channels, most_pixels, white)
        reduction = _plain_reduction(image.width, image.height, size, most_pixels)
        is_plain = (
            reduction is not None
            and image.getexif().get(_ORIENTATION, _UPRIGHT) == _UPRIGHT
            and (content_bytes := file.seek(0, os.SEEK_END)) <= _LARGE_BYTES
        )
        if reduction is None or not is_plain:
            return image_pixels(image, size, channels, most_pixels, white)
        file.seek(0)
        return PlainJpeg(file.read(content_bytes), reduction)


def form_and_pixels_of(
    file: BinaryIO,
    size: tuple[int, int],
    channels: int,
    most_pixels: int,
    white: int | None,
    one_large: AbstractContextManager[object],
) -> tuple[ImageForm, npt.NDArray[np.uint8]]:
    """How an image is stored, too.

    Args:
        file: As :func:`pixels_of` takes it.
        size: As :func:`pixels_of` takes it.
        channels: As :func:`pixels_of` takes it.
        most_pixels: As :func:`pixels_of` takes it.
        white: As :func:`pixels_of` takes it.
        one_large: Entered while an image of more than 16 million pixels is unpacked.

    Raises:
        Exception: As :func:`pixels_of` raises it.
    """
    with Image.open(file, formats=FORMATS) as image:
        form = ImageForm(image.format or "", image.mode, image.width, image.height)
        is_large = form.width * form.height > _LARGE_PIXELS
        with one_large if is_large else nullcontext():
            return form, image_pixels(image, size, channels, most_pixels, white)
