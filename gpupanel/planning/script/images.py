"""How a script makes pixels of an image, as ``trainer/datasets/images/pixels.py`` does."""

from string import Template
from typing import Literal

_IMAGE = """
from PIL import Image, ImageOps, features

Image.init()  # the decoders of the formats
FORMATS = ["PNG", "JPEG", "BMP", "DIB", "GIF", "WEBP", "TIFF", "PPM"]
FORMATS += ["AVIF"] if "AVIF" in Image.OPEN and features.check("avif") else []
try:
    import pillow_heif
except ImportError:
    pass
else:
    pillow_heif.register_heif_opener()
    FORMATS.append("HEIF")


def image(path):
    with Image.open(path, formats=FORMATS) as image:
        for part in (8, 4, 2):  # a large JPEG is unpacked at a part of its size
            if min(image.size) >= part * $side:
                image.draft(None, (image.width // part, image.height // part))
                break
        ImageOps.exif_transpose(image, in_place=True)
        shown = image
        if image.mode.startswith("I;16") or (image.mode == "I" and image.format in ("PNG", "PPM")):
            shown = Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))
        elif image.mode in ("I", "F"):
            raise SystemExit(f"{path} has 32 bits a pixel: which of them is white?")
        elif image.has_transparency_data:
            white = Image.new("RGBA", image.size, "white")
            shown = Image.alpha_composite(white, image.convert("RGBA"))
        shown = shown.convert($mode)
        averaged = [max(1, 2 * has // (3 * to)) for has, to in zip(shown.size, ($width, $height))]
        shown = shown.reduce(tuple(averaged))
        pixels = np.asarray(shown, np.uint8).reshape(shown.height, shown.width, $channels)
        return scaled(pixels, $height, $width)


def scaled(pixels, height, width):
    \"\"\"As tf.image.resize does it, bit for bit.\"\"\"
    (up, low, down), (left, right, across) = map(neighbours, pixels.shape[:2], (height, width))
    pixels = pixels.astype(np.float32)
    left, right = pixels[:, left], pixels[:, right]
    rows = left + (right - left) * across[:, np.newaxis]
    up, low = rows[up], rows[low]
    return np.rint(up + (low - up) * down[:, np.newaxis, np.newaxis]).astype(np.uint8)


def neighbours(count, wanted):
    half, step = np.float32(0.5), np.float32(count) / np.float32(wanted)
    places = (np.arange(wanted, dtype=np.float32) + half) * step - half
    first, second = np.floor(places), np.minimum(np.ceil(places), count - 1)
    return np.maximum(first, 0).astype(int), second.astype(int), places - first
"""


def image_function(size: tuple[int, int], color: Literal["rgb", "grayscale"]) -> str:
    """Python with the function ``image(path)``, which takes an open file, too.

    Args:
        size: Height and width of what it gives, in pixels.
        color: Whether that has three channels or one.
    """
    return Template(_IMAGE).substitute(
        mode=repr("RGB" if color == "rgb" else "L"),
        channels=3 if color == "rgb" else 1,
        side=max(size),
        height=size[0],
        width=size[1],
    )
