"""From a picture's file to its pixels, whatever way it has of storing them.

The exported script does the same, step by step, so that it trains on the same pixels.
"""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageOps
from PIL.ImageFile import ImageFile

FORMATS = ("PNG", "JPEG", "BMP", "DIB", "GIF", "WEBP", "TIFF", "PPM")
"""The only ones that are tried, whatever a name ends in: Pillow would have a PostScript program
carried out, and read formats that nobody here means."""
Image.init()  # a format that is named is not searched for: its decoder has to be there
_DEEP = ("I;16", "I;16L", "I;16B", "I;16N")
_LARGE_PIXELS = 16 * 2**20
_GREY_AS_INT = ("PNG", "PPM")
"""Formats whose grey values of 16 bits come as a mode of 32 bits."""


@dataclass(frozen=True, slots=True)
class PictureForm:
    """How a picture is stored, as its header says.

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


class TooManyPixelsError(Exception):
    """The picture is larger than is unpacked; the text says how large."""


class UnknownRangeError(Exception):
    """Its pixels are numbers of 32 bits, and nobody knows which of them is white."""


def pixels_of(
    file: BinaryIO, size: tuple[int, int], channels: int, most_pixels: int
) -> npt.NDArray[np.uint8]:
    """The picture of a file, upright and scaled; of several frames the first.

    Of 16 bits a value the upper 8 are taken. What is transparent is shown on white.

    Args:
        file: Open at its beginning.
        size: Height and width that it is scaled to.
        channels: 3 for RGB, 1 for greyscale.
        most_pixels: More are not unpacked.

    Returns:
        Shape [height, width, channels].

    Raises:
        TooManyPixelsError: It has more.
        UnknownRangeError: Its pixels have no range that is known.
        Exception: Whatever the bytes of a damaged file make of the decoders.
    """
    with Image.open(file, formats=FORMATS) as image:
        return _pixels(image, size, channels, most_pixels)


def form_and_pixels_of(
    file: BinaryIO,
    size: tuple[int, int],
    channels: int,
    most_pixels: int,
    one_large: AbstractContextManager[object],
) -> tuple[PictureForm, npt.NDArray[np.uint8]]:
    """How a picture is stored, too.

    Args:
        file: As :func:`pixels_of` takes it.
        size: Likewise.
        channels: Likewise.
        most_pixels: Likewise.
        one_large: Entered while a picture of more than 16 million pixels is unpacked.

    Raises:
        Exception: As :func:`pixels_of` raises it.
    """
    with Image.open(file, formats=FORMATS) as image:
        form = PictureForm(image.format or "", image.mode, image.width, image.height)
        is_large = form.width * form.height > _LARGE_PIXELS
        with one_large if is_large else nullcontext():
            return form, _pixels(image, size, channels, most_pixels)


def _pixels(
    image: ImageFile, size: tuple[int, int], channels: int, most_pixels: int
) -> npt.NDArray[np.uint8]:
    # Only its header was read yet.
    if image.width * image.height > most_pixels:
        raise TooManyPixelsError(f"{image.width:,} x {image.height:,} pixels")
    height, width = size
    # A JPEG of more than twice the size is unpacked at a half, a quarter or an eighth.
    image.draft(None, (2 * max(size), 2 * max(size)))
    ImageOps.exif_transpose(image, in_place=True)
    shown = _shown(image)
    mode = "RGB" if channels == 3 else "L"
    picture = shown if shown.mode == mode else shown.convert(mode)
    scaled = picture.resize((width, height), Image.Resampling.BILINEAR)
    return np.asarray(scaled, np.uint8).reshape(height, width, channels)


def _shown(image: Image.Image) -> Image.Image:
    """The picture with 8 bits a value and nothing to see through."""
    if image.mode in _DEEP or (image.mode == "I" and image.format in _GREY_AS_INT):
        return Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))
    if image.mode in ("I", "F"):
        raise UnknownRangeError(f"its pixels are numbers of 32 bits (Pillow's mode {image.mode})")
    if image.has_transparency_data:
        seen_through = image.convert("RGBA")
        white = Image.new("RGBA", image.size, "white")
        return Image.alpha_composite(white, seen_through)
    return image
