"""From an image's file to its pixels, whatever way it has of storing them.

What is made of an open image stands in :mod:`gpupanel.trainer.parts.image_pixels`, which scripts
contain.
"""

import logging
import os
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
from PIL import Image

from gpupanel.files.regular_files import read_beginning_with
from gpupanel.trainer.datasets.images.jpeg_header import JPEG_BEGIN, usual_header
from gpupanel.trainer.parts.image_formats import FORMATS
from gpupanel.trainer.parts.image_pixels import (
    LARGEST_IMAGE_PIXELS,
    WHITE_OF_8_BITS,
    WantedPixels,
    averaged_over,
    image_pixels,
    jpeg_reduction,
    mode_of,
)

# What it finds wrong with a file it also raises, or makes up for.
logging.getLogger("PIL").setLevel(logging.CRITICAL)
_LARGE_PIXELS = 16 * 2**20
_LARGE_BYTES = 64 * 2**20
_KNOWN_SIZES = 1_000
"""Most folders have few sizes of images, and each is asked about again and again."""
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


def pixels_of(file: BinaryIO, wanted: WantedPixels) -> npt.NDArray[np.uint8]:
    """The image of a file, upright and scaled; of several frames the first.

    As :func:`~gpupanel.trainer.parts.image_pixels.image_pixels` makes it.

    Args:
        file: Open at its beginning.
        wanted: What is made of it.

    Returns:
        Shape [height, width, channels].

    Raises:
        TooManyPixelsError: It has more than are unpacked.
        UnknownRangeError: Its pixels have no range that is known.
        Exception: Whatever the bytes of a damaged file make of the decoders.
    """
    with Image.open(file, formats=FORMATS) as image:
        return image_pixels(image, wanted)


def usual_jpeg_of(path: str, wanted: WantedPixels) -> PlainJpeg | None:
    """What :func:`plain_jpeg_or_pixels_of` finds in a usual JPEG, in a fifth of its time.

    Args:
        path: Of the file.
        wanted: What is made of it.

    Returns:
        ``None``: that has to be asked.
    """
    if _is_darkened(wanted):
        return None
    try:
        content = read_beginning_with(JPEG_BEGIN, path, _LARGE_BYTES)
    except OSError:
        return None  # who reads it otherwise says why
    header = None if content is None else usual_header(content)
    if content is None or header is None or header.components != wanted.channels:
        return None
    reduction = _plain_reduction(header.width, header.height, wanted)
    return None if reduction is None else PlainJpeg(content, reduction)


def _is_darkened(wanted: WantedPixels) -> bool:
    """Whether pixels of 8 bits are not taken as they are."""
    return wanted.white is not None and wanted.white < WHITE_OF_8_BITS


@lru_cache(_KNOWN_SIZES)
def _plain_reduction(width: int, height: int, wanted: WantedPixels) -> int | None:
    """At which part an upright JPEG is unpacked; ``None``: it is not only decoded and scaled."""
    reduction = jpeg_reduction(width, height, wanted)
    there = -(-width // reduction), -(-height // reduction)
    is_plain = (
        width * height <= LARGEST_IMAGE_PIXELS
        and there[0] * there[1] <= _LARGE_PIXELS
        and averaged_over(there, wanted.size) == (1, 1)
    )
    return reduction if is_plain else None


def plain_jpeg_or_pixels_of(
    file: BinaryIO, wanted: WantedPixels
) -> PlainJpeg | npt.NDArray[np.uint8]:
    """The image of a file, or what it takes to decode it otherwise; its bytes decide which.

    Args:
        file: As :func:`pixels_of` takes it.
        wanted: What is made of it.

    Raises:
        Exception: As :func:`pixels_of` raises it.
    """
    with Image.open(file, formats=FORMATS) as image:
        is_other = image.format != "JPEG" or image.mode != mode_of(wanted.channels)
        if is_other or _is_darkened(wanted):
            return image_pixels(image, wanted)
        reduction = _plain_reduction(image.width, image.height, wanted)
        is_plain = (
            reduction is not None
            and image.getexif().get(_ORIENTATION, _UPRIGHT) == _UPRIGHT
            and (content_bytes := file.seek(0, os.SEEK_END)) <= _LARGE_BYTES
        )
        if reduction is None or not is_plain:
            return image_pixels(image, wanted)
        file.seek(0)
        return PlainJpeg(file.read(content_bytes), reduction)


def form_and_pixels_of(
    file: BinaryIO, wanted: WantedPixels, one_large: AbstractContextManager[object]
) -> tuple[ImageForm, npt.NDArray[np.uint8]]:
    """How an image is stored, too.

    Args:
        file: As :func:`pixels_of` takes it.
        wanted: What is made of it.
        one_large: Entered while an image of more than 16 million pixels is unpacked.

    Raises:
        Exception: As :func:`pixels_of` raises it.
    """
    with Image.open(file, formats=FORMATS) as image:
        form = ImageForm(image.format or "", image.mode, image.width, image.height)
        is_large = form.width * form.height > _LARGE_PIXELS
        with one_large if is_large else nullcontext():
            return form, image_pixels(image, wanted)
