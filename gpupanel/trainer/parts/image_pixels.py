"""From an image that Pillow has opened to its pixels: upright, of 8 bits, opaque, scaled."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:  # what reads no images needs no Pillow
    from PIL import Image, ImageFile

LARGEST_IMAGE_PIXELS = 89_478_485
"""Width times height; Pillow's own limit, above which it warns: a quarter GiB as RGB."""
WHITE_OF_8_BITS = 255
MOST_REDUCED = 8
"""A JPEG is unpacked at one part of so many of its width and height, at the least."""
MODES_OF_32_BITS = ("I", "F")
MODES_OF_16_BITS = ("I;16", "I;16L", "I;16B", "I;16N")
FORMATS_OF_GREY_AS_32_BITS = ("PNG", "PPM")
"""Their grey values of 16 bits come as a mode of 32 bits."""


_OF_FAST_SIZE = (17, 20)
"""What is unpacked fast has so much of the wanted size, 0.85, or more."""


@dataclass(frozen=True, slots=True)
class WantedPixels:
    """What is made of an image.

    Attributes:
        size: Height and width that it is scaled to, in pixels.
        channels: 3 for RGB, 1 for greyscale.
        white: The value that is white; up to 255 also of images of 8 bits. ``None``: the greatest
            that 8 or 16 bits have.
        is_fast: A large JPEG may be unpacked somewhat smaller than ``size``, and is scaled up.
    """

    size: tuple[int, int]
    channels: int
    white: int | None = None
    is_fast: bool = False


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


def image_pixels(image: "ImageFile.ImageFile", wanted: WantedPixels) -> npt.NDArray[np.uint8]:
    """An image upright and scaled; of several frames the first.

    Of 16 bits a value the upper 8 are taken, unless it is known what is white. What is transparent
    is shown on white. A large JPEG is unpacked at a half, a quarter or an eighth
    (:func:`jpeg_reduction`); what is three times too large or more is averaged over whole pixels;
    the rest is bilinear (:func:`scaled`).

    Args:
        image: Only its header was read yet.
        wanted: What is made of it.

    Returns:
        Shape [height, width, channels].

    Raises:
        TooManyPixelsError: It has more than are unpacked.
        UnknownRangeError: Its pixels have no range that is known.
        Exception: Whatever the bytes of a damaged file make of the decoders.
    """
    from PIL import ImageOps

    size, channels, white = wanted.size, wanted.channels, wanted.white
    if image.width * image.height > LARGEST_IMAGE_PIXELS:
        raise TooManyPixelsError(f"{image.width:,} x {image.height:,} pixels")
    reduction = jpeg_reduction(image.width, image.height, wanted)
    image.draft(None, (image.width // reduction, image.height // reduction))
    ImageOps.exif_transpose(image, in_place=True)
    is_of_8_bits = not is_deep(image) and image.mode not in MODES_OF_32_BITS
    shown = shown_image(image, white)
    mode = mode_of(channels)
    converted = shown if shown.mode == mode else shown.convert(mode)
    if is_of_8_bits and white is not None and white < WHITE_OF_8_BITS:
        darker = levels(np.arange(WHITE_OF_8_BITS + 1, dtype=np.float64), white)
        converted = converted.point(darker.tolist() * channels)
    over = averaged_over(converted.size, size)
    reduced = converted if over == (1, 1) else converted.reduce(over)
    pixels = np.asarray(reduced, np.uint8)
    return scaled(pixels.reshape(reduced.height, reduced.width, channels), size)


def mode_of(channels: int) -> str:
    """The mode of an image, as Pillow names it."""
    return "RGB" if channels == 3 else "L"


def jpeg_reduction(width: int, height: int, wanted: WantedPixels) -> int:
    """At which part of its size a JPEG is unpacked; it may have to be turned afterwards.

    The smallest that is no smaller than what is wanted, or than 0.85 of it where that is fast.
    """
    part, whole = _OF_FAST_SIZE if wanted.is_fast else (1, 1)
    times = min(width, height) * whole // (max(wanted.size) * part)
    return min(MOST_REDUCED, 1 << max(0, times.bit_length() - 1))


def averaged_over(there: tuple[int, int], size: tuple[int, int]) -> tuple[int, int]:
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


def is_deep(image: "Image.Image") -> bool:
    """Whether it has grey values of 16 bits."""
    is_grey = image.mode == "I" and image.format in FORMATS_OF_GREY_AS_32_BITS
    return is_grey or image.mode in MODES_OF_16_BITS


def shown_image(image: "Image.Image", white: int | None) -> "Image.Image":
    """The image with 8 bits a value and nothing to see through."""
    from PIL import Image

    if is_deep(image) and white is None:
        return Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))
    if is_deep(image) or image.mode in MODES_OF_32_BITS:
        values = np.asarray(image, np.float64)
        if white is None:
            raise UnknownRangeError(image.mode, float(np.nan_to_num(values).max(initial=0.0)))
        return Image.fromarray(levels(values, white))
    if image.has_transparency_data:
        seen_through = image.convert("RGBA")
        white_ground = Image.new("RGBA", image.size, "white")
        return Image.alpha_composite(white_ground, seen_through)
    return image


def levels(values: npt.NDArray[np.float64], white: int) -> npt.NDArray[np.uint8]:
    """The values with 0 as black and ``white`` as 255; what is no number is black."""
    kept = np.clip(np.nan_to_num(values), 0.0, white)
    return np.rint(kept * (WHITE_OF_8_BITS / white)).astype(np.uint8)


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
    upper, lower, down = neighbours(pixels.shape[0], size[0])
    left, right, across = neighbours(pixels.shape[1], size[1])
    exact = pixels.astype(np.float32)
    rows = between(exact.take(left, 1), exact.take(right, 1), across[:, np.newaxis])
    found = between(rows.take(upper, 0), rows.take(lower, 0), down[:, np.newaxis, np.newaxis])
    return np.rint(found, out=found).astype(np.uint8)


def neighbours(
    count: int, wanted: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], npt.NDArray[np.float32]]:
    """Between which pixels of a line each wanted one is, and how far from the first of them."""
    step, half = np.float32(count) / np.float32(wanted), np.float32(0.5)
    places = (np.arange(wanted, dtype=np.float32) + half) * step - half
    first = np.floor(places)
    second = np.minimum(np.ceil(places), count - 1)
    return np.maximum(first, 0).astype(np.intp), second.astype(np.intp), places - first


def between(
    some: npt.NDArray[np.float32], others: npt.NDArray[np.float32], part: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """So far from some to the others; in the place of ``others``."""
    others -= some
    others *= part
    others += some
    return others
