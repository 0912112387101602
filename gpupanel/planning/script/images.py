"""How a script makes pixels of an image, as ``trainer/datasets/images/pixels.py`` does."""

from string import Template
from typing import Literal

from gpupanel.planning.script.sections import joined

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
$deep
        elif image.has_transparency_data:
            white = Image.new("RGBA", image.size, "white")
            shown = Image.alpha_composite(white, image.convert("RGBA"))
        shown = shown.convert($mode)$dark
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
_UPPER_BITS = """
        if image.mode.startswith("I;16") or (image.mode == "I" and image.format in ("PNG", "PPM")):
            shown = Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))
        elif image.mode in ("I", "F"):
            raise SystemExit(f"{path} has 32 bits a pixel: which of them is white?")
"""
_TO_WHITE = """
        if image.mode[0] in "IF":  # more than 8 bits a value
            shown = Image.fromarray(levels(np.asarray(image, np.float64)))
"""
_8_BITS_TO_WHITE = """
        if image.mode[0] not in "IF":
            shown = shown.point(levels(np.arange(256.0)).tolist() * $channels)
"""
_LEVELS = """
def levels(values):
    return np.rint(np.clip(np.nan_to_num(values), 0, $white) * (255 / $white)).astype(np.uint8)
"""


def image_function(
    size: tuple[int, int], color: Literal["rgb", "grayscale"], white: int | None = None
) -> str:
    """Python with the function ``image(path)``, which takes an open file, too.

    Args:
        size: Height and width of what it gives, in pixels.
        color: Whether that has three channels or one.
        white: The value of the files that is white; ``None``: the greatest of 8 or 16 bits.
    """
    channels = 3 if color == "rgb" else 1
    dark = _8_BITS_TO_WHITE if white is not None and white < 255 else ""
    image = Template(_IMAGE).substitute(
        deep=(_UPPER_BITS if white is None else _TO_WHITE).strip("\n"),
        dark=Template(dark).substitute(channels=channels).rstrip("\n"),
        mode=repr("RGB" if color == "rgb" else "L"),
        channels=channels,
        side=max(size),
        height=size[0],
        width=size[1],
    )
    return image if white is None else joined(image, Template(_LEVELS).substitute(white=white))
