"""From an image's file to its pixels, whatever way it has of storing them.

The exported script does the same, step by step, so that it trains on the same pixels.
"""

import logging
import os
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageOps
from PIL.ImageFile import ImageFile

from gpupanel.trainer.datasets.images.formats import FORMATS

# What it finds wrong with a file it also raises, or makes up for.
logging.getLogger("PIL").setLevel(logging.CRITICAL)
_WHITE = 255
_OF_32_BITS = ("I", "F")
_DEEP = ("I;16", "I;16L", "I;16B", "I;16N")
_LARGE_PIXELS = 16 * 2**20
_LARGE_BYTES = 64 * 2**20
_ORIENTATION = 0x0112
_UPRIGHT = 1
_MOST_REDUCED = 8
_GREY_AS_INT = ("PNG", "PPM")
"""Formats whose grey values of 16 bits come as a mode of 32 bits."""


@dataclass(frozen=True, slots=True)
class ImageForm:
    """How an image is stored, as its header says.

    Attributes:
        format: As Pillow names it.
        mode: What its pixels are: "RGB", "L" (grey), "P" (palette) and so on.
        width: In pixels, before it is turned upright.
        height: Likewise.
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


_Places = npt.NDArray[np.intp]


class TooManyPixelsError(Exception):
    """The image is larger than is unpacked; the text says how large."""


class UnknownRangeError(Exception):
    """Its pixels are numbers of 32 bits, and nobody knows which of them is white.

    Attributes:
        greatest: Of the numbers.
    """

    def __init__(self, mode: str, greatest: float) -> None:
        super().__init__(
            f"its pixels are numbers of 32 bits (Pillow's mode {mode}), the greatest {greatest:g}"
        )
        self.greatest = greatest


def pixels_of(
    file: BinaryIO,
    size: tuple[int, int],
    channels: int,
    most_pixels: int,
    white: int | None = None,
) -> npt.NDArray[np.uint8]:
    """The image of a file, upright and scaled; of several frames the first.

    Of 16 bits a value the upper 8 are taken, unless it is known what is white. What is transparent
    is shown on white. A large JPEG is unpacked at a half, a quarter or an eighth, as long as that
    is no smaller than ``size``; what is three times too large or more is averaged over whole
    pixels; the rest is bilinear (:func:`scaled`).

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
        return _pixels(image, size, channels, most_pixels, white)


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
        size: Likewise.
        channels: Likewise.
        most_pixels: Likewise.
        white: Likewise.

    Raises:
        Exception: As :func:`pixels_of` raises it.
    """
    with Image.open(file, formats=FORMATS) as image:
        is_dark = white is not None and white < _WHITE
        if image.format != "JPEG" or image.mode != _mode(channels) or is_dark:
            return _pixels(image, size, channels, most_pixels, white)
        reduction = _reduction(image.width, image.height, size)
        width, height = -(-image.width // reduction), -(-image.height // reduction)
        is_plain = (
            image.width * image.height <= most_pixels
            and width * height <= _LARGE_PIXELS
            and _averaged((width, height), size) == (1, 1)
            and image.getexif().get(_ORIENTATION, _UPRIGHT) == _UPRIGHT
            and (content_bytes := file.seek(0, os.SEEK_END)) <= _LARGE_BYTES
        )
        if not is_plain:
            return _pixels(image, size, channels, most_pixels, white)
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
        size: Likewise.
        channels: Likewise.
        most_pixels: Likewise.
        white: Likewise.
        one_large: Entered while an image of more than 16 million pixels is unpacked.

    Raises:
        Exception: As :func:`pixels_of` raises it.
    """
    with Image.open(file, formats=FORMATS) as image:
        form = ImageForm(image.format or "", image.mode, image.width, image.height)
        is_large = form.width * form.height > _LARGE_PIXELS
        with one_large if is_large else nullcontext():
            return form, _pixels(image, size, channels, most_pixels, white)


