"""How a script makes pixels of a picture, as ``trainer/datasets/image_pixels.py`` does."""

from string import Template
from typing import Literal

_PICTURE = """
from PIL import Image, ImageOps

FORMATS = ("PNG", "JPEG", "BMP", "DIB", "GIF", "WEBP", "TIFF", "PPM")
Image.init()  # their decoders


def picture(path):
    with Image.open(path, formats=FORMATS) as image:
        image.draft(None, ($draft, $draft))  # a large JPEG is unpacked at a part of its size
        ImageOps.exif_transpose(image, in_place=True)
        shown = image
        if image.mode.startswith("I;16") or (image.mode == "I" and image.format in ("PNG", "PPM")):
            shown = Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))
        elif image.mode in ("I", "F"):
            raise SystemExit(f"{path} has 32 bits a pixel: which of them is white?")
        elif image.has_transparency_data:
            white = Image.new("RGBA", image.size, "white")
            shown = Image.alpha_composite(white, image.convert("RGBA"))
        shown = shown.convert($mode).resize(($width, $height), Image.Resampling.BILINEAR)
        return np.asarray(shown, np.uint8).reshape($height, $width, $channels)
"""


def picture_function(size: tuple[int, int], color: Literal["rgb", "grayscale"]) -> str:
    """Python with the function ``picture(path)``, which takes an open file, too.

    Args:
        size: Height and width of what it gives, in pixels.
        color: Whether that has three channels or one.
    """
    return Template(_PICTURE).substitute(
        mode=repr("RGB" if color == "rgb" else "L"),
        channels=3 if color == "rgb" else 1,
        draft=2 * max(size),
        height=size[0],
        width=size[1],
    )
