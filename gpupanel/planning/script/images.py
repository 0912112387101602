"""How a script makes pixels of an image: by what training does it with."""

from string import Template
from typing import Literal

from gpupanel.planning.script.parts import part
from gpupanel.planning.script.sections import joined

_IMAGE = '''
from PIL import Image, features

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
    """The pixels of a file; of several frames the first."""
    with Image.open(path, formats=FORMATS) as opened:
        try:
            return image_pixels(opened, $size, $channels, white=$white)
        except UnknownRangeError as error:
            raise SystemExit(f"{path}: {error}. Which of them is white?")
'''


def image_function(
    size: tuple[int, int], color: Literal["rgb", "grayscale"], white: int | None = None
) -> str:
    """Python with the function ``image(path)``, which takes an open file, too.

    Args:
        size: Height and width of what it gives, in pixels.
        color: Whether that has three channels or one.
        white: The value of the files that is white; ``None``: the greatest of 8 or 16 bits.
    """
    image = Template(_IMAGE).substitute(size=size, channels=3 if color == "rgb" else 1, white=white)
    return joined(part("image_pixels"), image)