def _pixels(
    image: ImageFile,
    size: tuple[int, int],
    channels: int,
    most_pixels: int,
    white: int | None,
) -> npt.NDArray[np.uint8]:
    # Only its header was read yet.
    if image.width * image.height > most_pixels:
        raise TooManyPixelsError(f"{image.width:,} x {image.height:,} pixels")
    reduction = _reduction(image.width, image.height, size)
    image.draft(None, (image.width // reduction, image.height // reduction))
    ImageOps.exif_transpose(image, in_place=True)
    is_of_8_bits = not is_deep(image) and image.mode not in _OF_32_BITS
    shown = _shown(image, white)
    mode = _mode(channels)
    converted = shown if shown.mode == mode else shown.convert(mode)
    if is_of_8_bits and white is not None and white < _WHITE:
        levels = _levels(np.arange(_WHITE + 1, dtype=np.float64), white)
        converted = converted.point(levels.tolist() * channels)
    averaged = _averaged(converted.size, size)
    reduced = converted if averaged == (1, 1) else converted.reduce(averaged)
    pixels = np.asarray(reduced, np.uint8)
    return scaled(pixels.reshape(reduced.height, reduced.width, channels), size)


def scaled(pixels: npt.NDArray[np.uint8], size: tuple[int, int]) -> npt.NDArray[np.uint8]:
    """An image in another size, bilinear, as TensorFlow's ``tf.image.resize`` does it.

    The steps are those of TensorFlow's kernel (``resize_bilinear_op.cc``, pixels at their centres),
    in the same order and precision, so that every bit is the same.

    Args:
        pixels: Shape [height, width, channels].
        size: Height and width that it is to have.
    """
    if pixels.shape[:2] == size:
        return pixels
    upper, lower, down = _neighbours(pixels.shape[0], size[0])
    left, right, across = _neighbours(pixels.shape[1], size[1])
    exact = pixels.astype(np.float32)
    rows = _between(exact.take(left, 1), exact.take(right, 1), across[:, np.newaxis])
    found = _between(rows.take(upper, 0), rows.take(lower, 0), down[:, np.newaxis, np.newaxis])
    return np.rint(found, out=found).astype(np.uint8)


def _neighbours(count: int, wanted: int) -> tuple[_Places, _Places, npt.NDArray[np.float32]]:
    """Between which pixels of a line each wanted one is, and how far from the first of them."""
    step, half = np.float32(count) / np.float32(wanted), np.float32(0.5)
    places = (np.arange(wanted, dtype=np.float32) + half) * step - half
    first = np.floor(places)
    second = np.minimum(np.ceil(places), count - 1)
    return np.maximum(first, 0).astype(np.intp), second.astype(np.intp), places - first


def _between(
    some: npt.NDArray[np.float32], others: npt.NDArray[np.float32], part: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """In the place of ``others``."""
    others -= some
    others *= part
    others += some
    return others


def _mode(channels: int) -> str:
    return "RGB" if channels == 3 else "L"


def _reduction(width: int, height: int, size: tuple[int, int]) -> int:
    """At which part of its size a JPEG is unpacked; it may have to be turned afterwards."""
    times = min(width, height) // max(size)
    return min(_MOST_REDUCED, 1 << max(0, times.bit_length() - 1))


def _averaged(there: tuple[int, int], size: tuple[int, int]) -> tuple[int, int]:
    """Over how many pixels an image is averaged, across and down, before it is scaled.

    Of one that is three times too large or more, scaling would leave most pixels out.

    Args:
        there: Its width and height.
        size: Height and width that it is scaled to.
    """
    across, down = (
        max(1, 2 * has // (3 * wanted)) for has, wanted in zip(there, reversed(size), strict=True)
    )
    return across, down


def is_deep(image: Image.Image) -> bool:
    """Whether it has grey values of 16 bits."""
    return image.mode in _DEEP or (image.mode == "I" and image.format in _GREY_AS_INT)


def _shown(image: Image.Image, white: int | None) -> Image.Image:
    """The image with 8 bits a value and nothing to see through."""
    if is_deep(image) and white is None:
        return Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))
    if is_deep(image) or image.mode in _OF_32_BITS:
        values = np.asarray(image, np.float64)
        if white is None:
            raise UnknownRangeError(image.mode, float(np.nan_to_num(values).max(initial=0.0)))
        return Image.fromarray(_levels(values, white))
    if image.has_transparency_data:
        seen_through = image.convert("RGBA")
        white_ground = Image.new("RGBA", image.size, "white")
        return Image.alpha_composite(white_ground, seen_through)
    return image


def _levels(values: npt.NDArray[np.float64], white: int) -> npt.NDArray[np.uint8]:
    """The values with 0 as black and ``white`` as 255; what is no number is black."""
    kept = np.clip(np.nan_to_num(values), 0.0, white)
    return np.rint(kept * (_WHITE / white)).astype(np.uint8)
